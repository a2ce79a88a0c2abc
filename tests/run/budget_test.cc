// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

model::Cell one_way(double rate_hz)
{
	model::Cell cell;
	cell.target = "pipe";
	cell.pattern = model::Pattern::OneWay;
	cell.rate_hz = rate_hz;
	return cell;
}

std::string refusal(double budget_s, const std::vector<model::Cell> &cells)
{
	try {
		check_budget(budget_s, cells, 1000);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "";
}

TEST(LeastBlock, HoldsTheWarmUpAndUsefulMessagesAtTheCellsRate)
{
	for (const auto &[rate_hz, warm_up] : {std::pair{1.0, 1u}, {100.0, 10u}, {2000.0, kWarmUp}, {1e6, kWarmUp}}) {
		const double needed_ns = (warm_up + kUsefulMessages) * 1e9 / rate_hz;
		EXPECT_GT(static_cast<double>(least_block_ns(one_way(rate_hz), 1000)), needed_ns) << rate_hz;
		EXPECT_LT(static_cast<double>(least_block_ns(one_way(rate_hz), 1000)), 1.2 * needed_ns + 10e6) << rate_hz;
	}
}

TEST(LeastBlock, OfAFanInHoldsWhatEachSenderSends)
{
	model::Cell cell = one_way(1000);
	const uint64_t alone_ns = least_block_ns(cell, 1000);
	cell.pattern = model::Pattern::FanIn;
	cell.graph = model::star(4, {0, 0, 0, 0, 1}, model::Between::Processes, false);
	EXPECT_GT(least_block_ns(cell, 1000), 3 * alone_ns);
}

TEST(LeastBlock, HoldsNoMoreThanTheMessagesThatAreAskedFor)
{
	EXPECT_GT(least_block_ns(one_way(100), 5), (10 + 5) * 10 * kMs);
	EXPECT_LT(least_block_ns(one_way(100), 5), (10 + 10) * 10 * kMs);
}

TEST(WarmUp, IsLimitedByNumberAndTime)
{
	EXPECT_EQ(warm_up_of(one_way(2000)), kWarmUp);
	EXPECT_EQ(warm_up_of(one_way(100)), 10u) << "100 ms of them";
	EXPECT_EQ(warm_up_of(one_way(1)), 1u);
	model::Cell pingpong; // its pace is unknown until measured
	EXPECT_EQ(warm_up_of(pingpong), kWarmUp);
	EXPECT_EQ(warm_up_of(pingpong, 88 * kMs), 1u);
	EXPECT_EQ(warm_up_of(pingpong, 50'000), kWarmUp);
	pingpong.levels.receiver_busy_ns = 20 * kMs;
	EXPECT_EQ(warm_up_of(pingpong), 5u);
	model::Cell bursts = one_way(1);
	bursts.pattern = model::Pattern::Burst;
	EXPECT_EQ(warm_up_of(bursts), kWarmUp);
}

TEST(LeastBlock, OfSparseCellsIsOneForAllThatTakeTurns)
{
	model::Cell sparse = one_way(5);
	sparse.pattern = model::Pattern::Sparse;
	EXPECT_EQ(warm_up_of(sparse), 1u);
	model::Cell large = one_way(1000);
	large.payload_bytes = 1u << 20;
	EXPECT_EQ(warm_up_of(large), kWarmUp);
	large.mechanisms = {model::Mechanism::LibraryCalls}; // each takes many records
	EXPECT_EQ(warm_up_of(large), kWarmUp / 4);
	large.payload_bytes = 4096;
	EXPECT_EQ(warm_up_of(large), kWarmUp);
	const uint64_t alone_ns = least_block_ns(sparse, 1000);
	EXPECT_GT(alone_ns, (1 + kUsefulMessages) * 200 * kMs);
	EXPECT_LT(alone_ns, (4 + kUsefulMessages) * 200 * kMs);
	const std::vector<model::Cell> cells(8, sparse);
	EXPECT_GT(least_visit_ns({0, 1, 2, 3, 4, 5, 6, 7}, cells, 1000), alone_ns + 175 * kMs)
		<< "the last one begins later";
	EXPECT_LT(least_visit_ns({0, 1, 2, 3, 4, 5, 6, 7}, cells, 1000), alone_ns + 250 * kMs);
	EXPECT_GT(needed_s(cells, 1000, 3), 25);
	EXPECT_LT(needed_s(cells, 1000, 3), 40);
	EXPECT_EQ(refusal(15, cells), "");
	EXPECT_NE(refusal(5, cells).find("a shorter --sparse-period"), std::string::npos) << refusal(5, cells);
	EXPECT_NE(refusal(5, cells), "");
	EXPECT_EQ(most_messages(sparse, 60 * kSecond, 1000), kUsefulMessages) << "more blocks say more than longer ones";
}

TEST(LeastBlock, OfASearchHoldsWhatJudgesARate)
{
	model::Cell search;
	search.pattern = model::Pattern::MaxRate;
	search.limits = model::RateLimits{0, 1 * kMs};
	for (const uint32_t count : {1u, 1000u})
		EXPECT_GT(least_block_ns(search, count), 20 * kMs) << "--messages doesn't shorten it";
	EXPECT_LT(least_block_ns(search, 1000), 40 * kMs);
	EXPECT_GT(searching_block_ns(search, 2000), 500 * kMs) << "a thousand messages";
	search.limits->max_p99_ns = 100 * kMs;
	EXPECT_GT(least_block_ns(search, 1000), 2 * kSecond);
	EXPECT_NE(refusal(2, {search}).find("max-rate"), std::string::npos);
}

TEST(LeastBlock, CountsTheDelaysThatArePutIn)
{
	model::Cell pingpong;
	pingpong.levels.sender_user_ns = 2 * kMs;
	pingpong.levels.receiver_busy_ns = 3 * kMs;
	EXPECT_GT(least_block_ns(pingpong, 1000), (20 + kUsefulMessages) * 5 * kMs);
	EXPECT_LT(least_block_ns(pingpong, 1000), (25 + kUsefulMessages) * 5 * kMs);
	model::Cell busy_receiver = one_way(10'000);
	busy_receiver.levels.receiver_busy_ns = 3 * kMs;
	EXPECT_GT(least_block_ns(busy_receiver, 1000), (kWarmUp + kUsefulMessages) * 3 * kMs);
	busy_receiver.levels.sender_user_ns = 2 * kMs;
	EXPECT_LT(least_block_ns(busy_receiver, 1000), (kWarmUp + kUsefulMessages) * 4 * kMs) << "at the same time";
	busy_receiver.graph = model::star(1, {0, 0}, model::Between::OneThread, false);
	EXPECT_GT(least_block_ns(busy_receiver, 1000), (20 + kUsefulMessages) * 5 * kMs) << "one after the other";
}

TEST(MostMessages, AreWhatASlowReceiverCanTakeInTheBlock)
{
	model::Cell cell = one_way(2000);
	EXPECT_EQ(most_messages(cell, 500 * kMs, 1000), 1000u);
	cell.levels.receiver_busy_ns = 10 * kMs;
	EXPECT_EQ(most_messages(cell, 2 * kSecond, 1000), 200u - 10);
	EXPECT_EQ(most_messages(cell, 100 * kSecond, 1000), 1000u);
	EXPECT_GE(most_messages(cell, least_block_ns(cell, 1000), 1000), kUsefulMessages);
}

TEST(LeastBlock, FollowsTheMeasuredPace)
{
	EXPECT_GT(least_block_ns(100 * kMs, 1, 1000), (1 + kUsefulMessages) * 100 * kMs);
	EXPECT_LT(least_block_ns(100 * kMs, 1, 1000), 30 * 100 * kMs);
	EXPECT_GT(least_block_ns(100 * kMs, kWarmUp, 5), (kWarmUp + 5) * 100 * kMs) << "no more than were asked for";
}

TEST(CheckBudget, RefusesWhatCannotHoldOnePairOfRoundsAndNamesWhatDoes)
{
	EXPECT_EQ(refusal(10, {one_way(2000)}), "");
	const std::string sentence = refusal(10, {one_way(2000), one_way(1)});
	EXPECT_NE(sentence.find("pipe 64 B oneway block and 1 other cells"), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("--rate 1"), std::string::npos) << sentence;
	const size_t at = sentence.find("-d ");
	ASSERT_NE(at, std::string::npos) << sentence;
	const double would_do_s = std::stod(sentence.substr(at + 3));
	EXPECT_EQ(refusal(would_do_s, {one_way(2000), one_way(1)}), "") << "what the sentence asks for is enough";
	EXPECT_LT(would_do_s, 1.5 * 2 * (kWarmUp + kUsefulMessages));
}

TEST(CheckBudget, RefusesMoreCellsThanTheTimeHolds)
{
	EXPECT_EQ(refusal(4, std::vector<model::Cell>(30, one_way(2000))), "");
	EXPECT_NE(refusal(4, std::vector<model::Cell>(100, one_way(2000))), "");
}

// A run with a simulated clock.
struct Machine {
	double budget_s;
	size_t cells;
	uint64_t start_ns; // before the first round
	uint64_t messages_ns; // time of a thousand messages
	uint64_t block_overhead_ns; // besides the messages
	double report_share; // of the captured time
	double noise; // relative deviation of a block's time
};

std::ostream &operator<<(std::ostream &out, const Machine &machine)
{
	return out << machine.budget_s << " s, " << machine.cells << " cells, blocks of " << machine.messages_ns / kMs
			   << " ms, report " << machine.report_share;
}

struct Result {
	double seconds = 0;
	uint32_t rounds = 0;
	bool rounds_were_honest = true;
	std::vector<uint32_t> expected_rounds; // by pair
};

Result simulate(const Machine &machine)
{
	std::mt19937 random(4711);
	std::uniform_real_distribution<double> factor(1 - machine.noise, 1 + machine.noise);
	uint64_t now_ns = machine.start_ns, captured_ns = 0;
	const auto end_ns = static_cast<uint64_t>(machine.budget_s * 0.97e9);
	Budget budget(end_ns, std::vector<uint64_t>(machine.cells, 10 * kMs));
	Result result;
	while (budget.begin_pair(now_ns)) {
		const uint64_t began_ns = now_ns;
		result.expected_rounds.push_back(budget.rounds_expected());
		for (int of_pair = 0; of_pair < 2; of_pair++) {
			result.rounds++;
			result.rounds_were_honest = result.rounds_were_honest && result.rounds <= budget.rounds_expected();
			for (size_t cell = 0; cell < machine.cells; cell++) {
				const auto wanted_ns = static_cast<uint64_t>(static_cast<double>(machine.messages_ns) * factor(random));
				const uint64_t took_ns = std::min(wanted_ns, budget.block_ns(cell));
				now_ns += took_ns + machine.block_overhead_ns;
				budget.block_took(cell, took_ns, wanted_ns > budget.block_ns(cell));
			}
		}
		budget.end_pair(now_ns);
		captured_ns += now_ns - began_ns;
		const auto report_ns = static_cast<uint64_t>(machine.report_share * static_cast<double>(captured_ns));
		if (budget.rehearsal_is_due()) {
			now_ns += report_ns;
			budget.rehearsed(report_ns);
		}
	}
	now_ns += static_cast<uint64_t>(machine.report_share * static_cast<double>(captured_ns));
	result.seconds = static_cast<double>(now_ns) / 1e9;
	return result;
}

// After 2 pairs, then after 8: not after each pair.
TEST(Budget, AFailedRehearsalIsTriedAgainWhenTheNextOneIsDue)
{
	uint64_t now_ns = kSecond;
	Budget budget(now_ns + 60 * kSecond, {10 * kMs});
	std::vector<uint32_t> due; // after so many pairs
	for (uint32_t pairs = 1; pairs <= 10; pairs++) {
		ASSERT_TRUE(budget.begin_pair(now_ns));
		now_ns += 20 * kMs;
		budget.block_took(0, 10 * kMs, false);
		budget.end_pair(now_ns);
		if (!budget.rehearsal_is_due())
			continue;
		due.push_back(pairs);
		budget.rehearsal_failed();
	}
	EXPECT_EQ(due, (std::vector<uint32_t>{2, 8}));
}

TEST(Budget, IsUsedAndNotOverrunWhateverTheMachine)
{
	for (const double budget_s : {5.0, 15.0, 60.0, 600.0})
		for (const size_t cells : {1, 2, 27})
			for (const uint64_t messages_ns : {5 * kMs, 40 * kMs, 120 * kMs, 2 * kSecond})
				for (const uint64_t overhead_ns : {kMs / 2, 5 * kMs})
					for (const double share : {0.01, 0.1, 0.3}) {
						const Machine machine{budget_s, cells, 600 * kMs, messages_ns, overhead_ns, share, 0.1};
						const Result result = simulate(machine);
						SCOPED_TRACE(testing::PrintToString(machine));
						// Only a rehearsal reveals a slow report, and short runs have no time for one.
						EXPECT_LE(result.seconds, budget_s * 1.2);
						if (budget_s >= 15 && share <= 0.1) {
							EXPECT_LE(result.seconds, budget_s);
						}
						EXPECT_GE(result.seconds, budget_s * 0.8);
						EXPECT_TRUE(result.rounds_were_honest);
					}
}

TEST(Budget, RoundsThatAreExpectedComeTrue)
{
	for (const uint64_t messages_ns : {40 * kMs, 90 * kMs, kSecond}) {
		const Result result = simulate({60, 27, 600 * kMs, messages_ns, kMs, 0.06, 0.05});
		// When the first pair is planned, the time per message is unknown.
		for (size_t pair = 1; pair < result.expected_rounds.size(); pair++)
			EXPECT_NEAR(result.expected_rounds[pair], result.rounds, 2)
				<< "before pair " << pair << ", " << messages_ns;
	}
}

TEST(Budget, TheFirstPairIsMeasuredWhateverTheTime)
{
	Budget budget(kSecond, {10 * kMs});
	EXPECT_TRUE(budget.begin_pair(2 * kSecond));
	EXPECT_EQ(budget.rounds_expected(), 2u);
	EXPECT_EQ(budget.block_ns(0), 10 * kMs);
	budget.end_pair(3 * kSecond);
	EXPECT_FALSE(budget.begin_pair(3 * kSecond));
}

TEST(Budget, ACellThatNeedsLongerBlocksGetsThem)
{
	Budget budget(60 * kSecond, {10 * kMs, 10 * kMs});
	ASSERT_TRUE(budget.begin_pair(0));
	EXPECT_EQ(budget.block_ns(0), budget.block_ns(1));
	const uint32_t expected = budget.rounds_expected();
	budget.needs(1, 5 * kSecond);
	EXPECT_EQ(budget.block_ns(1), 5 * kSecond);
	EXPECT_LT(budget.block_ns(0), kSecond);
	EXPECT_LT(budget.rounds_expected(), expected) << "longer blocks are fewer";
	EXPECT_LE(budget.rounds_expected(), 12u);
}

TEST(Budget, OnlyACellThatIsSlowerThanPlannedMayNotFit)
{
	Budget budget(60 * kSecond, {10 * kMs, 40 * kSecond});
	ASSERT_TRUE(budget.begin_pair(0));
	budget.needs(0, 5 * kSecond);
	EXPECT_TRUE(budget.fits(0, 10 * kSecond));
	EXPECT_FALSE(budget.fits(0, 57 * kSecond));
	EXPECT_TRUE(budget.fits(1, 57 * kSecond));
}

TEST(Budget, ACellThatIsOverTakesNoTime)
{
	const auto rounds = [](bool one_is_over) {
		Budget budget(60 * kSecond, {3 * kSecond, 10 * kMs});
		if (one_is_over)
			budget.is_over(0);
		EXPECT_TRUE(budget.begin_pair(0));
		return budget.rounds_expected();
	};
	EXPECT_GT(rounds(true), 5 * rounds(false));
}

// A simulated run with one visit: in which pairs it was opened.
struct Opened {
	std::vector<uint32_t> at;
	uint32_t pairs = 0;
	uint64_t end_ns = 0;
};
Opened openings_of_a_run(uint64_t budget_ns, uint64_t block_ns, uint64_t open_ns)
{
	Opened opened;
	Budget budget(budget_ns, {10 * kMs});
	budget.opened(0, open_ns);
	uint64_t now_ns = open_ns;
	while (budget.begin_pair(now_ns)) {
		if (budget.opening_is_due(0)) {
			opened.at.push_back(opened.pairs);
			now_ns += open_ns;
			budget.opened(0, open_ns);
		}
		for (int block = 0; block < 2; block++) {
			const uint64_t took_ns = std::min(block_ns, budget.block_ns(0));
			now_ns += took_ns;
			budget.block_took(0, took_ns, took_ns < block_ns);
		}
		budget.end_pair(now_ns);
		opened.pairs++;
	}
	opened.end_ns = now_ns;
	return opened;
}

// A cheap and a dear arm of one cell: each is opened as often as both can be.
TEST(Openings, OfVisitsTogetherHaveOnePace)
{
	const auto openings = [](uint64_t dear_ns, const std::vector<size_t> &together) {
		Budget budget(60 * kSecond, {10 * kMs, 10 * kMs}, together);
		const std::array<uint64_t, 2> open_ns = {10 * kMs, dear_ns};
		std::array<int, 2> opened{};
		uint64_t now_ns = 0;
		budget.opened(0, open_ns[0]);
		budget.opened(1, open_ns[1]);
		while (budget.begin_pair(now_ns)) {
			const std::array<bool, 2> due = {budget.opening_is_due(0), budget.opening_is_due(1)};
			for (size_t v = 0; v < 2; v++) {
				if (due[v]) {
					opened[v]++;
					now_ns += open_ns[v];
					budget.opened(v, open_ns[v]);
				}
				budget.block_took(v, 20 * kMs, false);
				now_ns += 40 * kMs;
			}
			budget.end_pair(now_ns);
		}
		return opened;
	};
	const std::array<int, 2> apart = openings(300 * kMs, {}), together = openings(300 * kMs, {0, 0});
	EXPECT_GT(apart[0], 2 * apart[1]);
	EXPECT_EQ(together[0], together[1]);
	EXPECT_LT(together[0], apart[0] / 2) << "the dear one isn't opened at the cheap one's pace";
	EXPECT_GT(together[0], apart[1]) << "nor the cheap one at the dear one's: what both cost counts";
}

TEST(Openings, AreOfTwoPairsWhereThereAreMany)
{
	const Opened run = openings_of_a_run(20 * kSecond, 50 * kMs, 10 * kMs);
	EXPECT_GT(run.pairs, 100u);
	EXPECT_GT(run.at.size(), run.pairs / 2 - 3);
	for (const uint32_t pair : run.at)
		EXPECT_EQ(pair % 2, 0u);
	EXPECT_LE(run.end_ns, 20 * kSecond);
}

TEST(Openings, AreOfOnePairWhereThereAreFew)
{
	const Opened run = openings_of_a_run(2 * kSecond, 200 * kMs, 10 * kMs);
	EXPECT_GE(run.pairs, 4u);
	EXPECT_EQ(run.at.size(), run.pairs - 1);
}

TEST(Openings, AreFewerWhereTheyTakeLong)
{
	const Opened run = openings_of_a_run(60 * kSecond, 50 * kMs, 2 * kSecond);
	EXPECT_GE(run.at.size() + 1, 4u) << "enough for an interval";
	EXPECT_LE(run.at.size() + 1, 8u);
	EXPECT_LE(run.end_ns, 60 * kSecond);
}

TEST(Openings, AreOneWhereMoreWouldOnlyTakeTime)
{
	const Opened run = openings_of_a_run(10 * kSecond, 50 * kMs, 5 * kSecond);
	EXPECT_TRUE(run.at.empty());
	EXPECT_GT(run.pairs, 20u);
}

} // namespace
} // namespace icepath::run
