// SPDX-License-Identifier: Apache-2.0
// A cell whose worker lies: whatever the worker reports or writes, the cell either keeps to its request, or is over
// with a message that names the worker.
#include "profiler/run/live_cell.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "icepath/plugin.h"
#include "profiler/capture/thread_pidfd.h"
#include "tests/run/alone.h"

namespace icepath::run {
namespace {

constexpr uint32_t kWarmUp = 2, kCount = 10, kRoom = 20;

privilege::Identity self()
{
	privilege::Identity user;
	user.uid = getuid();
	user.was_root = true; // claimed: pinning one's own child needs no root
	return user;
}

// The process of a thread; -1: none.
int process_of(uint32_t tid)
{
	std::ifstream status("/proc/" + std::to_string(tid) + "/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with("Tgid:"))
			return std::stoi(line.substr(5));
	return -1;
}

class LyingCell : public testing::Test {
protected:
	LyingCell() : helper(self())
	{
		cell.target = "liar";
		cell.pattern = model::Pattern::OneWay;
		cell.graph =
			model::star(1, std::vector(2, static_cast<uint32_t>(sched_getcpu())), model::Between::Processes, false);
	}

	std::unique_ptr<LiveCell> open(uint32_t side, const std::string &what)
	{
		const std::string part = "lie:" + std::to_string(side) + ":" + what;
		return std::make_unique<LiveCell>(cell, part, 0, kRoom, privilege::SlotsView(), helper);
	}

	model::Block run(LiveCell &live)
	{
		BlockWish wish;
		wish.number = ++blocks;
		wish.warm_up = kWarmUp;
		wish.count = kCount;
		wish.duration_ns = 50'000'000;
		return run_alone(live, wish, privilege::SlotsView(), nullptr);
	}

	model::Block block_of(uint32_t side, const std::string &what) { return run(*open(side, what)); }

	// The block failed, the message names the worker, and there are no stamps.
	void expect_over(uint32_t side, const std::string &what, const std::string &says)
	{
		const model::Block block = block_of(side, what);
		EXPECT_EQ(block.end, model::BlockEnd::Failed) << what;
		const std::string who = std::string(side == 0 ? "sender" : "receiver") + " of liar 64 B oneway";
		EXPECT_NE(block.failure.find(who), std::string::npos) << what << ": " << block.failure;
		EXPECT_NE(block.failure.find(says), std::string::npos) << what << ": " << block.failure;
		EXPECT_EQ(block.sides.size(), 2u);
		for (const model::BlockFlow &flow : block.flows)
			EXPECT_TRUE(flow.sends.empty() && flow.recvs.empty()) << what;
	}

	static void expect_whole(const model::Block &block)
	{
		EXPECT_EQ(block.failure, "");
		EXPECT_NE(block.end, model::BlockEnd::Failed);
		EXPECT_EQ(block.flows[0].sends.size(), kWarmUp + kCount);
		EXPECT_EQ(block.flows[0].recvs.size(), kWarmUp + kCount);
		EXPECT_EQ(block.flows.size(), 1u);
	}

	void expect_not_opened(uint32_t side, const std::string &what, const std::string &says)
	{
		try {
			open(side, what);
			ADD_FAILURE() << what << ": it was opened";
		} catch (const WorkerFailed &failure) {
			EXPECT_NE(std::string(failure.what()).find("of liar 64 B oneway"), std::string::npos) << failure.what();
			EXPECT_NE(std::string(failure.what()).find(says), std::string::npos) << failure.what();
		}
	}

	privilege::Helper helper;
	model::Cell cell;
	uint64_t blocks = 0;
};

TEST_F(LyingCell, IsACellLikeAnyOtherWhereNobodyLies)
{
	const auto live = open(0, "nothing");
	for (int i = 0; i < 3; i++) {
		const model::Block block = run(*live);
		expect_whole(block);
		for (uint32_t message = 0; message < kWarmUp + kCount; message++) {
			EXPECT_EQ(block.flows[0].sends[message].seq, message);
			EXPECT_EQ(block.flows[0].recvs[message].seq, message);
			EXPECT_LT(block.flows[0].sends[message].send_ns, block.flows[0].recvs[message].recv_ns);
		}
	}
}

TEST_F(LyingCell, IsOverWhereAWorkerCountsWhatCannotBe)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_over(side, "counts beyond its memory", "which is impossible");
		expect_over(side, "counts beyond the block", "which is impossible");
		expect_over(side, "takes part in the other direction", "which is impossible");
	}
}

// False counters don't invalidate the block, and unrequested hardware counters mustn't exclude it from latencies.
TEST_F(LyingCell, HasNoCounterThatCannotBe)
{
	const auto live = open(0, "counters that can't be");
	model::Block block = run(*live);
	expect_whole(block);
	EXPECT_EQ(block.sides[0].counters.migrations.error, EPROTO);
	EXPECT_EQ(block.sides[0].counters.branches.error, model::kNotAsked);
	EXPECT_FALSE(is_counted(block));
	BlockWish wish;
	wish.number = ++blocks;
	wish.warm_up = kWarmUp;
	wish.count = kCount;
	wish.duration_ns = 50'000'000;
	wish.count_hardware = true;
	block = run_alone(*live, wish, privilege::SlotsView(), nullptr);
	expect_whole(block);
	const model::Counters &told = block.sides[0].counters;
	EXPECT_EQ(told.cycles.error, EPROTO);
	EXPECT_EQ(told.cycles.counted, 0u);
	EXPECT_EQ(told.instructions.error, EPROTO);
	EXPECT_EQ(told.cache_misses.error, model::kNotAsked);
	EXPECT_EQ(told.branches.counted, 5u);
	EXPECT_EQ(told.user_only, 1u);
	EXPECT_TRUE(is_counted(block));
}

// A lossy target may deliver a message twice.
TEST_F(LyingCell, OfALossyTargetReceivesWhatItHasRoomFor)
{
	cell.traits = {model::Trait::Lossy};
	const model::Block block = block_of(1, "counts beyond the block");
	EXPECT_EQ(block.failure, "");
	EXPECT_EQ(block.flows[0].recvs.size(), kWarmUp + kCount + 1);
	expect_over(0, "counts beyond the block", "which is impossible");
	expect_over(1, "counts beyond its memory", "which is impossible");
}

TEST_F(LyingCell, IsOverWhereAReplyIsNone)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_over(side, "a short reply", "");
		expect_over(side, "a long reply", "");
		expect_over(side, "a status that nobody knows", "");
	}
}

// The worker that waited in vain is read first, but its message says little.
TEST_F(LyingCell, IsOverBecauseOfWhoKnowsWhy)
{
	EXPECT_EQ(block_of(2, "one fails, one waits in vain").failure, "sender of liar 64 B oneway block: no room");
}

TEST_F(LyingCell, IsOverWhereAWorkerEnds)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_over(side, "exits", "exited with 3");
		expect_over(side, "is killed", "was killed by signal 9");
	}
}

TEST_F(LyingCell, IsOverWhereASenderNeverAnswers) { expect_over(0, "silent", "doesn't answer"); }

TEST_F(LyingCell, IsOverWhereAReceiverNeverAnswers) { expect_over(1, "silent", "doesn't answer"); }

TEST_F(LyingCell, IsNotOpenedByAWorkerThatNeverAnswers) { expect_not_opened(1, "silent at open", "doesn't answer"); }

TEST_F(LyingCell, IsNotOpenedWithAnAddressThatCannotBe)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_not_opened(side, "address without descriptors", "an impossible address");
		expect_not_opened(side, "endless address", "an impossible address");
	}
}

TEST_F(LyingCell, TakesNoMoreSocketsThanAreSent)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_whole(block_of(side, "more sockets than it sends"));
		expect_whole(block_of(side, "sockets that come later"));
	}
}

// A message without an end, of bytes that are no text, is cut at its field's end.
TEST_F(LyingCell, SpeaksSentencesThatEnd)
{
	expect_not_opened(0, "unspeakable refusal", "\xff");
	expect_over(1, "unspeakable failure", "\xff");
	EXPECT_LE(block_of(1, "unspeakable failure").failure.size(), 384u + 100u);
}

TEST_F(LyingCell, KeepsItsMemoryWhateverAWorkerDoesToIt)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_whole(block_of(side, "shrinks the memory"));
		const auto live = open(side, "scribbles");
		expect_whole(run(*live));
		expect_whole(run(*live));
	}
}

TEST_F(LyingCell, HasNoEndThatNobodyKnows)
{
	const model::Block block = block_of(0, "an end that nobody knows");
	EXPECT_LE(block.end, model::BlockEnd::Interrupted);
}

// Stamps are stored as reported: the decoder and the statistics reject and count false ones, message by message.
TEST_F(LyingCell, KeepsStampsAsTheyWereTold)
{
	model::Block block = block_of(1, "inverted times");
	expect_whole(block);
	EXPECT_LT(block.flows[0].recvs[5].recv_ns, block.flows[0].sends[5].send_ns);
	block = block_of(1, "wrong sequence numbers");
	expect_whole(block);
	EXPECT_EQ(block.flows[0].recvs[5].seq, UINT64_MAX - 5);
}

class LyingThreads : public LyingCell {
protected:
	void SetUp() override
	{
		if (const std::string missing = capture::thread_pidfds_missing(); !missing.empty())
			GTEST_SKIP() << missing;
		cell.graph = model::star(1, model::cpus_by_side(cell), model::Between::Threads, false);
	}
};

TEST_F(LyingThreads, AreACellLikeAnyOtherWhereNobodyLies)
{
	const auto live = open(0, "nothing");
	ASSERT_EQ(live->tids().size(), 2u);
	EXPECT_NE(live->tids()[0], live->tids()[1]);
	EXPECT_EQ(process_of(live->tids()[0]), process_of(live->tids()[1]));
	for (int i = 0; i < 2; i++)
		expect_whole(run(*live));
}

TEST_F(LyingThreads, HaveNoThreadButTheirOwn)
{
	for (const uint32_t side : {0u, 1u}) {
		expect_not_opened(side, "a thread of somebody else's", "a thread that isn't its own");
		expect_not_opened(side, "a thread that isn't there", "a thread that isn't its own");
	}
}

// Both sides fail, and one message names their process.
TEST_F(LyingThreads, AreOverTogetherWhereTheirProcessEnds)
{
	for (const uint32_t side : {0u, 1u}) {
		EXPECT_EQ(block_of(side, "exits").failure, "the worker of liar 64 B oneway block threads exited with 3");
		EXPECT_EQ(block_of(side, "is killed").failure,
				  "the worker of liar 64 B oneway block threads was killed by signal 9 (Killed)");
	}
}

TEST_F(LyingThreads, AreOverByNameWhereOneOfThemNeverAnswers)
{
	EXPECT_EQ(block_of(0, "silent").failure, "the sender of liar 64 B oneway block threads doesn't answer");
	EXPECT_EQ(block_of(1, "silent").failure, "the receiver of liar 64 B oneway block threads doesn't answer");
}

// An extra reply counts as the block's: at worst the block has no stamps.
TEST_F(LyingCell, SurvivesAnAnswerTooMany)
{
	const auto live = open(1, "answers twice");
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(run(*live).failure, "");
}

} // namespace
} // namespace icepath::run
