// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"
#include "tests/model/own_window.h"

#include <gtest/gtest.h>

namespace icepath::rate {
namespace {

using model::BlockEnd;

constexpr uint64_t kPeriodNs = 10'000, kLatencyNs = 5'000;

// 100 warm-up messages and 2000 counted ones at 100 kHz, each of which takes 5 µs.
struct Example {
	model::Cell cell;
	model::Block block;

	Example()
	{
		cell.pattern = model::Pattern::MaxRate;
		cell.limits = model::RateLimits{0.001, 50'000};
		block.rate_hz = 100'000;
		block.sides.resize(2);
		block.flows.resize(1);
		for (uint64_t seq = 0; seq < 2100; ++seq) {
			const uint64_t due = 1'000'000 + seq * kPeriodNs;
			const uint32_t flags = seq < 100 ? model::kStampWarmUp : 0;
			block.flows[0].sends.push_back({seq, due, due + 100, due + 200, 0, due + 300, 1, flags, 0});
			block.flows[0].recvs.push_back({seq, 0, 0, 0, 0, 0, due + kLatencyNs, 1, flags});
		}
	}
	std::optional<Verdict> judged() const { return judge(block, cell); }
	bool held() const { return judged().value().held; }
};

TEST(Verdict, HoldsWhereAllCameInTime)
{
	const Example example;
	const Verdict verdict = example.judged().value();
	EXPECT_TRUE(verdict.held);
	EXPECT_EQ(verdict.sent, 2000u);
	EXPECT_EQ(verdict.lost, 0u);
	EXPECT_EQ(verdict.p99_ns, kLatencyNs);
}

TEST(Verdict, LooksAtTheP99)
{
	Example example;
	for (size_t i = 0; i < 20; ++i)
		example.block.flows[0].recvs[500 + i].recv_ns += 1'000'000;
	EXPECT_TRUE(example.held()) << "1 %";
	example.block.flows[0].recvs[520].recv_ns += 1'000'000;
	EXPECT_FALSE(example.held());
	EXPECT_EQ(example.judged()->p99_ns, kLatencyNs + 1'000'000);
}

TEST(Verdict, ALimitMayBeReached)
{
	Example example;
	example.cell.limits->max_p99_ns = kLatencyNs;
	EXPECT_TRUE(example.held());
	example.cell.limits->max_p99_ns = kLatencyNs - 1;
	EXPECT_FALSE(example.held());
}

// Each message is fast, but the sender lags more and more behind its schedule.
TEST(Verdict, CountsFromWhenAMessageWasDue)
{
	Example example;
	for (size_t i = 0; i < 2100; ++i) {
		example.block.flows[0].sends[i].send_ns += i * 100;
		example.block.flows[0].recvs[i].recv_ns += i * 100;
	}
	EXPECT_FALSE(example.held());
	EXPECT_GT(example.judged()->p99_ns, 200'000u);
}

TEST(Verdict, LosesNoMoreThanItMay)
{
	Example example;
	auto &recvs = example.block.flows[0].recvs;
	recvs.erase(recvs.begin() + 700, recvs.begin() + 702);
	EXPECT_TRUE(example.held()) << "2 of 2000 are 0.1 %";
	recvs.pop_back();
	EXPECT_FALSE(example.held());
	EXPECT_EQ(example.judged()->lost, 3u);
	recvs.resize(300);
	EXPECT_FALSE(example.held()) << "too few came for a p99, but too many are lost";
	EXPECT_EQ(example.judged()->p99_ns, std::nullopt);
}

TEST(Verdict, TheWarmUpIsLeftOut)
{
	Example example;
	for (size_t i = 0; i < 100; ++i)
		example.block.flows[0].recvs[i].recv_ns += 10'000'000;
	EXPECT_TRUE(example.held());
	auto &recvs = example.block.flows[0].recvs;
	recvs.erase(recvs.begin(), recvs.begin() + 100);
	EXPECT_EQ(example.judged()->lost, 0u);
}

TEST(Verdict, TheSecondOfTwoIsNoMessage)
{
	Example example;
	example.block.flows[0].recvs.push_back(example.block.flows[0].recvs.back());
	example.block.flows[0].recvs.push_back({77'777, 0, 0, 0, 0, 0, 1, 1, 0}); // nor is one that nobody sent
	EXPECT_EQ(example.judged()->lost, 0u);
	EXPECT_EQ(example.judged()->sent, 2000u);
}

TEST(Verdict, ABlockThatItsDeadlineEndedDidntHold)
{
	Example example;
	example.block.end = BlockEnd::Deadline;
	EXPECT_FALSE(example.held());
	example.block.flows[0].sends.resize(150);
	example.block.flows[0].recvs.resize(150);
	EXPECT_FALSE(example.held()) << "nor was there time for many messages";
}

TEST(Verdict, ThereIsNoneOfWhatSteersNothing)
{
	for (const BlockEnd end : {BlockEnd::Failed, BlockEnd::Interrupted, BlockEnd::LogFull}) {
		Example example;
		example.block.end = end;
		EXPECT_FALSE(example.judged());
	}
	Example probed, no_rate, no_limits, short_one;
	own_window(probed.block).probed = true;
	no_rate.block.rate_hz = std::nullopt;
	no_limits.cell.limits = std::nullopt;
	short_one.block.flows[0].sends.resize(1099);
	short_one.block.flows[0].recvs.resize(1099);
	for (const Example &example : {probed, no_rate, no_limits, short_one})
		EXPECT_FALSE(example.judged());
}

} // namespace
} // namespace icepath::rate
