// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/stored_runs.h"

#include <gtest/gtest.h>

#include <limits>

#include "profiler/text/compare_words.h"
#include "tests/compare/made_runs.h"

namespace icepath::compare {
namespace {

constexpr size_t kMean = static_cast<size_t>(Figure::Mean);

// A library's cell, and one of a transport; the library's times vary from run to run by `off`.
analysis::RunResult run_with(double times, uint64_t seed)
{
	return made_run({{.target = "lib", .times = times}, {.target = "uds", .kind = model::kTransport}}, seed);
}

struct Runs {
	analysis::RunResult a = run_with(1, 1), b;
	std::vector<analysis::RunResult> repeats = {};
	std::string anchor = {};

	Comparison compared() const
	{
		HowToCompare how{.anchor = anchor};
		for (const analysis::RunResult &repeat : repeats)
			how.repeats.push_back({"again", &repeat});
		return compare_runs({"one", &a}, {"two", &b}, how);
	}
};

TEST(StoredRuns, WithoutADriftThereIsNoVerdict)
{
	const Runs runs{.b = run_with(1.5, 2)};
	const Comparison comparison = runs.compared();
	EXPECT_FALSE(comparison.is_of_one_run);
	const Judged &mean = comparison.cells.at(0).figures[kMean];
	EXPECT_EQ(mean.verdict, Verdict::Undecided);
	EXPECT_EQ(mean.why, Why::DriftNotKnown);
	EXPECT_NEAR(mean.change.value(), 0.5, 0.02) << "it is shown nevertheless";
	EXPECT_EQ(comparison.cells[0].anchor_a, 1u);
	EXPECT_EQ(comparison.cells[1].figures[kMean].why, Why::NoAnchor) << "the transport itself has none";
}

TEST(StoredRuns, AVerdictIsBeyondMarginAndDrift)
{
	Runs runs{.b = run_with(1.5, 2), .repeats = {run_with(1.01, 3), run_with(0.99, 4), run_with(1.005, 5)}};
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].verdict, Verdict::Slower);
	runs.b = run_with(0.5, 2);
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].verdict, Verdict::Faster);
	runs.b = run_with(1.05, 2);
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::WithinDrift) << "5 % is beyond 3, but not the drift";
	runs.b = run_with(1, 2);
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].verdict, Verdict::Undecided) << "never the same";
	runs.repeats = {run_with(1.4, 3), run_with(0.7, 4), run_with(1.2, 5)};
	runs.b = run_with(1.5, 2);
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::WithinDrift) << "such runs differ by themselves";
	runs.repeats.resize(1);
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::DriftNotKnown);
}

TEST(StoredRuns, OfOtherConditionsAreShownAndNotJudged)
{
	Runs runs{.b = run_with(1.5, 2), .repeats = {run_with(1.01, 3), run_with(0.99, 4), run_with(1.005, 5)}};
	runs.b.head.host.kernel = "6.12";
	const Comparison comparison = runs.compared();
	ASSERT_EQ(comparison.conditions.size(), 1u);
	EXPECT_EQ(comparison.conditions[0], (Condition{ConditionId::Kernel, "6.1", "6.12", Keeps::Verdicts}));
	const Judged &mean = comparison.cells[0].figures[kMean];
	EXPECT_EQ(mean.verdict, Verdict::NotComparable);
	EXPECT_EQ(mean.why, Why::Conditions);
	EXPECT_TRUE(mean.a && mean.b) << "both stand beside each other";
	EXPECT_FALSE(mean.change);
}

TEST(StoredRuns, EachConditionIsOne)
{
	const auto id_of = [](const std::function<void(model::Head &)> &change) {
		model::Head a, b;
		a.host.hostname = b.host.hostname = "here";
		a.host.kernel = b.host.kernel = "6.1";
		change(b);
		const std::vector<Condition> conditions = differing_runs(a, b);
		return conditions.size() == 1 ? std::optional(conditions[0].id) : std::nullopt;
	};
	EXPECT_EQ(id_of([](model::Head &head) { head.host.hostname = "x"; }), ConditionId::Machine);
	EXPECT_EQ(id_of([](model::Head &head) { head.host.cpu_model = "x"; }), ConditionId::Machine);
	EXPECT_EQ(id_of([](model::Head &head) { head.host.cpus_online = 3; }), ConditionId::Machine);
	EXPECT_EQ(id_of([](model::Head &head) { head.host.kernel_version = "x"; }), ConditionId::Kernel);
	EXPECT_EQ(id_of([](model::Head &head) { head.host.mitigations = {{"a", "b"}}; }), ConditionId::Mitigations);
	EXPECT_EQ(id_of([](model::Head &head) { head.host.clocksource = "x"; }), ConditionId::Clock);
	EXPECT_EQ(id_of([](model::Head &head) { head.isolation.level = model::IsolationLevel::Full; }),
			  ConditionId::Isolation);
	EXPECT_EQ(id_of([](model::Head &head) { head.isolation.daemon_cpus = "3"; }), ConditionId::DaemonCpus);
	EXPECT_EQ(id_of([](model::Head &head) { head.probes = {{"wakeup", "p", "kprobe"}}; }), ConditionId::Tier);
	EXPECT_EQ(id_of([](model::Head &head) { head.icepath_version = "9"; }), ConditionId::Icepath);
	EXPECT_EQ(id_of([](model::Head &) {}), std::nullopt);
	model::Cell a, b;
	b.granted[ICEPATH_QOS_RELIABILITY] = 1;
	ASSERT_EQ(differing_cells(a, b, false).size(), 1u);
	EXPECT_EQ(differing_cells(a, b, false)[0].id, ConditionId::Qos);
	EXPECT_EQ(differing_cells(a, b, false)[0].keeps, Keeps::Verdicts);
	EXPECT_EQ(differing_cells(a, b, true)[0].keeps, Keeps::Nothing) << "an arm's configuration is what is compared";
}

// A machine that neither run recorded isn't known to be the same.
TEST(StoredRuns, WhatNobodyRecordedIsNotTheSame)
{
	Runs runs{.b = run_with(1.5, 2), .repeats = {run_with(1.01, 3), run_with(0.99, 4), run_with(1.005, 5)}};
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].verdict, Verdict::Slower);
	runs.a.head.host.kernel = runs.b.head.host.kernel = "";
	const Comparison comparison = runs.compared();
	ASSERT_EQ(comparison.conditions.size(), 1u);
	EXPECT_EQ(comparison.conditions[0], (Condition{ConditionId::Kernel, "", "", Keeps::Verdicts}));
	EXPECT_EQ(comparison.cells[0].figures[kMean].why, Why::Conditions);
	EXPECT_EQ(text::condition_words(comparison.conditions[0]), "kernel: not recorded");
	EXPECT_EQ(text::keeps_words(comparison.conditions[0]), "not known to be the same, so there is no verdict");
}

TEST(StoredRuns, AFasterOneWithLossesIsToldWithThem)
{
	Runs runs{.b = run_with(0.5, 2), .repeats = {run_with(1.01, 3), run_with(0.99, 4), run_with(1.005, 5)}};
	for (stats::BlockValue &block : runs.b.cells[0].block_figures.lost)
		block.value = 0.3;
	const Comparison comparison = runs.compared();
	const Judged &mean = comparison.cells[0].figures[kMean];
	EXPECT_EQ(text::verdict_words(comparison, mean), "faster; one lost none, two 30.00 %");
	EXPECT_EQ(comparison.cells[0].figures[static_cast<size_t>(Figure::Cpu)].why, Why::LostMessages);
	for (stats::BlockValue &block : runs.b.cells[0].block_figures.mean_ns) // more than the figure leaves out
		block.value = std::numeric_limits<double>::infinity();
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::LostMessages);
	EXPECT_FALSE(runs.compared().cells[0].figures[kMean].b);
}

TEST(StoredRuns, OfARunThatIsNotWholeNothingIsFaster)
{
	Runs runs{.b = run_with(0.5, 2), .repeats = {run_with(1.01, 3), run_with(0.99, 4), run_with(1.005, 5)}};
	runs.b.tail->interrupted = true;
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::NotWhole);
	runs.b = run_with(1.5, 2);
	runs.b.tail.reset();
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].verdict, Verdict::Slower);
	EXPECT_FALSE(runs.compared().is_whole);
}

TEST(StoredRuns, ReasonsWhyFiguresAreNotCompared)
{
	Runs runs{.b = run_with(1, 2), .anchor = "nothing like it"};
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::NoAnchor);
	runs.anchor = "uds";
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::DriftNotKnown);
	EXPECT_EQ(runs.compared().cells[0].figures[static_cast<size_t>(Figure::Lost)].why, Why::NoSharedRounds);
	EXPECT_EQ(runs.compared().cells[0].figures[static_cast<size_t>(Figure::Slow)].why, Why::OneMode);
	runs.b.cells[0].block_figures = {};
	EXPECT_EQ(runs.compared().cells[0].figures[kMean].why, Why::NoBlocksInB);
	runs.b = made_run({{.target = "elsewhere"}, {.target = "uds", .kind = model::kTransport}});
	const Comparison comparison = runs.compared();
	ASSERT_EQ(comparison.cells.size(), 3u);
	EXPECT_EQ(comparison.cells[0].figures[kMean].why, Why::OnlyInA);
	EXPECT_EQ(comparison.cells[2].figures[kMean].why, Why::OnlyInB);
}

} // namespace
} // namespace icepath::compare
