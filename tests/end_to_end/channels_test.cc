// SPDX-License-Identifier: Apache-2.0
// Cells of more than two flows or sides, over every capable transport: requests with several responses; fanout, where
// all receivers get each message, each with its own known path, and idle channels beside it; fanin, where one receiver
// takes from several senders.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "icepath/plugin.h"
#include "profiler/model/cell_title.h"
#include "tests/end_to_end/command.h"
#include "tests/end_to_end/resolved_run.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr size_t kReceivers = 3, kSenders = 3;

// Over all transports together, and none is without. Once in seven runs, io-uring/tcp had 34 of 1842 deliveries of a
// fanout with contradictory times, on a disturbed machine; the cause is unknown.
struct WholePaths {
	double probed = 0, complete = 0;

	void add(const Json &messages)
	{
		probed += messages["probed"].get<double>();
		complete += messages["complete"].get<double>();
		EXPECT_GE(messages["complete"].get<double>(), 0.95 * messages["probed"].get<double>()) << messages.dump();
	}
	void expect_almost_all() const { EXPECT_GE(complete, 0.999 * probed); }
};

// Whether an event marks each instant of the path.
bool is_known(const path::Path &path)
{
	return std::ranges::none_of(
		path.segments, [](const path::Segment &segment) { return segment.provenance() == path::Provenance::Inferred; });
}

class Channels : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}

	// Checks every cell of a run over all transports: what holds for any pattern, and what `look` checks. `look_at_run`
	// gets the run directory.
	static void expect_of_each(const std::vector<std::string> &options, const std::function<void(const Json &)> &look,
							   const std::function<void(const std::filesystem::path &)> &look_at_run = {})
	{
		const Folder folder;
		std::vector<std::string> command = {
			icepath_program(), "run", "-t", kAllByTwoThreads, "-s", "64", "-d", "9", "-o", "out"};
		command.insert(command.end(), options.begin(), options.end());
		const Outcome outcome = run(command, folder.path(), 120s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		const Json json = read_json(folder.path() / "out/run.json");
		ASSERT_FALSE(json["cells"].empty());
		WholePaths paths;
		for (const Json &cell : json["cells"]) {
			SCOPED_TRACE(cell["target"].get<std::string>() + " " + cell["wait"].get<std::string>());
			const Json &messages = cell["messages"];
			EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
			EXPECT_EQ(messages["duplicate"], 0);
			EXPECT_EQ(messages["bad_payload"], 0);
			EXPECT_GT(messages["probed"], 0);
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
			EXPECT_EQ(cell["capture"]["dropped"], 0);
			paths.add(messages);
			look(cell);
		}
		paths.expect_almost_all();
		if (look_at_run)
			look_at_run(folder.path() / "out");
	}
};

using RequestResponse = Channels;
using FanOut = Channels;
using FanIn = Channels;

TEST_F(RequestResponse, HasEveryResponseOverEveryTransport)
{
	expect_of_each({"--patterns", "reqrep", "--responses", "3"}, [](const Json &cell) {
		EXPECT_EQ(cell["factors"]["responses"], 3);
		EXPECT_EQ(cell["back_ns"]["count"], 3 * cell["forward_ns"]["count"].get<uint64_t>());
		EXPECT_EQ(cell["round_trip_ns"]["count"], cell["forward_ns"]["count"]);
		EXPECT_EQ(cell["first_response_ns"]["count"], cell["forward_ns"]["count"]);
		EXPECT_LE(cell["first_response_ns"]["p50"], cell["round_trip_ns"]["p50"]);
	});
}

TEST_F(FanOut, ReachesEveryReceiverOverEveryTransport)
{
	expect_of_each({"--patterns", "fanout", "--receivers", std::to_string(kReceivers), "--idle", "2"},
				   [](const Json &cell) {
					   EXPECT_EQ(cell["cpus"]["receivers"].size(), kReceivers);
					   EXPECT_EQ(cell["factors"]["idle_channels"], 2);
					   EXPECT_EQ(cell["messages"]["sent"].get<uint64_t>() % kReceivers, 0u);
					   ASSERT_EQ(cell["receivers_ns"].size(), kReceivers);
					   for (const Json &receiver : cell["receivers_ns"]) {
						   EXPECT_EQ(receiver["count"], cell["to_all_ns"]["count"]);
						   EXPECT_GE(cell["to_all_ns"]["p50"], receiver["p50"]) << "no receiver has it after the last";
					   }
				   });
}

// A socket announces each message. An awake receiver may take one before that, if its sender lost the CPU: where the
// machine is disturbed so are many in a row, all in one cell.
void expect_known_ways_through_sockets(const std::filesystem::path &run)
{
	const ResolvedRun resolved = read_resolved(run);
	std::map<uint32_t, std::pair<double, double>> known; // by cell: of all paths
	for (const resolve::ResolvedBlock &block : resolved.blocks)
		for (const path::Path &path : block.paths) {
			known[block.block.cell].first += is_known(path);
			known[block.block.cell].second++;
		}
	size_t cells = 0;
	double known_of_all = 0, all = 0;
	for (const auto &[number, counts] : known) {
		const model::Cell &cell = resolved.head.cells[number];
		if (!cell.mechanisms.has(model::Mechanism::Socket))
			continue;
		cells++;
		EXPECT_GE(counts.first, 0.5 * counts.second) << model::title(cell);
		known_of_all += counts.first;
		all += counts.second;
	}
	EXPECT_GE(known_of_all, 0.9 * all);
	EXPECT_GE(cells, 5u) << "UNIX sockets of three kinds, TCP, UDP";
}

// Most transports that can sleep in the call have one queue for all senders, the others a connection for each.
TEST_F(FanIn, TakesFromEverySenderOverEveryTransportThatCan)
{
	std::set<std::string> targets;
	expect_of_each(
		{"--patterns", "fanin", "--senders", std::to_string(kSenders), "-w", "block,epoll", "--idle", "1"},
		[&](const Json &cell) {
			targets.insert(cell["target"]);
			EXPECT_EQ(cell["cpus"]["senders"].size(), kSenders);
			EXPECT_EQ(cell["cpus"]["receivers"].size(), 1u);
			EXPECT_EQ(cell["factors"]["idle_channels"], 1);
			ASSERT_EQ(cell["senders_ns"].size(), kSenders);
			uint64_t count = 0;
			for (const Json &sender : cell["senders_ns"]) {
				EXPECT_GT(sender["count"], 0);
				count += sender["count"].get<uint64_t>();
			}
			EXPECT_EQ(cell["latency_ns"]["count"], count);
		},
		expect_known_ways_through_sockets);
	for (const char *target :
		 {"uds-stream", "uds-seqpacket", "uds-dgram", "tcp", "udp", "mqueue", "sysv-mq", "pipe", "fifo", "shm-mpmc"})
		EXPECT_TRUE(targets.contains(target)) << target;
}

} // namespace
} // namespace icepath::end_to_end
