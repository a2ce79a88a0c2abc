// SPDX-License-Identifier: Apache-2.0
// `sudo icepath run` without options: its budget, what it covers, and that its figures add up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>

#include "tests/end_to_end/command.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
const std::set<std::string> kTransports = {"uds-stream", "uds-seqpacket", "uds-dgram", "mqueue",
										   "tcp",        "udp",           "pipe",      "shm-ring"};
// Other patterns than pingpong.
const std::set<std::string> kOfEachKind = {"uds-stream", "tcp", "shm-ring"};

double incomplete(const nlohmann::json &messages)
{
	double all = 0;
	for (const auto &[reason, count] : messages["incomplete"].items())
		all += count.get<double>();
	return all;
}

// One run for all tests here, because it takes a minute.
class DefaultPlan : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		if (geteuid() != 0)
			return;
		folder = new Folder;
		outcome = new Outcome(run({icepath_program(), "run", "-o", "out"}, folder->path(), 120s));
		if (outcome->exit_code == 0)
			json = new nlohmann::json(read_json(folder->path() / "out/run.json"));
	}
	static void TearDownTestSuite()
	{
		delete folder;
		delete outcome;
		delete json;
	}
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		ASSERT_EQ(outcome->exit_code, 0) << outcome->err;
	}
	static inline Folder *folder = nullptr;
	static inline Outcome *outcome = nullptr;
	static inline nlohmann::json *json = nullptr;
};

// Asserted although it is a time: the budget is a promise to the user, not a measurement.
TEST_F(DefaultPlan, KeepsItsBudget) { EXPECT_LE(outcome->seconds, 60 * 1.2); }

TEST_F(DefaultPlan, CoversEveryTransportAtTwoSizesAndOneOfEachKindOneWayAndSparse)
{
	std::map<std::string, std::map<std::string, std::set<uint64_t>>> sizes;
	for (const auto &cell : (*json)["cells"])
		sizes[cell["pattern"]][cell["target"]].insert(cell["payload_bytes"].get<uint64_t>());
	EXPECT_EQ(sizes.size(), 3u);
	for (const std::string &transport : kTransports) {
		EXPECT_EQ(sizes["pingpong"][transport].size(), 2u) << transport;
		for (const char *pattern : {"oneway", "sparse"})
			EXPECT_EQ(sizes[pattern][transport].size(), kOfEachKind.contains(transport) ? 1u : 0u)
				<< pattern << " " << transport;
	}
}

TEST_F(DefaultPlan, AlmostEveryProbedDeliveryIsCompleteAndNothingWasDropped)
{
	for (const auto &cell : (*json)["cells"]) {
		const auto &messages = cell["messages"];
		const double probed = messages["probed"], complete = messages["complete"];
		// Sparse cells have half of the minute, and the rate limits oneway's messages in its part of the rest.
		const std::string pattern = cell["pattern"];
		EXPECT_GT(probed, pattern == "sparse" ? 30 : pattern == "oneway" ? 500 : 1000) << cell["target"];
		if (cell["pattern"] == "pingpong") {
			EXPECT_GE(complete, 0.999 * probed) << cell["target"] << " " << messages.dump();
		}
		EXPECT_EQ(complete + incomplete(messages), probed) << cell["target"];
		EXPECT_TRUE(messages["incomplete"].contains("inverted_time"));
		EXPECT_EQ(cell["capture"]["dropped"], 0) << cell["target"];
	}
}

TEST_F(DefaultPlan, LayersAddUpExactly)
{
	for (const auto &cell : (*json)["cells"]) {
		EXPECT_EQ(cell["layers_sum_error_ns"], 0) << cell["target"];
		double share = 0, mean_ns = 0;
		for (const auto &layer : cell["layers"]) {
			share += layer["share"].get<double>();
			mean_ns += layer["mean_ns"].get<double>();
		}
		EXPECT_NEAR(share, 1, 1e-6) << cell["target"];
		EXPECT_NEAR(mean_ns, cell["layers_mean_ns"].get<double>(), 0.001) << cell["target"];
		if (cell["messages"]["complete"] == cell["messages"]["probed"]) {
			EXPECT_NEAR(mean_ns, cell["latency_probed_ns"]["mean"].get<double>(), 0.001) << cell["target"];
		}
	}
}

TEST_F(DefaultPlan, RunJsonIsAsItsSchemaSays)
{
	const Outcome checked =
		run({"python3", test::in_source("tests/report/run_json_schema.py"), "out/run.json"}, folder->path());
	EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST_F(DefaultPlan, LayersThatATransportCannotHaveAreAbsent)
{
	for (const auto &cell : (*json)["cells"]) {
		const std::string target = cell["target"];
		std::set<std::string> layers;
		for (const auto &layer : cell["layers"])
			layers.insert(layer["layer"]);
		EXPECT_EQ(layers.count("network") > 0, target == "tcp" || target.starts_with("udp")) << target;
		if (target != "null" && cell["pattern"] == "pingpong") {
			EXPECT_TRUE(layers.count("wakeup") && layers.count("runqueue")) << target << ": a blocking receiver sleeps";
		}
	}
}

TEST_F(DefaultPlan, TheObserverEffectStandsInEveryCell)
{
	for (const auto &cell : (*json)["cells"]) {
		EXPECT_TRUE(cell["observer_effect"]["p50_added_ns"].is_number()) << cell["target"];
		EXPECT_EQ(cell["observer_effect"]["p50_added_ci95_ns"].size(), 2u);
	}
}

TEST_F(DefaultPlan, ReportPrintsTheSameAgainWithoutRoot)
{
	const std::vector<std::string> report{
		"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", icepath_program(), "report", "out"};
	const Outcome others = run(report, folder->path());
	EXPECT_EQ(others.exit_code, 2);
	EXPECT_NE(others.err.find("out/capture.icp can't be read: Permission denied"), std::string::npos) << others.err;
	for (const auto &path : {folder->path() / "out", folder->path() / "out/capture.icp"})
		ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
	const Outcome again = run(report, folder->path());
	ASSERT_EQ(again.exit_code, 0) << again.err;
	EXPECT_EQ(outcome->out.substr(0, again.out.size()), again.out);
}

TEST_F(DefaultPlan, FoldedStacksWeighTheLatencyOnThePath)
{
	const Outcome folded = run({icepath_program(), "flamegraph", "--folded", "out"}, folder->path());
	ASSERT_EQ(folded.exit_code, 0) << folded.err;
	EXPECT_NE(folded.out.find("uds-stream;"), std::string::npos);
	EXPECT_EQ(run({icepath_program(), "flamegraph", "out"}, folder->path()).exit_code, 0);
}

// Every wait, with each usual transport that supports it.
TEST(Waits, AlmostEveryProbedPingPongDeliveryIsComplete)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder out;
	const Outcome measured = run({icepath_program(), "run", "--patterns", "pingpong", "-s", "64", "-w",
								  "block,poll,epoll,spin", "-d", "12", "-o", "out"},
								 out.path(), 80s);
	ASSERT_EQ(measured.exit_code, 0) << measured.err;
	std::map<std::string, size_t> cells; // by wait
	const nlohmann::json report = read_json(out.path() / "out/run.json");
	for (const auto &cell : report["cells"]) {
		const auto &messages = cell["messages"];
		cells[cell["wait"]]++;
		EXPECT_GT(messages["probed"], 1000) << cell["target"];
		EXPECT_GE(messages["complete"].get<double>(), 0.999 * messages["probed"].get<double>())
			<< cell["target"] << " " << messages.dump();
		EXPECT_EQ(cell["capture"]["dropped"], 0);
	}
	EXPECT_GE(cells["block"], 8u);
	EXPECT_GE(cells["poll"], 7u);
	EXPECT_GE(cells["epoll"], 4u);
	EXPECT_GE(cells["spin"], 2u);
}

// As fast as possible, so that queues fill: over a stream, over slots, and over a lossy transport.
TEST(Throughput, IsMeasuredAndBrokenDownToo)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder out;
	const Outcome measured = run(
		{icepath_program(), "run", "--patterns", "throughput", "-t", "uds-stream,shm-ring,udp", "-d", "6", "-o", "out"},
		out.path(), 60s);
	ASSERT_EQ(measured.exit_code, 0) << measured.err;
	const nlohmann::json report = read_json(out.path() / "out/run.json");
	ASSERT_EQ(report["cells"].size(), 3u);
	for (const auto &cell : report["cells"]) {
		const auto &messages = cell["messages"];
		EXPECT_EQ(cell["pattern"], "throughput");
		EXPECT_TRUE(cell["rate_hz"].is_null());
		EXPECT_TRUE(cell["latency_ns"]["p50"].is_number()) << cell["target"];
		EXPECT_EQ(messages["lost"] == 0, messages["sent"] == messages["received"]) << messages.dump();
		EXPECT_EQ(messages["probed"].get<double>(), messages["complete"].get<double>() + incomplete(messages));
		EXPECT_GT(messages["complete"].get<double>(), 0.9 * messages["probed"].get<double>())
			<< cell["target"] << " " << messages.dump();
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
	}
}

} // namespace
} // namespace icepath::end_to_end
