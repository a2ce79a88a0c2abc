// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/judge.h"

#include <gtest/gtest.h>

#include "profiler/analysis/analyse.h"
#include "tests/report/two_cells.h"
#include "tests/rundir/example_run.h"

namespace icepath::gate {
namespace {

constexpr const char *kFirst = "tcp pingpong block processes 64B own",
					 *kSecond = "udp pingpong block processes 64B own";

// Two cells of 12 openings. Messages of the first take 5300 ns, and up to 1007 ns more; those of the second 1000 ns
// more than these.
class Judged : public testing::Test {
protected:
	Judged() : result(two_cells()) {}

	static analysis::RunResult two_cells(bool probed = true)
	{
		const rundir::TemporaryDirectory temporary;
		TwoCells cells = {"tcp", "udp", [](uint32_t cell, uint32_t round, uint64_t seq) {
							  return cell * 1000 + seq * 37 % 1000 + round % 5 * 2;
						  }};
		cells.probed = probed;
		cells.messages = 300;
		write_two_cells(temporary.path("run"), cells);
		return analysis::analyse(temporary.path("run"));
	}

	Judgement judged(const std::vector<std::string> &expectations, const std::string &cells = kFirst)
	{
		Gate gate = gate_of_all(expectations, "test");
		gate.cells = {cells};
		return judge(result, {gate});
	}
	Outcome only(const std::string &expectation, const std::string &cells = kFirst)
	{
		const Judgement judgement = judged({expectation}, cells);
		EXPECT_EQ(judgement.outcomes.size(), 1u);
		return judgement.outcomes.at(0);
	}
	void expect(const std::string &expectation, Status status, Reason reason = Reason::None)
	{
		const Outcome outcome = only(expectation);
		EXPECT_EQ(outcome.status, status)
			<< expectation << ": " << kStatusNames[static_cast<size_t>(outcome.status)] << ", reason "
			<< static_cast<int>(outcome.reason)
			<< (outcome.measured ? ", value " + std::to_string(outcome.measured->value) : "")
			<< (outcome.measured && outcome.measured->interval
					? " from " + std::to_string(outcome.measured->interval->low) + " to " +
						  std::to_string(outcome.measured->interval->high)
					: "");
		EXPECT_EQ(outcome.reason, reason) << expectation;
	}

	analysis::RunResult result;
};

TEST_F(Judged, IsMetOrMissedOutsideOfTheInterval)
{
	expect("p50 < 8us", Status::Met);
	expect("p50 < 5us", Status::Missed);
	expect("p50 > 5us", Status::Met);
	expect("p50 >= 8us", Status::Missed);
	expect("p99 < 8us", Status::Met);
	expect("mean < 8us", Status::Met);
	expect("mean < 5us", Status::Missed);
	expect("max <= 6307ns", Status::Met);
	expect("max < 6us", Status::Missed);
	expect("lost == 0", Status::Met);
	expect("lost > 0", Status::Missed);
	expect("lost < 0.1%", Status::Met);
	expect("rate > 1/s", Status::Undecided, Reason::NoInterval); // 12 blocks
	result = two_cells(false);
	expect("rate > 1/s", Status::Met);
	expect("rate > 1000M/s", Status::Missed);
}

TEST_F(Judged, IsUndecidedWhereTheIntervalContainsTheLimit)
{
	for (const char *figure : {"p50", "p99", "mean", "layer(runqueue)", "rate"}) {
		if (figure == std::string("rate"))
			result = two_cells(false);
		const Outcome found = only(std::string(figure) + (figure == std::string("rate") ? " > 1/s" : " > 1ns"));
		ASSERT_TRUE(found.measured && found.measured->interval) << figure;
		const stats::Interval &interval = *found.measured->interval;
		ASSERT_LT(interval.low, interval.high) << figure;
		EXPECT_LE(interval.low, found.measured->value) << figure;
		EXPECT_GE(interval.high, found.measured->value) << figure;
		Gate gate = gate_of_all({figure + std::string(" < 1") + (figure == std::string("rate") ? "/s" : "us")}, "test");
		gate.cells = {kFirst};
		for (const double at : {interval.low, (interval.low + interval.high) / 2, interval.high}) {
			gate.expectations[0].limit = at;
			const Judgement judgement = judge(result, {gate});
			EXPECT_EQ(judgement.outcomes[0].status, Status::Undecided) << figure;
			EXPECT_EQ(judgement.outcomes[0].reason, Reason::Interval) << figure;
			EXPECT_EQ(exit_code(judgement), ExitCode::Invalid);
		}
		gate.expectations[0].limit = interval.high * 1.001;
		EXPECT_EQ(judge(result, {gate}).outcomes[0].status, Status::Met) << figure;
		gate.expectations[0].limit = interval.low * 0.999;
		EXPECT_EQ(judge(result, {gate}).outcomes[0].status, Status::Missed) << figure;
	}
}

TEST_F(Judged, LayersAreThoseOfTheReport)
{
	expect("layer(sender.kernel) < 1301ns", Status::Met);
	expect("layer(sender.kernel) < 1299ns", Status::Missed);
	expect("layer(relay.user) <= 0ns", Status::Met);
	expect("tail99(runqueue) > 2us", Status::Met);
	expect("tail99(runqueue) < 2us", Status::Missed);
	result.cells[0].paths.incomplete[1] = result.cells[0].paths.deliveries;
	result.cells[0].paths.deliveries *= 2;
	expect("layer(sender.kernel) < 1301ns", Status::Undecided, Reason::UnknownPaths);
}

TEST_F(Judged, RatiosAreWithinRounds)
{
	const Outcome found = only("ratio(" + std::string(kSecond) + ") < 0.95");
	EXPECT_EQ(found.status, Status::Met);
	EXPECT_NEAR(found.measured->value, 5.8 / 6.8, 0.01);
	expect("ratio(" + std::string(kSecond) + ") > 1", Status::Missed);
	expect("ratio(sctp pingpong block processes 64B own) < 1", Status::Missing, Reason::NoOther);
	expect("ratio(" + std::string(kFirst) + ") < 1", Status::Missing, Reason::ItsOwnKey);
	expect("ratio(udp *) < 0.95", Status::Met);
	expect("ratio(*) < 1", Status::Missing, Reason::NoOther);
}

TEST_F(Judged, WhatIsMissingNeverPasses)
{
	EXPECT_EQ(only("p50 < 8us", "sctp *").reason, Reason::NoCell);
	EXPECT_EQ(exit_code(judged({"p50 < 8us"}, "sctp *")), ExitCode::Usage);
	expect("p99.999 < 1s", Status::Missing, Reason::TooFew);
	EXPECT_EQ(exit_code(judged({"p99.999 < 1s"})), ExitCode::Usage);
	result.cells[0] = {};
	result.cells[0].cell = result.head.cells[0];
	for (const char *all : {"p50 < 8us", "mean < 8us", "max < 8us", "lost == 0", "cpu < 1s", "rate > 0/s",
							"layer(wakeup) < 1s", "tail99(wakeup) < 1s"})
		EXPECT_EQ(only(all).status, Status::Missing) << all;
	EXPECT_EQ(exit_code(judged({"lost == 0"})), ExitCode::Usage);
	EXPECT_EQ(exit_code(judge(result, {})), ExitCode::Usage);
}

TEST_F(Judged, FewOpeningsDecideNothing)
{
	result.cells[0].openings.count = stats::kMinBlocks - 1;
	expect("p50 < 8us", Status::Undecided, Reason::FewOpenings);
	expect("mean < 8us", Status::Undecided, Reason::FewOpenings);
	expect("lost == 0", Status::Met); // which was counted
}

// Time that no probe shows counts as another layer's, and the layer would seem to take none.
TEST_F(Judged, ALayerWhoseProbeIsMissingHasNoFigure)
{
	expect("layer(preempted) <= 0ns", Status::Met);
	result.head.probes = {{"queue, preempted/busy", "nothing, without x (no fentry)", "none"}};
	expect("layer(preempted) <= 0ns", Status::Met); // of a part
	result.head.probes = {{"queue, preempted", "another, without x (no fentry)", "none"}};
	expect("layer(preempted) <= 0ns", Status::Met); // by lesser evidence
	result.head.probes = {{"runqueue, preempted (after a hidden task)", "nothing, without x (no fentry)", "none"}};
	expect("layer(preempted) <= 0ns", Status::Met); // of some time only
	result.head.probes = {
		{"sender.kernel (of a library's calls)", "nothing: all of the library's calls counts", "none"}};
	expect("layer(sender.kernel) < 1301ns", Status::Met); // which a transport hasn't
	result.cells[0].cell.mechanisms.add(model::Mechanism::LibraryCalls);
	expect("layer(sender.kernel) < 1301ns", Status::Missing, Reason::NoProbeOfLayer);
	result.head.probes = {{"queue, preempted", "nothing, without x (no fentry)", "none"}};
	expect("layer(preempted) <= 0ns", Status::Missing, Reason::NoProbeOfLayer);
	expect("tail99(queue) < 1s", Status::Missing, Reason::NoProbeOfLayer);
	expect("layer(sender.kernel) < 1301ns", Status::Met);
	EXPECT_EQ(exit_code(judged({"layer(preempted) < 5us"})), ExitCode::Usage);
}

TEST_F(Judged, LossesDecideByWhatTheFigureLeavesOut)
{
	const std::string ratio = "ratio(" + std::string(kSecond) + ") < 0.95";
	const auto lose = [&](double share) {
		result.cells[0].messages.lost =
			static_cast<uint64_t>(share * static_cast<double>(result.cells[0].messages.sent));
	};
	result.cells[0].messages.sent = 100'000;
	for (const auto &[expectation, allowed] :
		 std::initializer_list<std::pair<std::string, double>>{{"p50 < 8us", 0.05},
															   {"p99 < 8us", 0.001},
															   {ratio, 0.01},
															   {"tail99(runqueue) < 1s", 0.001},
															   {"layer(runqueue) < 1s", 0.1},
															   {"mean < 8us", 0},
															   {"max < 8us", 0}}) {
		lose(allowed);
		expect(expectation, Status::Met);
		lose(allowed + 0.0002);
		EXPECT_EQ(only(expectation).status, Status::Undecided) << expectation;
	}
	expect("mean < 1us", Status::Missed); // those that came already take longer
	expect("max < 1us", Status::Missed);
	expect("mean > 1us", Status::Undecided, Reason::LostMessages);
	lose(0.01);
	expect("tail99(runqueue) < 1ns", Status::Undecided, Reason::LostMessages); // lost ones are the tail
	const auto openings = result.cells[0].openings;
	result.cells[0].openings.count = stats::kMinBlocks - 1;
	expect("mean < 1us", Status::Undecided, Reason::LostMessages); // as without losses
	result.cells[0].openings = openings;
	lose(0);
	result.cells[1].messages.lost = result.cells[1].messages.sent / 50;
	expect(ratio, Status::Undecided, Reason::LostMessages); // the other one's
	result.cells[1].messages.lost = 0;
	result.cells[1].blocks.failed = 1;
	expect(ratio, Status::Undecided, Reason::FailedBlocks);
}

TEST_F(Judged, ARatioIsOfCellsThatDoNotSetTheirRate)
{
	for (const size_t cell : {0u, 1u}) {
		result.cells[cell].cell.limits.emplace();
		const Outcome found = only("ratio(*udp*) < 0.95", "tcp *");
		EXPECT_EQ(found.reason, Reason::OwnRate) << cell;
		EXPECT_EQ(found.status, Status::Missing);
		result.cells[cell].cell.limits.reset();
	}
}

// What is measured once more shows whether equals differ. Nobody expects anything of it, unless by its name.
TEST_F(Judged, TheControlIsOnlyMeantByItsName)
{
	for (const char *name : {"base", "base-again"})
		result.head.arms.push_back({.name = name, .is_control = name == std::string("base-again")});
	for (size_t cell = 0; cell < 2; ++cell) {
		result.cells[cell].cell.target = "tcp";
		result.cells[cell].cell.arm = result.head.arms[cell].name;
	}
	EXPECT_EQ(judged({"p50 < 8us"}, "*").outcomes.size(), 1u);
	EXPECT_EQ(judged({"p50 < 8us"}, "tcp *").outcomes.at(0).cell, 0u);
	EXPECT_EQ(judged({"p50 < 8us"}, "*arm=base-again").outcomes.at(0).cell, 1u);
	EXPECT_EQ(judged({"ratio(tcp *) < 1"}, "*arm=base-again").outcomes.at(0).reason, Reason::None)
		<< "the pattern means one cell";
}

TEST_F(Judged, MessagesThatNeverCameTookLongerThanAnyLimit)
{
	result.cells[0].messages.lost = result.cells[0].messages.sent / 50; // 2 %
	expect("p50 < 8us", Status::Met);
	expect("p99 < 8us", Status::Undecided, Reason::LostMessages);
	expect("max < 1s", Status::Undecided, Reason::LostMessages);
}

TEST_F(Judged, WhatIsMetInSpiteOfFailedBlocksIsUndecided)
{
	result.cells[0].blocks.failed = 1;
	expect("p50 < 8us", Status::Undecided, Reason::FailedBlocks);
	expect("p50 < 5us", Status::Missed);
}

TEST_F(Judged, ARunThatIsNotWholeNeverPasses)
{
	result.tail->interrupted = true;
	expect("p50 < 8us", Status::Undecided, Reason::NotWhole);
	EXPECT_EQ(exit_code(judged({"p50 < 8us"})), ExitCode::Invalid);
	Gate warns = gate_of_all({"p50 < 8us"}, "test");
	warns.undecided = Undecided::Warns;
	EXPECT_EQ(exit_code(judge(result, {warns})), ExitCode::Invalid);
	result.tail->interrupted = false;
	result.truncated = true;
	EXPECT_EQ(exit_code(judged({"p50 < 8us"})), ExitCode::Invalid);
}

TEST_F(Judged, EachPatternMatchesACell)
{
	Gate gate = gate_of_all({"p50 < 8us"}, "test");
	gate.cells = {"*", "sctp *"};
	const Judgement judgement = judge(result, {gate});
	EXPECT_EQ(judgement.outcomes[0].reason, Reason::NoCell);
	EXPECT_EQ(judgement.outcomes[0].pattern, "sctp *");
	EXPECT_EQ(exit_code(judgement), ExitCode::Usage);
	try {
		check_gates({gate}, gated_cells(result));
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_NE(std::string(failure.what()).find("no cell of this run has a key like \"sctp *\""), std::string::npos);
	}
}

TEST_F(Judged, AGateThatWarnsFailsForWhatIsMissing)
{
	result.cells[0].blocks.failed = 1;
	Gate warns = gate_of_all({"p50 < 8us"}, "test");
	warns.undecided = Undecided::Warns;
	EXPECT_EQ(exit_code(judge(result, {warns})), ExitCode::Invalid);
}

TEST_F(Judged, TheWorstDecidesTheExitCode)
{
	Gate warns = gate_of_all({"p50 < 8us"}, "warns");
	warns.undecided = Undecided::Warns;
	warns.expectations[0].limit = static_cast<double>(*result.cells[0].times.latency.percentiles[0]);
	warns.cells = {kFirst};
	EXPECT_EQ(exit_code(judge(result, {warns})), ExitCode::Ok);
	Gate fails = warns;
	fails.undecided = Undecided::Fails;
	EXPECT_EQ(exit_code(judge(result, {warns, fails})), ExitCode::Invalid);
	const Gate missed = gate_of_all({"p50 < 1us"}, "missed");
	EXPECT_EQ(exit_code(judge(result, {fails, missed})), ExitCode::TargetMissed);
	Gate missing = missed;
	missing.cells = {"sctp *"};
	EXPECT_EQ(exit_code(judge(result, {fails, missed, missing})), ExitCode::Usage);
	EXPECT_EQ(exit_code(judged({"p50 < 8us", "lost == 0"}, "*")), ExitCode::Ok);
}

TEST_F(Judged, ChecksBeforeMeasuring)
{
	const auto refused = [](const Gate &gate, const std::vector<GatedCell> &cells) -> std::string {
		try {
			check_gates({gate}, cells);
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			return failure.what();
		}
		return "";
	};
	Gate gate = gate_of_all({"p50 < 8us"}, "test");
	EXPECT_EQ(refused(gate, {{kFirst}}), "");
	gate.cells = {"tpc *"};
	EXPECT_NE(refused(gate, {{kFirst}, {kSecond}}).find(kFirst), std::string::npos);
	EXPECT_NE(refused(gate_of_all({"p50 slower < 3%"}, "test"), {{kFirst}}).find("icepath compare"), std::string::npos);
	EXPECT_THROW(judge(result, {gate_of_all({"p50 slower < 3%"}, "test")}), Failure);
}

} // namespace
} // namespace icepath::gate
