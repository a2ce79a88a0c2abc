// SPDX-License-Identifier: Apache-2.0
// Causes that are known, since a plug-in of the tests makes them, are told as what they are: in tails, in differences
// and in notices of real runs.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ebpf/records.h"
#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"
#include "tests/end_to_end/plugin_folder.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class Causes : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
			GTEST_SKIP() << "needs two CPUs";
	}

	Json measured(std::vector<std::string> options, const std::string &out = "out")
	{
		std::vector<std::string> command = {icepath_program(), "run", "-q", "-o", out};
		command.insert(command.end(), options.begin(), options.end());
		const Outcome outcome = run(command, folder.path(), 120s, plugin.environment());
		EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 4) << outcome.err;
		return read_json(folder.path() / out / "run.json");
	}

	Json explained(std::vector<std::string> options)
	{
		std::vector<std::string> command = {icepath_program(), "explain", "out", "--json"};
		command.insert(command.end(), options.begin(), options.end());
		const Outcome told = run(command, folder.path());
		EXPECT_TRUE(told.exit_code == 0 || told.exit_code == 4) << told.err;
		return Json::parse(told.out);
	}

	const Folder folder;
	const PluginFolder plugin{test::in_build("tests/end_to_end/icepath-causes.so")};
};

// The part of the causes that are told whose origin it is, in nanoseconds.
double ns_of(const Json &causes, const std::string &origin)
{
	double ns = 0;
	for (const Json &cause : causes)
		if (cause.at("origin") == origin && (cause.at("told") || cause.at("kind_told")))
			ns += cause.at("growth_ns").get<double>();
	return ns;
}

std::set<std::string> remedies(const Json &next)
{
	std::set<std::string> ids;
	for (const Json &one : next)
		ids.insert(one.at("cause").get<std::string>());
	return ids;
}

const Json *finding(const Json &run, const std::string &id, const std::string &target)
{
	for (const Json &one : run.at("findings"))
		if (one.at("id") == id && one.at("cell").get<std::string>().starts_with(target))
			return &one;
	return nullptr;
}

TEST_F(Causes, OfATailIsItsReceiversOwnSleep)
{
	measured({"-t", "causes/sleeps-at-times", "-s", "64", "--patterns", "pingpong", "-d", "12"});
	const Json tail = explained({"--tail", "98"}).at("cells").at(0);
	ASSERT_NE(tail.at("verdict"), "too few") << tail.dump(1);
	EXPECT_GT(ns_of(tail.at("causes"), "own_timer"), 1e6) << tail.dump(1);
	EXPECT_EQ(ns_of(tail.at("causes"), "tick"), 0) << tail.dump(1);
	EXPECT_TRUE(remedies(tail.at("next")).contains("own_timer")) << tail.dump(1);
	EXPECT_FALSE(remedies(tail.at("next")).contains("tick")) << tail.dump(1);
}

TEST_F(Causes, OfADifferenceIsItsReceiversOwnSleep)
{
	measured({"-t", "causes/sleeps-always,causes/quiet", "-s", "64", "--patterns", "pingpong", "-d", "12"});
	const Json told = explained({"--cell", "causes/sleeps-always", "--against", "causes/quiet"});
	ASSERT_TRUE(told.at("refusal").is_null()) << told.dump(1);
	EXPECT_GT(ns_of(told.at("causes"), "own_timer"), 150e3) << told.dump(1);
	EXPECT_EQ(ns_of(told.at("causes"), "tick"), 0) << told.dump(1);
	EXPECT_TRUE(remedies(told.at("next")).contains("own_timer")) << told.dump(1);
}

// Over loopback the kernel delivers in the sender's own call: it is the message's own work, also of its fragments.
TEST_F(Causes, ItsOwnPacketsAreNobodyElses)
{
	for (const std::string target : {"udp", "tcp"}) { // by itself: probes are attached for the targets of a run
		const Json run = measured({"-t", target, "-s", "1M", "--patterns", "pingpong", "-d", "6"}, target);
		const Json &cell = run.at("cells").at(0);
		double own_ns = 0, others_ns = 0; // of a message
		for (const Json &layer : cell.at("layers"))
			for (const Json &part : layer.at("parts"))
				if (part.at("part") == "softirq")
					own_ns += part.at("mean_ns").get<double>();
		for (const Json &culprit : cell.at("culprits"))
			if (culprit.at("name") == "NET_RX softirq" && culprit.at("layer") == "interrupt")
				others_ns += culprit.at("total_ns").get<double>() / cell.at("messages").at("complete").get<double>();
		EXPECT_GT(own_ns, 1000) << cell.at("layers").dump(1);
		EXPECT_LT(others_ns, 0.2 * own_ns) << cell.at("culprits").dump(1);
	}
}

// Of a perf event that counts time on a CPU and wakes nobody: it expires in the hard interrupt in which the tick does.
class ForeignTimers {
public:
	ForeignTimers()
	{
		perf_event_attr attributes{};
		attributes.size = sizeof(attributes);
		attributes.type = PERF_TYPE_SOFTWARE;
		attributes.config = PERF_COUNT_SW_CPU_CLOCK;
		attributes.sample_period = 400'000; // ns
		for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu)
			events_.push_back(
				static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
	}
	~ForeignTimers()
	{
		for (const int event : events_)
			close(event);
	}
	bool are_there() const
	{
		return std::ranges::all_of(events_, [](int event) { return event >= 0; });
	}

private:
	std::vector<int> events_;
};

// Of the timer's hard interrupts in a run's blocks with probes: by the timer that took longest in each.
std::map<uint8_t, uint64_t> timers_in(const std::filesystem::path &run)
{
	rundir::Reader reader(run.string());
	std::map<uint8_t, uint64_t> timers;
	while (const auto captured = reader.next())
		for (const model::SlotCapture &slot : captured->window->slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_INTERRUPT && record.interrupt.kind == ICEPATH_INTERRUPT_TIMER)
					timers[record.interrupt.timer]++;
	return timers;
}

TEST_F(Causes, AForeignTimerThatWakesNobodyIsNotTheTick)
{
	const std::vector<std::string> options = {"-t", "causes/quiet", "-s", "64", "--patterns", "pingpong", "-d", "5"};
	measured(options, "quiet");
	std::map<uint8_t, uint64_t> quiet = timers_in(folder.path() / "quiet");
	EXPECT_GT(quiet[ICEPATH_TIMER_TICK], 10u);
	EXPECT_EQ(quiet[ICEPATH_TIMER_PERF], 0u);
	const ForeignTimers timers;
	ASSERT_TRUE(timers.are_there()) << std::strerror(errno);
	measured(options);
	std::map<uint8_t, uint64_t> with = timers_in(folder.path() / "out");
	EXPECT_GT(with[ICEPATH_TIMER_TICK], 10u);
	EXPECT_GT(with[ICEPATH_TIMER_PERF], with[ICEPATH_TIMER_TICK]) << "every 400 µs, beside the tick's 1 to 10 ms";
}

TEST_F(Causes, MessagesThatAreKeptUntilTheNextAreTold)
{
	const Json run =
		measured({"-t", "causes/keeps,causes/quiet", "-s", "64", "--patterns", "oneway", "--rate", "500", "-d", "10"});
	const Json *told = finding(run, "came_with_next", "causes/keeps");
	ASSERT_TRUE(told) << run.at("findings").dump(1);
	EXPECT_GT(told->at("value").get<double>() * 40, told->at("evidence").at("of").get<double>()) << "one in twenty";
	EXPECT_FALSE(finding(run, "came_with_next", "causes/quiet")) << run.at("findings").dump(1);
}

// Other tasks would make stalls in blocks without drops, and too few messages for drops: workers go before them. At
// least three blocks with a drop are needed; some twenty of fifty have one.
TEST_F(Causes, AStallAfterADropSaysSo)
{
	const Json run = measured(
		{"-t", "causes/drops,causes/quiet", "-s", "64", "--patterns", "pingpong", "--sched", "fifo:7", "-d", "14"});
	const Json *told = finding(run, "slow_beside_drops", "causes/drops");
	ASSERT_TRUE(told) << run.at("findings").dump(1);
	EXPECT_GT(told->at("evidence").at("packets"), 0);
	EXPECT_FALSE(finding(run, "slow_beside_drops", "causes/quiet")) << run.at("findings").dump(1);
}

} // namespace
} // namespace icepath::end_to_end
