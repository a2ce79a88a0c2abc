// SPDX-License-Identifier: Apache-2.0
// A block that starts late or runs slowly still yields messages worth its time, and one that the user stops ends.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "profiler/model/block.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using model::BlockEnd;
using worker::ReplyStatus;

struct Late {
	const char *plugin, *target;
	bool one_way;
};

class LateBlock : public testing::TestWithParam<Late> {
protected:
	void SetUp() override
	{
		PairPlan plan;
		plan.plugin = GetParam().plugin;
		plan.target = GetParam().target;
		plan.one_way = GetParam().one_way;
		pair = std::make_unique<WorkerPair>(plan);
		ASSERT_EQ(pair->open(), "");
	}

	// Its deadline has passed when it begins.
	std::array<worker::Reply, 2> run(uint32_t at_least)
	{
		worker::BlockRequest block = pair->block(900, 0);
		block.warm_up = 32;
		block.at_least = at_least;
		block.rate_hz = 2000;
		return pair->run(block);
	}

	std::unique_ptr<WorkerPair> pair;
};

TEST_P(LateBlock, HasItsWarmUpAndTheMessagesThatItMustHave)
{
	const auto replies = run(20);
	for (const worker::Reply &reply : replies)
		EXPECT_EQ(reply.status, ReplyStatus::Done) << reply.message;
	EXPECT_EQ(replies[0].block.end, static_cast<uint32_t>(BlockEnd::Deadline));
	EXPECT_EQ(replies[0].block.sends, 52u);
	EXPECT_EQ(replies[1].block.recvs, 52u);
}

TEST_P(LateBlock, EndsAtOnceWhereItMustHaveNone)
{
	const auto replies = run(0);
	EXPECT_EQ(replies[0].block.end, static_cast<uint32_t>(BlockEnd::Deadline));
	EXPECT_LE(replies[0].block.sends, 32u);
}

TEST_P(LateBlock, EndsWithTheNextMessageOnceItIsStopped)
{
	worker::BlockRequest block = pair->block(900);
	block.warm_up = 32;
	block.at_least = 20;
	pair->memory().stop = block.block + 1;
	const auto replies = pair->run(block);
	for (const worker::Reply &reply : replies)
		EXPECT_EQ(reply.status, ReplyStatus::Done) << reply.message;
	EXPECT_EQ(replies[0].block.end, static_cast<uint32_t>(BlockEnd::Interrupted));
	EXPECT_EQ(replies[0].block.sends, 1u);
	EXPECT_EQ(replies[1].block.recvs, 1u);
	EXPECT_EQ(pair->run(pair->block(10))[0].block.sends, 10u) << "the next one isn't stopped";
}

INSTANTIATE_TEST_SUITE_P(Cells, LateBlock,
						 testing::Values(Late{"pipe", "pipe", true}, Late{"pipe", "pipe", false},
										 Late{"uds", "uds-dgram", true}, Late{"tcp", "tcp", false}),
						 [](const auto &which) {
							 std::string name =
								 std::string(which.param.target) + (which.param.one_way ? "OneWay" : "PingPong");
							 std::erase(name, '-');
							 return name;
						 });

// Slower than could be foreseen: it still ends soon after its deadline.
TEST(SlowBlock, WaitsForItsMessagesOnlySoLong)
{
	PairPlan plan;
	plan.plugin = "pipe";
	plan.target = "pipe";
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(900, 0);
	block.warm_up = 32;
	block.at_least = 20;
	block.levels.receiver_busy_ns = 100'000'000;
	const auto replies = pair.run(block);
	EXPECT_EQ(replies[0].status, ReplyStatus::Done) << replies[0].message;
	EXPECT_EQ(replies[0].block.end, static_cast<uint32_t>(BlockEnd::Deadline));
	EXPECT_LT(replies[0].block.sends, 10u);
}

} // namespace
} // namespace icepath::test
