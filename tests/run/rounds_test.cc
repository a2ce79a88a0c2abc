// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/rounds.h"

#include <gtest/gtest.h>

#include <set>

#include "profiler/privilege/root_helper.h"

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

} // namespace
} // namespace icepath::run
