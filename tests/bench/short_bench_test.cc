// SPDX-License-Identifier: Apache-2.0
// What `make bench` runs, for seconds: each comparison is there and its ratio is a number. What the ratios are is for
// results/ to tell.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/bench/child_program.h"
#include "tests/folders.h"

namespace icepath::bench {
namespace {

namespace fs = std::filesystem;

class ShortBench : public ::testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
	void TearDown() override { fs::remove(file_); }

	nlohmann::json result_of(const std::string &program, std::vector<std::string> options)
	{
		constexpr int kMostMs = 270'000; // which ends what hangs before ctest does
		options.insert(options.begin(), {ICEPATH_BIN "/as_installed", std::string(ICEPATH_BIN "/") + program, "--short",
										 "--json", file_});
		const Ended ended = run_to_end(options, {}, kMostMs);
		EXPECT_EQ(ended.code, 0) << ended.output;
		std::ifstream file(file_);
		return nlohmann::json::parse(file, nullptr, false);
	}

	const std::string file_ = ::testing::TempDir() + "icepath-short-bench-" + std::to_string(getpid()) + ".json";
};

void expect_time_ratio(const nlohmann::json &entry)
{
	ASSERT_TRUE(entry.is_object() && entry.contains("ratio")) << entry;
	ASSERT_TRUE(entry["ratio"].is_number()) << entry; // NaN and infinity become null
	EXPECT_GT(entry["ratio"].get<double>(), 0) << entry;
}

TEST_F(ShortBench, ComparesTheCaptureWithEachTracer)
{
	const nlohmann::json json = result_of("bench-capture-cost", {"--scripts", test::in_source("tools")});
	ASSERT_TRUE(json.is_object());
	expect_time_ratio(json["ratio_to_bare"]["icepath"]);
	EXPECT_GT(json["floor"]["floor_ns_per_round_trip"].get<double>(), 0);
	for (const char *rival :
		 {"bpftrace, histograms", "bpftrace, histograms of wakes", "bpftrace, printing",
		  "bpftrace, printing, larger buffer", "perf record -p", "perf record -C", "perf record -C, larger buffers",
		  "perf sched record", "perf trace -s", "trace-cmd record", "tracefs instance"}) {
		SCOPED_TRACE(rival);
		const nlohmann::json &told = json["rivals"].value(rival, nlohmann::json());
		ASSERT_TRUE(told.is_object());
		EXPECT_FALSE(told.value("records", "").empty());
		if (std::string_view(rival) != "tracefs instance") { // which is no program
			EXPECT_FALSE(told.value("command", "").empty());
			EXPECT_FALSE(told.value("version", "").empty());
		}
		// Debian 12's trace-cmd doesn't record under lockdown: it wants to write options/function-trace first.
		if (std::string_view(rival) == "trace-cmd record" && told.contains("cannot_run")) {
			EXPECT_FALSE(told.value("cannot_run", "").empty());
			continue;
		}
		EXPECT_EQ(told.value("cannot_run", ""), "");
		expect_time_ratio(json["ratio_to_bare"].value(rival, nlohmann::json()));
		EXPECT_TRUE(json["icepath_adds_of_what_is_added_by"].contains(rival));
	}
	EXPECT_FALSE(fs::exists("/sys/kernel/tracing/instances/icepath-bench"));
}

TEST_F(ShortBench, ComparesTheTransportsWithEachTool)
{
	const bool can_be_kept_awake = access("/dev/cpu_dma_latency", W_OK) == 0;
	const nlohmann::json json =
		result_of("bench-transports",
				  can_be_kept_awake ? std::vector<std::string>{} : std::vector<std::string>{"--may-halt-only"});
	ASSERT_TRUE(json.is_object());
	std::multiset<std::string> rows;
	for (const nlohmann::json &row : json["comparisons"]) {
		SCOPED_TRACE(row.dump());
		expect_time_ratio(row);
		rows.insert(row.value("target", "") + ", " + row.value("rival", ""));
	}
	// --short leaves one target of those that come twice.
	const size_t times = can_be_kept_awake ? 2 : 1;
	for (const char *row : {"uds-stream, fio", "uds-stream, send and recv"})
		EXPECT_EQ(rows.count(row), times) << row;
	for (const char *row : {"tcp, sockperf", "udp, sockperf"})
		EXPECT_EQ(rows.count(row), 1u) << row;
	for (const char *row : {"shm-ring, line", "shm-ring, line, stamped around", "shm-ring, line, stamped alike",
							"shm-ring, line and message, stamped alike"})
		EXPECT_EQ(rows.count(row), 1u) << row;
}

TEST_F(ShortBench, ComparesMiddlewareWithItsOwnTool)
{
	const bool can_be_kept_awake = access("/dev/cpu_dma_latency", W_OK) == 0;
	const nlohmann::json json = result_of(
		"bench-middleware", can_be_kept_awake ? std::vector<std::string>{} : std::vector<std::string>{"--may-halt"});
	ASSERT_TRUE(json.is_object());
	std::multiset<std::string> rows;
	for (const nlohmann::json &row : json["comparisons"]) {
		SCOPED_TRACE(row.dump());
		expect_time_ratio(row);
		rows.insert(row.value("target", "") + ", " + row.value("wait", "") + ", " + row.value("rival", ""));
	}
	for (const char *row : {"cyclonedds/udp, epoll, ddsperf", "cyclonedds/udp, callback, ddsperf"})
		EXPECT_EQ(rows.count(row), 1u) << row;
}

void write_script(const fs::path &path, const std::string &text)
{
	std::ofstream(path) << "#!/bin/sh\n" << text;
	fs::permissions(path, fs::perms::owner_all);
}

// Scripts stand for the programs: they tell what these would, in a folder that lies where their space has another.
TEST_F(ShortBench, ComparesMiddlewareWithBenchmarksThatSomebodyHasBuilt)
{
	const fs::path folder = ::testing::TempDir() + "icepath-own-benchmarks-" + std::to_string(getpid());
	fs::create_directory(folder);
	write_script(folder / "iceperf-bench-follower", "exec sleep 60\n");
	write_script(folder / "iceperf-bench-leader", "echo '#### Measurement Result ####'\n"
												  "echo '20000 round trips for each payload.'\n"
												  "echo '| Payload Size [kB] | Average Latency [µs] |'\n"
												  "echo '|                 1 |                  2.4 |'\n");
	write_script(folder / "LatencyTest",
				 "[ $1 = publisher ] || exit 0\n"
				 "for word; do case $word in --file=*) sizes=$(cat ${word#--file=}) ;; esac; done\n"
				 "[ \"$sizes\" = '64;' ] || exit 1\n"
				 "echo 'Printing round-trip times in us, statistics for 20000 samples'\n"
				 "echo '   64,20000,8.1,30.2,18.2,29.1,34.9,51.4,310.6,402.1 '\n");
	write_script(folder / "z_pong", "exec sleep 60\n");
	write_script(folder / "z_ping",
				 "for word; do case $word in --no-express) us=90 ;; esac; done\n"
				 "[ $word = 64 ] || exit 1\n"
				 "for seq in 0 1 2; do echo \"64 bytes: seq=$seq rtt=${us:-80}µs lat=40µs\"; done\n");
	std::map<std::string, double> told = {
		{"iceoryx spin", 4800}, {"fastdds/udp callback", 58200}, {"fastdds/shm callback", 58200}};
	std::string libraries = "iceoryx,fastdds";
	if (fs::exists(ICEPATH_LIB "/icepath-zenoh.so")) { // which cargo builds on demand
		libraries += ",zenoh";
		told.insert({{"zenoh/tcp callback", 90500},
					 {"zenoh/tcp block", 90500},
					 {"zenoh/tcp-express callback", 80500},
					 {"zenoh/tcp-express block", 80500}});
	}
	std::vector<std::string> options = {
		"--only", libraries, "--iceperf", folder, "--latency-test", folder / "LatencyTest", "--zenoh-examples", folder};
	if (access("/dev/cpu_dma_latency", W_OK) != 0)
		options.emplace_back("--may-halt");
	const nlohmann::json json = result_of("bench-middleware", options);
	fs::remove_all(folder);
	ASSERT_TRUE(json.is_object());
	std::map<std::string, double> rivals;
	for (const nlohmann::json &row : json["comparisons"]) {
		SCOPED_TRACE(row.dump());
		expect_time_ratio(row);
		rivals[row.value("target", "") + " " + row.value("wait", "")] = row.value("rival_round_trip_ns", 0.0);
	}
	EXPECT_EQ(rivals, told);
}

} // namespace
} // namespace icepath::bench
