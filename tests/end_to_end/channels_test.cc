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
#include "tests/end_to_end/measured_again.h"
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

	// Checks every cell of a run over all transports: what holds for any pattern, and what `look` checks.
	// `look_at_runs` gets the folder of the run directories.
	static void expect_of_each(const std::vector<std::string> &options, const std::function<void(const Json &)> &look,
							   const std::function<void(const std::filesystem::path &)> &look_at_runs = {})
	{
		const Folder folder;
		constexpr int kSeconds = 9;
		std::vector<std::string> all = {"-s", "64"};
		all.insert(all.end(), options.begin(), options.end());
		const Json cells = cells_with_enough(kAllByTwoThreads, kSeconds, all, folder.path());
		ASSERT_FALSE(cells.empty());
		WholePaths paths;
		for (const Json &cell : cells) {
			SCOPED_TRACE(cell["target"].get<std::string>() + " " + cell["wait"].get<std::string>());
			const Json &messages = cell["messages"];
			EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
			EXPECT_EQ(messages["duplicate"], 0);
			EXPECT_EQ(messages["bad_payload"], 0);
			ASSERT_GT(messages["probed"], 0);
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
			EXPECT_EQ(cell["capture"]["dropped"], 0);
			paths.add(messages);
			look(cell);
		}
		paths.expect_almost_all();
		if (look_at_runs)
			look_at_runs(folder.path());
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

// Whether a socket had announced a message before its receiver took it: the receiver asked after the sender's call had
// come back. A receiver that asked before may be faster than the announcement, if the sender lost the CPU before that,
// also one that another sender's message woke. Where the machine is disturbed, that happens to many in a row, all in
// one cell: nothing is wrong with them.
class Announcements {
public:
	explicit Announcements(const model::Block &block)
	{
		for (const model::BlockFlow &flow : block.flows) {
			for (const model::SendStamp &send : flow.sends)
				returned_ns_[send.send_ns] = send.return_ns;
			for (const model::RecvStamp &recv : flow.recvs)
				asked_ns_[recv.recv_ns] = recv.take_call_ns;
		}
	}
	bool preceded(const path::Path &path) const
	{
		const auto returned = returned_ns_.find(path.send_ns), asked = asked_ns_.find(path.recv_ns);
		return returned != returned_ns_.end() && asked != asked_ns_.end() && returned->second < asked->second;
	}

private:
	std::map<uint64_t, uint64_t> returned_ns_, asked_ns_; // by send and by recv
};

struct Ways {
	size_t all = 0, known = 0, announced = 0, announced_and_known = 0;
};

// By cell, those through sockets, of all runs in the folder.
std::map<std::string, Ways> ways_through_sockets(const std::filesystem::path &runs)
{
	std::map<std::string, Ways> cells; // by title
	for (const auto &run : std::filesystem::directory_iterator(runs)) {
		const ResolvedRun resolved = read_resolved(run.path());
		for (const resolve::ResolvedBlock &block : resolved.blocks) {
			const model::Cell &cell = resolved.head.cells[block.block.cell];
			if (!cell.mechanisms.has(model::Mechanism::Socket))
				continue;
			const Announcements announcements(block.block);
			Ways &ways = cells[model::title(cell)];
			for (const path::Path &path : block.paths) {
				if (!path.complete())
					continue;
				const bool known = is_known(path), announced = announcements.preceded(path);
				ways.all++;
				ways.known += known;
				ways.announced += announced;
				ways.announced_and_known += announced && known;
			}
		}
	}
	return cells;
}

// A path that rests on an announcement is known at each instant, whatever disturbs the machine. Where a kernel runs no
// program on top of some task, a cell may lack those of some milliseconds, which can be a third of the announced ones
// of a cell that has few. So all cells together have a strict bound, and each a wide one. If announcements weren't
// matched with messages, no path would be known.
void expect_known_ways_through_sockets(const std::filesystem::path &runs)
{
	const auto cells = ways_through_sockets(runs);
	Ways sum;
	for (const auto &[title, ways] : cells) {
		SCOPED_TRACE(title + ": " + std::to_string(ways.known) + " known of " + std::to_string(ways.all) + ", " +
					 std::to_string(ways.announced_and_known) + " of " + std::to_string(ways.announced) +
					 " that were announced before");
		EXPECT_GE(2 * ways.known, ways.all);
		sum.announced += ways.announced;
		sum.announced_and_known += ways.announced_and_known;
	}
	EXPECT_GT(sum.announced, 100u);
	EXPECT_GE(100 * sum.announced_and_known, 95 * sum.announced) << sum.announced_and_known << " of " << sum.announced;
	EXPECT_GE(cells.size(), 5u) << "UNIX sockets of three kinds, TCP, UDP";
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
