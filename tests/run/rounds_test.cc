// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "profiler/capture/named_stacks.h"
#include "profiler/capture/sampling_timers.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/run_probes.h"
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

// Each of the cells once for each arm, as a plan has them.
std::vector<model::Cell> of_arms(const std::vector<model::Cell> &cells, size_t arms)
{
	std::vector<model::Cell> all;
	for (const model::Cell &cell : cells)
		for (size_t arm = 0; arm < arms; ++arm) {
			all.push_back(cell);
			all.back().arm = std::string(1, static_cast<char>('a' + arm));
		}
	return all;
}

model::Cell named(model::Cell cell, const std::string &target)
{
	cell.target = target;
	return cell;
}

TEST(Visits, OfOtherArmsAreFound)
{
	std::vector<model::Cell> cells = of_arms({model::Cell(), named({}, "tcp")}, 2);
	std::swap(cells[1], cells[2]);
	cells.push_back(cells[0]);
	cells[4].payload_bytes = 4096;
	EXPECT_EQ(visits_of(cells), (std::vector<Visit>{{0}, {2}, {1}, {3}, {4}})) << "beside each other";
	EXPECT_EQ(with_other_arms(visits_of(cells), cells), (std::vector<size_t>{0, 0, 2, 2, 4}));
	for (model::Cell &cell : cells)
		cell.arm.clear();
	EXPECT_EQ(with_other_arms(visits_of(cells), cells), (std::vector<size_t>{0, 1, 2, 3, 4})) << "no arms";
}

// A visit has room for twenty turns, and so for six cells of three arms.
TEST(Visits, HaveAllArmsOfASparseCellOrOne)
{
	std::vector<model::Cell> seven;
	for (int i = 0; i < 7; ++i)
		seven.push_back(named(sparse(), std::to_string(i)));
	const std::vector<model::Cell> cells = of_arms(seven, 3);
	const std::vector<Visit> visits = visits_of(cells);
	ASSERT_EQ(visits.size(), 2u);
	EXPECT_EQ(visits[0].size(), 18u);
	EXPECT_EQ(visits[1], (Visit{18, 19, 20}));
	EXPECT_EQ(with_other_arms(visits, cells), (std::vector<size_t>{0, 1}));
	const std::vector<model::Cell> fast = of_arms({sparse(100), named(sparse(100), "tcp")}, 2);
	EXPECT_EQ(visits_of(fast), (std::vector<Visit>{{0}, {1}, {2}, {3}})) << "a period of one turn";
	EXPECT_EQ(with_other_arms(visits_of(fast), fast), (std::vector<size_t>{0, 0, 2, 2}));
}

// Here threads are what a window has no room for: then no other cell joins one arm of several.
TEST(Visits, OfOneArmOfSeveralAreOfItAlone)
{
	model::Cell wide = sparse(1);
	wide.graph.sides.resize(40);
	const std::vector<model::Cell> cells = of_arms({wide, named(sparse(1), "tcp")}, 2);
	const std::vector<Visit> visits = visits_of(cells);
	EXPECT_EQ(visits, (std::vector<Visit>{{0}, {1}, {2, 3}}));
	EXPECT_EQ(with_other_arms(visits, cells), (std::vector<size_t>{0, 0, 2}));
}

TEST(Visits, HaveNoMoreDaemonsThanABlockCanName)
{
	model::Cell cell = sparse(1);
	cell.kind = model::kAdapter;
	std::vector<model::Cell> many;
	for (int i = 0; i < 20; ++i)
		many.push_back(named(cell, std::to_string(i)));
	const std::vector<model::Cell> cells = of_arms(many, 3);
	for (const Visit &visit : visits_of(cells)) {
		size_t families = visit.size(); // a daemon each, at most
		for (const size_t i : visit)
			families += cells[i].graph.sides.size();
		EXPECT_LE(families, privilege::kMaxBlockWorkers + privilege::kMaxBlockDaemons);
	}
}

// Another build of a target may have other mechanisms.
TEST(Visits, OfArmsWithOtherProbesStayBesideEachOther)
{
	std::vector<model::Cell> cells = of_arms({model::Cell(), named({}, "tcp"), named({}, "pipe")}, 2);
	for (const size_t i : {0, 2, 3, 5})
		cells[i].mechanisms.add(model::Mechanism::Socket);
	const std::vector<Visit> visits = in_order_of_probes(visits_of(cells), cells);
	const std::vector<size_t> firsts = with_other_arms(visits, cells);
	for (size_t v = 0; v < firsts.size(); v += 2)
		EXPECT_EQ(firsts[v], firsts[v + 1]) << v;
}

// Of three arms each is as often before each other one, first, between them, and last.
TEST(Visits, OfArmsChangePlaces)
{
	const std::vector<size_t> firsts = {0, 1, 1, 1, 4};
	std::vector<std::vector<int>> before(5, std::vector<int>(5)), at(5, std::vector<int>(5));
	for (uint32_t round = 0; round < 48; ++round) {
		std::vector<size_t> order = order_of(round, firsts);
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
	EXPECT_EQ(order_of(1, alone), alone);
	EXPECT_EQ(order_of(20, alone), order_of(4, alone));
}

// Fresh processes come every so many pairs of rounds: no arm is always the first to get them, or the first in them.
TEST(Visits, OfArmsTakeTurnsInFreshProcesses)
{
	for (const size_t arms : {2, 3, 4, 5, 6})
		for (const uint32_t pairs : {1, 2, 3, 4, 6, 8, 12, 16}) {
			std::vector<int> firsts(arms);
			const uint32_t openings = 48 * static_cast<uint32_t>(arms);
			for (uint32_t opening = 0; opening < openings; ++opening)
				firsts[order_of(2 * pairs * opening, std::vector<size_t>(arms)).front()]++;
			for (const int first : firsts) {
				EXPECT_GE(first, static_cast<int>(openings / arms) / 2) << arms << " arms, each " << pairs << " pairs";
				EXPECT_LE(first, static_cast<int>(openings / arms) * 3 / 2)
					<< arms << " arms, each " << pairs << " pairs";
			}
		}
}

// Those that share a window take turns in it.
TEST(Visits, HaveArmsInTheOrderOfTheRound)
{
	const std::vector<model::Cell> cells = of_arms({sparse(), named(sparse(), "tcp")}, 2);
	const Visit all = {0, 1, 2, 3};
	EXPECT_EQ(in_order(0, all, cells), all);
	EXPECT_EQ(in_order(2, all, cells), (Visit{3, 2, 1, 0})) << "back";
	EXPECT_EQ(in_order(4, all, cells), (Visit{1, 0, 3, 2})) << "the other arm first";
	EXPECT_EQ(in_order(4, {1, 2, 3}, cells), (Visit{1, 3, 2})) << "one has failed";
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
