// SPDX-License-Identifier: Apache-2.0
// Runs of two cells, one with a lying worker: the message names that cell, the other one is measured to the end, and
// the run directory is complete. Uses real probes.
#include "profiler/run/session.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "icepath/plugin.h"
#include "profiler/capture/thread_pidfd.h"
#include "profiler/run/budget.h"
#include "profiler/run/worker_process.h"
#include "profiler/rundir/container.h"

namespace icepath::run {
namespace {

constexpr uint32_t kMessages = 50;
// Seconds, on a slow machine: with fewer than sixteen pairs of rounds, an opening lasts one pair (run/budget.cc), and a
// worker that ends after its second block is replaced before anybody misses it.
constexpr double kForOpeningsOfTwoPairs = 15;

class SessionWithALiar : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		std::string pattern = testing::TempDir() + "icepath-session-XXXXXX";
		ASSERT_NE(mkdtemp(pattern.data()), nullptr);
		folder = pattern;
	}
	void TearDown() override
	{
		std::filesystem::remove_all(folder);
		std::filesystem::remove("/tmp/icepath-lying-worker-" + std::to_string(getpid()));
	}

	model::Cell cell(const std::string &target) const
	{
		model::Cell one;
		one.target = target;
		one.pattern = model::Pattern::OneWay;
		one.graph = model::star(1, {0, 1}, model::Between::Processes, false);
		one.rate_hz = 10'000;
		return one;
	}

	model::Cell sparse_cell(const std::string &target) const
	{
		model::Cell one = cell(target);
		one.pattern = model::Pattern::Sparse;
		one.rate_hz = 50;
		return one;
	}

	SessionResult run(uint32_t side, const std::string &what) { return run(side, what, {cell("liar"), cell("pipe")}); }

	SessionResult run(uint32_t side, const std::string &what, const std::vector<model::Cell> &cells)
	{
		plan::Plan plan;
		plan.cells = cells;
		for (const model::Cell &one : cells)
			plan.plugin_of_cell.push_back(one.target == "liar" ? "lie:" + std::to_string(side) + ":" + what
															   : PIPE_PLUGIN);
		model::Head head;
		SessionOptions options;
		options.directory = folder / "run";
		options.budget_s = seconds > 0 ? seconds : cells.front().pattern == model::Pattern::Sparse ? 8 : 3;
		options.started_ns = icepath_now_ns();
		options.messages = kMessages;
		options.machine_root = machine_root;
		options.begin_injection = at_block;
		privilege::Identity user;
		user.was_root = user.stays_root = true;
		privilege::Helper helper(user);
		const SessionResult result = run_session(plan, head, options, helper, [&](const Progress &progress) {
			if (expected_at_first == 0)
				expected_at_first = progress.rounds_expected;
			if (at_progress)
				at_progress(progress);
		});
		rundir::Reader reader(options.directory);
		while (const auto window = reader.next())
			for (const model::Block &block : window->blocks)
				blocks.at(block.cell).push_back(block);
		EXPECT_FALSE(reader.truncated());
		EXPECT_TRUE(reader.tail().has_value());
		if (reader.tail()) {
			notices = reader.tail()->notices;
			failed_openings = reader.tail()->failed_openings;
			wakes_were_told = reader.head().wakes.size() == 2 && reader.tail()->wakes.size() == 2;
		}
		return result;
	}

	bool told(const std::string &who, const std::string &what) const
	{
		return std::ranges::any_of(notices, [&](const std::string &notice) {
			return notice.find(who) != std::string::npos && notice.find(what) != std::string::npos;
		});
	}

	// The honest cell has a block in each round, with every message.
	void expect_rest_is_kept(const SessionResult &result)
	{
		EXPECT_FALSE(result.interrupted);
		EXPECT_TRUE(result.has_data);
		EXPECT_GE(result.rounds, 2u);
		ASSERT_EQ(blocks[1].size(), result.rounds);
		for (uint32_t round = 0; round < result.rounds; round++) {
			const model::Block &block = blocks[1][round];
			EXPECT_EQ(block.window->round, round);
			EXPECT_EQ(block.window->probed, (round % 4 == 0 || round % 4 == 3) == (round % 8 < 4)) << "ABBA, then BAAB";
			EXPECT_EQ(block.failure, "");
			EXPECT_FALSE(block.flows[0].sends.empty());
			EXPECT_EQ(block.flows[0].sends.size(), block.flows[0].recvs.size());
			EXPECT_EQ(block.window->slots.empty(), !block.window->probed);
		}
		EXPECT_FALSE(told("pipe", "ended"));
	}

	void expect_liar_is_over(uint32_t side, const std::string &what, const std::string &says)
	{
		const SessionResult result = run(side, what);
		expect_rest_is_kept(result);
		EXPECT_EQ(result.failed_cells, 1u);
		EXPECT_TRUE(told("liar", says)) << testing::PrintToString(notices);
	}

	// By a worker that ends after its second block, an unprobed one. If an opening took so long that openings last one
	// pair, the worker is replaced before anybody misses it, and has all its blocks: then once more.
	void run_until_it_is_missed(const std::vector<model::Cell> &cells)
	{
		seconds = kForOpeningsOfTwoPairs;
		SessionResult result;
		for (int attempt = 0; attempt < 3 && blocks[0].size() == result.rounds; attempt++) {
			blocks = {};
			std::filesystem::remove_all(folder / "run");
			result = run(1, "ends after its second block, an unprobed one", cells);
			expect_rest_is_kept(result);
		}
		EXPECT_EQ(result.failed_cells, 1u);
		EXPECT_GE(blocks[0].size(), 4u);
	}

	double seconds = 0; // of the run; 0: enough for most tests
	std::string machine_root; // see SessionOptions
	std::function<void(const Progress &)> at_progress;
	std::function<void(size_t cell, const std::vector<uint32_t> &tids)> at_block; // before each
	std::filesystem::path folder;
	std::array<std::vector<model::Block>, 2> blocks;
	std::vector<std::string> notices;
	std::vector<uint32_t> failed_openings; // by cell
	bool wakes_were_told = false; // for both CPUs, before and after the run
	uint32_t expected_at_first = 0; // rounds, by the first progress report
};

TEST_F(SessionWithALiar, MeasuresBothWhereNobodyLies)
{
	const SessionResult result = run(0, "nothing");
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 0u);
	EXPECT_EQ(blocks[0].size(), result.rounds);
	EXPECT_EQ(result.rounds % 2, 0u) << "rounds come in pairs";
}

TEST_F(SessionWithALiar, GoesThroughTheCellsForthAndBackInTurn)
{
	const SessionResult result = run(0, "nothing");
	ASSERT_GE(result.rounds, 4u);
	// Both cells need the same probes, so they keep the plan's order.
	for (uint32_t round = 0; round < result.rounds; round++) {
		const bool liar_came_first =
			blocks[0].at(round).window->begin.monotonic_ns < blocks[1].at(round).window->begin.monotonic_ns;
		EXPECT_EQ(liar_came_first, !goes_back(round)) << "round " << round;
	}
}

// The liar always reports hardware counters; they are believed only in blocks that ask for them.
TEST_F(SessionWithALiar, CountsHardwareInOneRoundOfEightWithoutProbes)
{
	const SessionResult result = run(0, "counters that can't be");
	ASSERT_GE(result.rounds, 8u) << "the eighth is the first";
	ASSERT_EQ(blocks[0].size(), result.rounds);
	for (const model::Block &block : blocks[0]) {
		EXPECT_EQ(is_counted(block), block.window->round % 8 == 7) << "round " << block.window->round;
		EXPECT_FALSE(is_counted(block) && block.window->probed) << "round " << block.window->round;
	}
}

// Neither what can't be true nor a worker that doesn't tell keeps the others from being measured.
TEST_F(SessionWithALiar, BelievesNoSocketsThatCannotBe)
{
	model::Cell liar = cell("liar");
	liar.mechanisms.add(model::Mechanism::Socket);
	expect_rest_is_kept(run(0, "sockets that can't be", {liar, cell("pipe")}));
	ASSERT_FALSE(blocks[0].empty());
	for (const model::Block &block : blocks[0]) {
		EXPECT_EQ(block.failure, "");
		ASSERT_TRUE(block.sockets);
		EXPECT_TRUE(block.sockets->groups.empty());
	}
	for (const model::Block &block : blocks[1])
		EXPECT_FALSE(block.sockets) << "a pipe has none";
}

TEST_F(SessionWithALiar, EndsACellWhoseWorkerDoesNotTellOfItsSockets)
{
	model::Cell liar = cell("liar");
	liar.mechanisms.add(model::Mechanism::Socket);
	const SessionResult result = run(1, "silent about sockets", {liar, cell("pipe")});
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 1u);
	EXPECT_TRUE(told("liar", "doesn't answer")) << testing::PrintToString(notices);
}

// Both rounds of a pair use the same processes.
TEST_F(SessionWithALiar, MeasuresByFreshProcessesBetweenPairs)
{
	const SessionResult result = run(0, "nothing");
	expect_rest_is_kept(result);
	ASSERT_GE(result.rounds, 6u);
	for (const std::vector<model::Block> &cell : blocks) {
		std::map<uint32_t, std::set<std::array<uint32_t, 2>>> tids; // by opening
		std::map<uint32_t, std::set<uint32_t>> rounds;
		for (const model::Block &block : cell) {
			tids[block.opening].insert({block.sides[0].tid, block.sides[1].tid});
			rounds[block.opening].insert(block.window->round);
		}
		ASSERT_GE(tids.size(), 2u);
		std::set<std::array<uint32_t, 2>> all;
		for (const auto &[opening, pairs] : tids) {
			EXPECT_EQ(pairs.size(), 1u) << "opening " << opening;
			all.insert(*pairs.begin());
			EXPECT_EQ(*rounds[opening].begin() % 2, 0u) << "opening " << opening;
		}
		EXPECT_EQ(all.size(), tids.size()) << "each opening has processes of its own";
	}
	EXPECT_TRUE(wakes_were_told);
}

TEST_F(SessionWithALiar, TriesAgainWhatFailedForAPassingReason)
{
	const SessionResult result = run(1, "nobody answers at first");
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 0u) << testing::PrintToString(notices);
	EXPECT_TRUE(told("liar", "restarted: receiver of liar")) << testing::PrintToString(notices);
	ASSERT_GE(blocks[0].size(), 4u);
	EXPECT_EQ(blocks[0][0].end, model::BlockEnd::Failed);
	EXPECT_EQ(std::ranges::count(blocks[0], model::BlockEnd::Failed, &model::Block::end), 1);
}

TEST_F(SessionWithALiar, OpensAgainWhatCouldNotBeOpenedOnce)
{
	const SessionResult result = run(1, "no address at first");
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 0u) << testing::PrintToString(notices);
	EXPECT_TRUE(told("liar", "started again after a failed start")) << testing::PrintToString(notices);
	EXPECT_EQ(failed_openings, (std::vector<uint32_t>{1, 0}));
	EXPECT_EQ(blocks[0].size(), result.rounds);
}

TEST_F(SessionWithALiar, EndsTheCellThatCountsWhatCannotBe)
{
	expect_liar_is_over(1, "counts beyond its memory", "which is impossible");
}

TEST_F(SessionWithALiar, HasNoDataWhereThatWasAll)
{
	EXPECT_FALSE(run(1, "counts beyond its memory", {cell("liar")}).has_data);
}

TEST_F(SessionWithALiar, EndsTheCellThatNeverAnswers) { expect_liar_is_over(0, "silent", "sender of liar"); }

TEST_F(SessionWithALiar, GoesOnWithoutACellThatCannotBeOpened)
{
	expect_liar_is_over(0, "endless address", "an impossible address");
	EXPECT_TRUE(blocks[0].empty());
	// 4.5 s for pairs of blocks of at least 10 ms: if the other cell were dropped too, hundreds would be expected.
	EXPECT_LT(expected_at_first, 450u);
}

// As proc(5) has it; X: it has ended.
char state_of(uint32_t tid)
{
	std::ifstream stat("/proc/" + std::to_string(tid) + "/stat");
	std::string number, name;
	char state = 'X';
	stat >> number >> name >> state; // the name of a side has no space
	return state == 'Z' ? 'X' : state;
}

bool is_stopped(uint32_t tid) { return state_of(tid) == 'T'; }

TEST_F(SessionWithALiar, LeavesEachCellAlone)
{
	std::array<std::vector<uint32_t>, 2> sides; // of the present openings
	size_t looked_at = 0;
	at_block = [&](size_t cell, const std::vector<uint32_t> &tids) {
		sides.at(cell) = tids;
		for (const uint32_t tid : tids)
			EXPECT_FALSE(is_stopped(tid)) << "of cell " << cell << " itself";
		if (sides[1 - cell].empty() || state_of(sides[1 - cell][0]) == 'X')
			return; // not measured yet, or opened anew
		looked_at++;
		for (const uint32_t tid : sides[1 - cell]) // one may end while this looks at the other
			EXPECT_TRUE(is_stopped(tid) || state_of(tid) == 'X')
				<< "of the other cell, beside a block of cell " << cell;
	};
	const SessionResult result = run(0, "nothing");
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 0u) << testing::PrintToString(notices);
	EXPECT_GT(looked_at, 2u);
}

TEST_F(SessionWithALiar, StopsNothingOfASingleVisit)
{
	size_t looked_at = 0;
	at_block = [&](size_t, const std::vector<uint32_t> &tids) {
		for (const uint32_t tid : tids) {
			looked_at++;
			EXPECT_FALSE(is_stopped(tid));
		}
	};
	expect_rest_is_kept(run(0, "", {sparse_cell("pipe"), sparse_cell("pipe")}));
	EXPECT_GE(looked_at, 8u) << "two cells of two sides, in two rounds";
}

// Sparse blocks take half a second, the others some milliseconds.
TEST_F(SessionWithALiar, LetsSparseCellsRestBesideOthers)
{
	const SessionResult result = run(0, "", {sparse_cell("pipe"), cell("pipe")});
	expect_rest_is_kept(result);
	EXPECT_GE(blocks[0].size(), 2u);
	EXPECT_LT(2 * blocks[0].size(), result.rounds);
}

TEST_F(SessionWithALiar, EndsTheCellWhoseSentencesAreNoText)
{
	expect_liar_is_over(1, "unspeakable failure", "receiver of liar");
}

// The first block is the warm-up. If the processes were opened for round 2 or 4, the second block is unprobed and the
// next round is probed: the helper is then asked to mark a worker that has ended.
TEST_F(SessionWithALiar, EndsTheCellWhoseWorkerEndsBetweenProbedRounds)
{
	run_until_it_is_missed({cell("liar"), cell("pipe")});
	EXPECT_TRUE(told("liar", "exited with 3")) << testing::PrintToString(notices);
}

// The reader of the run rejects and counts false stamps message by message: the cell goes on.
TEST_F(SessionWithALiar, KeepsStampsThatCannotBeTrueApart)
{
	for (const char *what : {"inverted times", "times from nowhere", "wrong sequence numbers"}) {
		blocks = {};
		const SessionResult result = run(1, what);
		expect_rest_is_kept(result);
		EXPECT_EQ(blocks[0].size(), result.rounds) << what;
		std::filesystem::remove_all(folder / "run");
	}
}

// Sparse cells are measured at the same time, and take turns.
TEST_F(SessionWithALiar, MeasuresSparseCellsTogether)
{
	const SessionResult result = run(0, "", {sparse_cell("pipe"), sparse_cell("pipe")});
	expect_rest_is_kept(result);
	ASSERT_EQ(blocks[0].size(), result.rounds);
	uint32_t in_turn = 0;
	for (uint32_t round = 0; round < result.rounds; round++) {
		const model::Block &one = blocks[0][round], &other = blocks[1][round];
		EXPECT_EQ(one.window, other.window);
		ASSERT_EQ(one.window->threads.size(), 4u);
		for (const model::Block *block : {&one, &other})
			for (size_t side = 0; side < 2; side++)
				EXPECT_EQ(std::ranges::count(one.window->threads, block->sides[side].tid, &model::WindowThread::tid), 1)
					<< "of " << block->cell;
		EXPECT_EQ(one.window->threads[3].name, "pipe receiver");
		EXPECT_EQ(other.flows[0].sends.size(), 1 + kUsefulMessages) << "one warm-up message and those that are useful";
		// Half a period of 20 ms apart; the order alternates. A late sender waits for the next period.
		const auto apart =
			static_cast<int64_t>(other.flows[0].sends[0].intended_ns - one.flows[0].sends[0].intended_ns);
		in_turn += apart == (round % 4 < 2 ? 10'000'000 : -10'000'000);
		EXPECT_EQ(std::abs(apart) % 20'000'000, 10'000'000) << "round " << round;
	}
	EXPECT_GT(2 * in_turn, result.rounds);
}

// One empty block may have another cause.
TEST_F(SessionWithALiar, RepeatsABlockInWhichNothingCame)
{
	const SessionResult result = run(1, "nothing comes at first");
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 0u) << testing::PrintToString(notices);
	ASSERT_EQ(blocks[0].size(), result.rounds);
	EXPECT_FALSE(blocks[0][0].flows[0].recvs.empty());
}

// Killed threads vanish at once: unlike a zombie process's pid, their tids no longer exist in the next probed round.
TEST_F(SessionWithALiar, GoesOnWithoutACellOfThreadsThatHasEnded)
{
	if (const std::string missing = capture::thread_pidfds_missing(); !missing.empty())
		GTEST_SKIP() << missing;
	model::Cell threads = cell("liar");
	threads.graph = model::star(1, {0, 1}, model::Between::Threads, false);
	run_until_it_is_missed({threads, cell("pipe")});
}

TEST_F(SessionWithALiar, GoesOnWithTheSparseCellsBesideOneThatEnds)
{
	const SessionResult result =
		run(1, "ends after its second block, an unprobed one", {sparse_cell("liar"), sparse_cell("pipe")});
	expect_rest_is_kept(result);
	EXPECT_EQ(result.failed_cells, 1u);
	EXPECT_GE(blocks[0].size(), 2u) << "sparse cells aren't warmed up: its second block is that of round 1";
	EXPECT_EQ(blocks[1].back().window->threads.size(), 2u);
}

// The block during which the clock source changed is left out; the others are kept.
TEST_F(SessionWithALiar, LeavesOutTheBlockInWhichTheClockSourceChanged)
{
	machine_root = folder / "machine";
	const auto clock_source = machine_root + "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	std::filesystem::create_directories(std::filesystem::path(clock_source).parent_path());
	std::ofstream(clock_source) << "tsc\n";
	at_progress = [&](const Progress &progress) {
		if (progress.round == 3 && progress.cell.starts_with("pipe"))
			std::ofstream(clock_source) << "hpet\n";
	};
	const SessionResult result = run(0, "nothing");
	EXPECT_EQ(result.broken_off, "");
	EXPECT_EQ(blocks[0].size(), result.rounds);
	ASSERT_EQ(blocks[1].size(), result.rounds - 1);
	EXPECT_TRUE(std::ranges::none_of(blocks[1], [](const auto &block) { return block.window->round == 2; }));
	EXPECT_TRUE(told("round 3", "the clock source changed from tsc to hpet")) << testing::PrintToString(notices);
	EXPECT_TRUE(told("round 3", "the blocks of that time are left out"));
}

// If somebody moved a worker, it is unknown where it was measured.
TEST_F(SessionWithALiar, EndsWhereAWorkerIsKeptToItsCpuNoMore)
{
	at_progress = [&](const Progress &progress) {
		if (progress.round != 3 || !progress.cell.starts_with("pipe"))
			return;
		std::ifstream children("/proc/thread-self/children");
		cpu_set_t both;
		CPU_ZERO(&both);
		CPU_SET(0, &both);
		CPU_SET(1, &both);
		for (pid_t child = 0; children >> child;)
			sched_setaffinity(child, sizeof(both), &both);
	};
	const SessionResult result = run(0, "nothing");
	EXPECT_NE(result.broken_off.find(": somebody has widened its affinity; what was measured before is kept"),
			  std::string::npos)
		<< result.broken_off;
	EXPECT_EQ(result.rounds, 3u);
	EXPECT_EQ(blocks[1].size(), 2u);
}

// A run of hours has thousands of times as many blocks as this one.
TEST_F(SessionWithALiar, KeepsNothingOfItsBlocks)
{
	std::vector<size_t> live; // bytes, before each block
	live.reserve(100'000);
	at_progress = [&](const Progress &) {
		const struct mallinfo2 heap = mallinfo2();
		if (live.size() < live.capacity())
			live.push_back(heap.uordblks + heap.hblkhd);
	};
	seconds = 10;
	expect_rest_is_kept(run(0, "nothing"));
	ASSERT_GE(live.size(), 24u);
	const size_t quarter = live.size() / 4;
	const auto most = [&](size_t from, size_t to) {
		return *std::max_element(live.begin() + static_cast<ptrdiff_t>(from),
								 live.begin() + static_cast<ptrdiff_t>(to));
	};
	// Each block has records and stamps of 10 KiB and more. So not even one is kept.
	EXPECT_LT(most(3 * quarter, 4 * quarter), most(quarter / 2, quarter) + 10 * 1024)
		<< "of " << live.size() << " blocks";
}

} // namespace
} // namespace icepath::run
