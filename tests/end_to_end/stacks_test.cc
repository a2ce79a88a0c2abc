// SPDX-License-Identifier: Apache-2.0
// A run with --stacks, from its records to what is told of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using Json = nlohmann::json;

class Stacks : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		if (geteuid() != 0)
			return;
		folder = new Folder;
		outcome = run({icepath_program(), "run", "-q", "--stacks", "-t", "tcp", "-s", "64", "--patterns", "pingpong",
					   "-d", "12", "-o", "out"},
					  folder->path(), std::chrono::seconds(120));
	}
	static void TearDownTestSuite()
	{
		delete folder;
		folder = nullptr;
	}
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	}
	static Outcome icepath(std::vector<std::string> arguments)
	{
		arguments.insert(arguments.begin(), icepath_program());
		return run(arguments, folder->path(), std::chrono::seconds(60));
	}

	static Folder *folder;
	static Outcome outcome;
};
Folder *Stacks::folder = nullptr;
Outcome Stacks::outcome;

TEST_F(Stacks, AreInOneRoundOfEightAndHaveNoAddresses)
{
	rundir::Reader reader(folder->path() / "out");
	uint64_t samples = 0, with_stacks = 0, planned = 0;
	while (const auto read = reader.next()) {
		const model::Window &window = *read->window;
		EXPECT_EQ(window.is_sampled(), window.round % 8 == 6) << "round " << window.round;
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_SAMPLE) {
					EXPECT_TRUE(window.is_sampled()) << "round " << window.round;
					EXPECT_EQ(record.sample.user_address, 0u);
					EXPECT_LE(record.sample.stack, window.stacks.size());
					EXPECT_LE(record.sample.planned_ns, record.end_ns);
					samples++;
					with_stacks += record.sample.stack != 0;
					planned += record.sample.planned_ns != 0;
				}
	}
	EXPECT_GT(samples, 100u);
	EXPECT_EQ(with_stacks, samples);
	EXPECT_TRUE(planned == samples || planned == 0) << planned << " of " << samples;
}

TEST_F(Stacks, NameFunctionsOfTheKernelAndOfUserCode)
{
	const Outcome folded = icepath({"flamegraph", "--folded", "out"});
	ASSERT_EQ(folded.exit_code, 0) << folded.err;
	const auto has = [&](const std::string &part) { return folded.out.find(part) != std::string::npos; };
	EXPECT_TRUE(has(";sender.kernel;")) << folded.out;
	EXPECT_TRUE(has(";__sys_sendto;") || has(";ksys_write;") || has(";__sys_sendmsg;")) << folded.out;
	EXPECT_TRUE(has(";tcp_sendmsg;")) << folded.out;
	EXPECT_TRUE(has("icepath-worker!") || has("tcp.so!")) << folded.out;
	EXPECT_FALSE(has("[no stack]")) << folded.out;
}

// What is known of icepath's own program: main() calls the block's loop, which calls the plug-in, which calls libc. A
// thread's first function is libc's or the program's.
TEST_F(Stacks, HaveCallersUpToAThreadsFirstFunction)
{
	rundir::Reader reader(folder->path() / "out");
	uint64_t samples = 0, whole = 0, sending = 0, sent_by_main = 0;
	while (const auto read = reader.next()) {
		const model::Window &window = *read->window;
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records) {
				if (record.type != ICEPATH_RECORD_SAMPLE || record.sample.stack == 0)
					continue;
				std::vector<std::string> names;
				for (const uint32_t function : window.stacks[record.sample.stack - 1])
					names.push_back(window.functions[function]);
				const auto place = [&](const std::string &beginning) {
					return std::ranges::find_if(names, [&](const auto &name) { return name.starts_with(beginning); });
				};
				samples++;
				whole += names[0] == "icepath-worker!_start" || names[0].starts_with("libc.so.6");
				const auto kernel = place("tcp_sendmsg");
				if (kernel == names.end() || place("asm_") < kernel) // not called, but interrupted
					continue;
				sending++;
				const auto main = place("icepath-worker!main"), plug_in = place("icepath-tcp.so!");
				const auto send = place("libc.so.6!send");
				sent_by_main += main < plug_in && plug_in < send && send < kernel;
			}
	}
	EXPECT_GT(sending, 10u);
	EXPECT_GT(whole, samples * 9 / 10) << "of " << samples;
	EXPECT_GT(sent_by_main, sending * 9 / 10) << "of " << sending;
}

// A sampled thread that holds a lock is held up by the sample: if another CPU were sampled then, it would mostly be
// found waiting for that lock.
TEST_F(Stacks, AreTakenAtAnotherTimeOnEachCpu)
{
	rundir::Reader reader(folder->path() / "out");
	size_t windows = 0, apart = 0;
	while (const auto read = reader.next()) {
		const uint64_t period_ns = read->window->sample_period_ns;
		std::map<uint16_t, uint64_t> phases; // by CPU
		for (const model::SlotCapture &slot : read->window->slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_SAMPLE && record.sample.planned_ns != 0)
					phases[record.cpu] = record.sample.planned_ns % period_ns;
		if (phases.size() < 2)
			continue;
		const uint64_t one = phases.begin()->second, other = phases.rbegin()->second;
		const uint64_t between = std::max(one, other) - std::min(one, other);
		++windows;
		apart += std::min(between, period_ns - between) > period_ns / 4;
	}
	if (windows == 0)
		GTEST_SKIP() << "this kernel doesn't tell when a timer was to expire, or all ran on one CPU";
	EXPECT_GT(apart, windows * 3 / 4) << "of " << windows;
}

TEST_F(Stacks, AddUpToTheirLayers)
{
	const Outcome told = icepath({"report", "--json", "out"});
	ASSERT_EQ(told.exit_code, 0) << told.err;
	const Json cell = Json::parse(told.out)["cells"][0];
	std::map<std::string, double> layers;
	for (const Json &layer : cell["layers"])
		layers[layer["layer"]] += layer["mean_ns"].get<double>();
	ASSERT_FALSE(cell["functions"].is_null());
	EXPECT_GT(cell["blocks"]["sampled"], 0);
	bool has_kernel = false;
	for (const Json &layer : cell["functions"]["layers"]) {
		double sum_ns = 0;
		for (const Json &function : layer["functions"])
			sum_ns += function["mean_ns"].get<double>();
		EXPECT_NEAR(sum_ns, layers[layer["layer"]], 0.01 * sum_ns) << layer["layer"];
		has_kernel |= layer["layer"] == "sender.kernel" && layer["functions"].size() > 3;
	}
	EXPECT_TRUE(has_kernel) << cell["functions"].dump(1);
}

TEST_F(Stacks, AreExplained)
{
	const Outcome told = icepath({"explain", "--stacks", "--cell", "tcp", "out"});
	EXPECT_EQ(told.exit_code, 0) << told.err;
	EXPECT_NE(told.out.find("sender.kernel"), std::string::npos) << told.out;
	EXPECT_NE(told.out.find("in blocks with samples"), std::string::npos) << told.out;
}

// Of two processes that answer each other over pipes: each sleeps in its receiving call, until the other's sending call
// wakes it. By UNIX sockets the other's receiving call would mostly wake it before (sock_wfree()).
class SleepStacks : public Stacks {
protected:
	static void SetUpTestSuite()
	{
		if (geteuid() != 0)
			return;
		folder = new Folder;
		outcome = run({icepath_program(), "run", "-q", "--stacks", "-t", "pipe", "-s", "64", "--patterns", "pingpong",
					   "--between", "processes", "-d", "8", "-o", "out"},
					  folder->path(), std::chrono::seconds(120));
	}

	// Its functions of each record of the type.
	static std::vector<std::vector<std::string>> stacks_of(uint8_t type)
	{
		std::vector<std::vector<std::string>> all;
		rundir::Reader reader(folder->path() / "out");
		while (const auto read = reader.next())
			for (const model::SlotCapture &slot : read->window->slots)
				for (const icepath_record &record : slot.records) {
					if (record.type != type)
						continue;
					std::vector<std::string> &names = all.emplace_back();
					if (record.sample.stack != 0)
						for (const uint32_t function : read->window->stacks.at(record.sample.stack - 1))
							names.push_back(read->window->functions.at(function));
				}
		return all;
	}
	// How many have these functions, in this order.
	static size_t with(const std::vector<std::vector<std::string>> &stacks, const std::vector<std::string> &wanted)
	{
		return static_cast<size_t>(std::ranges::count_if(stacks, [&](const std::vector<std::string> &stack) {
			auto at = stack.begin();
			return std::ranges::all_of(wanted, [&](const std::string &name) {
				at = std::find(at, stack.end(), name);
				return at != stack.end();
			});
		}));
	}
};

TEST_F(SleepStacks, AreOfSomePeriodsOfSampledBlocks)
{
	rundir::Reader reader(folder->path() / "out");
	size_t sleeps = 0, stacks = 0, unknown = 0;
	while (const auto read = reader.next()) {
		std::set<std::pair<uint32_t, uint64_t>> began, woken;
		const auto each = [&](const auto &take) {
			for (const model::SlotCapture &slot : read->window->slots)
				std::ranges::for_each(slot.records, take);
		};
		each([&](const icepath_record &record) {
			if (record.type != ICEPATH_RECORD_OFF_CPU || record.off.reason != ICEPATH_OFF_BLOCKED)
				return;
			began.emplace(record.tid, record.off.out_ns);
			woken.emplace(record.tid, record.off.waking_ns);
			sleeps += read->window->is_sampled();
		});
		each([&](const icepath_record &record) {
			const bool slept = record.type == ICEPATH_RECORD_SLEEP_STACK;
			if (!slept && record.type != ICEPATH_RECORD_WAKER_STACK)
				return;
			EXPECT_TRUE(read->window->is_sampled()) << "round " << read->window->round;
			EXPECT_EQ(record.sample.user_address, 0u);
			stacks += slept;
			unknown += !(slept ? began : woken).contains({record.tid, record.end_ns});
		});
	}
	EXPECT_GT(stacks, 50u);
	EXPECT_NEAR(static_cast<double>(stacks), static_cast<double>(sleeps) / 8, static_cast<double>(sleeps) / 24);
	EXPECT_LT(unknown, stacks / 10) << "of periods that a block's end cut off, and of wakings that ended none";
}

TEST_F(SleepStacks, HaveTheReceivingCall)
{
	const auto stacks = stacks_of(ICEPATH_RECORD_SLEEP_STACK);
	EXPECT_GT(with(stacks, {"icepath-worker!main", "vfs_read", "schedule"}), stacks.size() * 9 / 10)
		<< "of " << stacks.size();
	EXPECT_EQ(with(stacks, {"vfs_write", "schedule"}), 0u);
}

TEST_F(SleepStacks, HaveTheSendingCallOfTheWaker)
{
	const auto stacks = stacks_of(ICEPATH_RECORD_WAKER_STACK);
	EXPECT_GT(with(stacks, {"icepath-worker!main", "vfs_write", "try_to_wake_up"}), stacks.size() * 9 / 10)
		<< "of " << stacks.size();
}

TEST_F(SleepStacks, AreFlameGraphs)
{
	const auto folded = [](const char *kind) {
		const Outcome told = icepath({"flamegraph", "--kind", kind, "--folded", "out"});
		EXPECT_EQ(told.exit_code, 0) << told.err;
		EXPECT_EQ(told.out.find("bpf_"), std::string::npos) << kind << "\n" << told.out;
		return told.out;
	};
	EXPECT_NE(folded("offcpu").find(";vfs_read;"), std::string::npos);
	const std::string wakers = folded("wakeup");
	EXPECT_NE(wakers.find(";vfs_write;"), std::string::npos) << wakers;
	EXPECT_NE(wakers.find(";initiator;responder;"), std::string::npos) << wakers;
	const Outcome oncpu = icepath({"flamegraph", "--kind", "oncpu", "--folded", "out"});
	EXPECT_NE(oncpu.out.find(";vfs_write;"), std::string::npos) << oncpu.out;
	EXPECT_EQ(icepath({"flamegraph", "--kind", "offcpu", "--tail", "out"}).exit_code, 2);
}

} // namespace
} // namespace icepath::end_to_end
