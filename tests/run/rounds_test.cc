// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "profiler/capture/named_stacks.h"
#include "profiler/capture/sampling_timers.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/sampled_functions.h"

namespace icepath::run {
namespace {

model::Cell sparse(double rate_hz = 5, model::Wait wait = model::Wait::Block)
{
	model::Cell cell;
	cell.pattern = model::Pattern::Sparse;
	cell.rate_hz = rate_hz;
	cell.wait = wait;
	return cell;
}

TEST(Visits, AreOneCellEachUnlessItIsSparse)
{
	EXPECT_EQ(visits_of({model::Cell(), model::Cell(), sparse()}), (std::vector<Visit>{{0}, {1}, {2}}));
}

TEST(Visits, HaveAllSparseCellsOfOnePeriodTogether)
{
	EXPECT_EQ(visits_of({sparse(), model::Cell(), sparse(), sparse(10), sparse()}),
			  (std::vector<Visit>{{0, 2, 4}, {1}, {3}}));
}

TEST(Visits, LeaveReceiversThatNeverSleepAlone)
{
	EXPECT_EQ(visits_of({sparse(), sparse(5, model::Wait::Poll), sparse(), sparse(5, model::Wait::Spin)}),
			  (std::vector<Visit>{{0, 2}, {1}, {3}}));
}

TEST(Visits, HaveNoWindowInWhichCpusAreKeptAwakeForSomeCellsOnly)
{
	model::Cell held = sparse();
	held.idle_states = model::IdleStates::Held;
	EXPECT_EQ(visits_of({sparse(), held, sparse(), held}), (std::vector<Visit>{{0, 2}, {1, 3}}));
}

TEST(Visits, HaveNoMoreThanCanTakeTurns)
{
	const std::vector<Visit> visits = visits_of(std::vector<model::Cell>(50, sparse(5)));
	ASSERT_EQ(visits.size(), 3u);
	EXPECT_EQ(visits[0].size(), 20u) << "200 ms have room for 20 turns";
	EXPECT_EQ(visits[2].size(), 10u);
	const std::vector<Visit> fast = visits_of(std::vector<model::Cell>(4, sparse(100)));
	EXPECT_EQ(fast.size(), 4u) << "a period of one turn";
}

TEST(Visits, HaveNoMoreThreadsThanABlockCanName)
{
	const std::vector<model::Cell> cells(100, sparse(1));
	for (const Visit &visit : visits_of(cells))
		EXPECT_LE(visit.size() * 2, privilege::kMaxBlockWorkers);
}

TEST(Visits, SendTheirFirstMessagesEvenlyOverAPeriod)
{
	EXPECT_EQ(first_after_ns(sparse(), 0, 1), 0u) << "alone it needn't wait";
	const uint64_t first = first_after_ns(sparse(), 0, 4);
	EXPECT_GT(first, 0u) << "all must have been asked by then";
	for (size_t n = 0; n < 4; n++)
		EXPECT_EQ(first_after_ns(sparse(), n, 4), first + n * 50'000'000);
}

TEST(Rounds, AreSampledWithProbesOnceInEight)
{
	uint32_t sampled = 0;
	for (uint32_t round = 0; round < 64; ++round) {
		sampled += is_sampled(round);
		EXPECT_TRUE(!is_sampled(round) || is_probed(round)) << round;
	}
	EXPECT_EQ(sampled, 8u);
}

// No cell follows another more often than the reverse, with or without rounds of hardware counters and of samples.
TEST(Rounds, AlternateTheirDirectionAmongThoseOfAKind)
{
	for (const bool counters : {false, true})
		for (const bool samples : {false, true})
			for (const bool probed : {false, true}) {
				int back = 0, forth = 0;
				for (uint32_t round = 0; round < 64; ++round) {
					if (is_probed(round) != probed || (counters && counts_hardware(round)) ||
						(samples && is_sampled(round)))
						continue;
					++(goes_back(round) ? back : forth);
					EXPECT_LE(std::abs(back - forth), 1) << round << counters << samples << probed;
				}
				EXPECT_EQ(back, forth) << counters << samples << probed;
			}
}

TEST(Visits, OfOtherArmsAreFound)
{
	std::vector<model::Cell> cells(5);
	cells[1].target = "tcp";
	cells[2].arm = "new";
	cells[3].target = "tcp";
	cells[3].arm = "new";
	cells[4].arm = "again";
	cells[4].payload_bytes = 4096;
	EXPECT_EQ(with_other_arms(visits_of(cells), cells), (std::vector<size_t>{0, 1, 0, 1, 4}));
}

// Of three arms each is as often before each other one, first, between them, and last.
TEST(Visits, OfArmsChangePlaces)
{
	const std::vector<size_t> firsts = {0, 1, 1, 1, 4};
	std::vector<std::vector<int>> before(5, std::vector<int>(5)), at(5, std::vector<int>(5));
	for (uint32_t round = 0; round < 48; ++round) {
		std::vector<size_t> order = order_of_visits(round, firsts);
		EXPECT_EQ(order.size(), 5u);
		if (is_probed(round) || counts_hardware(round))
			continue;
		for (size_t i = 0; i < order.size(); ++i) {
			at[order[i]][i]++;
			for (size_t later = i + 1; later < order.size(); ++later)
				before[order[i]][order[later]]++;
		}
	}
	for (size_t one = 0; one < 5; ++one)
		for (size_t other = 0; other < 5; ++other)
			EXPECT_EQ(before[one][other], before[other][one]) << one << other;
	for (size_t arm = 1; arm <= 3; ++arm)
		for (size_t place = 1; place <= 3; ++place)
			EXPECT_EQ(at[arm][place], at[1][1]) << arm << place;
	const std::vector<size_t> alone = {0, 1, 2};
	EXPECT_EQ(order_of_visits(1, alone), alone);
	EXPECT_EQ(order_of_visits(20, alone), order_of_visits(4, alone));
}

// A period that is nearly a simple fraction or multiple of the messages' meets them in few places.
TEST(SamplingPeriod, IsNoSimpleFractionOfTheMessagesPeriod)
{
	for (const double rate_hz : {5.0, 10.0, 1000.0, 4000.0, 4001.0, 10'000.0, 100'000.0, 1e6}) {
		const double of_ns = 1e9 / rate_hz;
		const auto period_ns = static_cast<double>(sampling_period_ns(rate_hz, 150'000'000));
		EXPECT_GT(period_ns, 100'000) << rate_hz;
		EXPECT_LT(period_ns, 450'000) << rate_hz;
		std::set<int> tenths; // of the messages' period that samples are in
		const int samples = 40 + static_cast<int>(3 * of_ns / period_ns);
		for (int i = 0; i < samples; ++i)
			tenths.insert(static_cast<int>(std::fmod(i * period_ns, of_ns) / of_ns * 10));
		EXPECT_EQ(tenths.size(), 10u) << rate_hz;
	}
	EXPECT_NEAR(static_cast<double>(sampling_period_ns({}, 150'000'000)), 250'000, 10'000);
}

TEST(SamplingPeriod, LeavesRoomForTheStacksOfALongBlock)
{
	for (const double block_s : {0.01, 0.5, 1.0, 1.5, 3.0, 10.0, 60.0, 3600.0})
		for (const std::optional<double> rate_hz :
			 {std::optional<double>(), {5.0}, {250.0}, {700.0}, {4000.0}, {1e6}}) {
			const auto period_ns = sampling_period_ns(rate_hz, static_cast<uint64_t>(block_s * 1e9));
			EXPECT_LE(block_s * 1e9 / static_cast<double>(period_ns), capture::kStacksOfCpu)
				<< block_s << " s, " << rate_hz.value_or(0);
			EXPECT_LE(period_ns, capture::kLongestPeriodNs);
		}
}

} // namespace
} // namespace icepath::run
