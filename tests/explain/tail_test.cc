// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/tail.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <regex>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/mode_difference.h"
#include "profiler/explain/remedies.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/tail_lines.h"
#include "tests/explain/tails.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::explain {
namespace {

TEST_F(Tail, GrowthsOfTheLayersAddUpToThatOfTheLatency)
{
	const TailExplanation tail = tail_of(run_with(temporary, {}));
	ASSERT_NE(tail.verdict, TailVerdict::TooFew) << told(tail);
	int64_t growth = 0;
	for (const KindDifference &kind : tail.growth.kinds)
		for (const DifferenceRow &row : kind.rows)
			growth += row.of.ns();
	EXPECT_EQ(growth, tail.growth.of.ns());
	EXPECT_EQ(tail.growth.kinds[0].kind, analysis::LayerKind::WaitingForCpu);
	const DifferenceRow &most = tail.growth.kinds[0].rows[0];
	EXPECT_EQ(most.layer, model::Layer::Runqueue);
	EXPECT_NEAR(static_cast<double>(most.of.ns()), static_cast<double>(kTailSlowerBy), 0.02 * kTailSlowerBy);
	ASSERT_TRUE(most.of.share_interval);
	EXPECT_LE(most.of.share_interval->low, tail.growth.share(most.of));
	EXPECT_NEAR(most.of.share_interval->high, 1, 0.05);
}

TEST_F(Tail, IsExplainedByWhatHadTheCpu)
{
	const TailExplanation tail = tail_of(run_with(temporary, {}));
	EXPECT_EQ(tail.verdict, TailVerdict::Explained);
	ASSERT_FALSE(tail.causes.empty());
	EXPECT_EQ(tail.causes[0].messages, tail.messages);
	EXPECT_DOUBLE_EQ(tail.causes[0].share, 1);
	EXPECT_FALSE(tail.causes[0].lift()) << "no typical message met it";
	EXPECT_NEAR(tail.causes[0].when_there_ns, static_cast<double>(kTailSlowerBy), 0.02 * kTailSlowerBy);
	double named_ns = 0; // all of it in runqueue, which has no name in typical messages
	for (const Cause &cause : tail.causes)
		named_ns += cause.growth_ns;
	const DifferenceFigures &most = tail.growth.kinds[0].rows[0].of;
	EXPECT_GT(named_ns, 0.95 * static_cast<double>(most.ns()));
	EXPECT_LE(named_ns, static_cast<double>(most.a_ns)) << "no nanosecond is counted twice";
	EXPECT_DOUBLE_EQ(tail.named, std::min(1.0, named_ns / static_cast<double>(tail.growth.of.ns())));
	EXPECT_EQ(tail.blocks, tail.of_blocks);
	ASSERT_FALSE(tail.remedies.empty());
	EXPECT_EQ(tail.remedies[0].id, RemedyId::Task);
}

TEST(Causes, AreComparedWithTypicalMessages)
{
	Cause cause;
	cause.share = 0.6;
	cause.other_share = 0.2;
	EXPECT_NEAR(*cause.lift(), 3, 1e-9);
}

// Layers of as many messages, in such blocks.
analysis::Breakdown layers_of(size_t messages, size_t of_each_block = SIZE_MAX)
{
	analysis::Breakdown layers;
	for (size_t i = 0; i < messages; ++i) {
		path::Path path;
		path.recv_ns = 1000;
		layers.add(path, {});
		if (i % of_each_block == of_each_block - 1)
			layers.end_block(of_each_block, static_cast<uint32_t>(i / of_each_block));
	}
	return layers;
}

TEST(Causes, AreMeansOverTheMessagesThatTheySayTheyAre)
{
	const analysis::Culprits a = culprits_of(
		{{{kFirstTask, 100}, {kFirstTask, 40, model::Part::IdleExit}}, {{kFirstTask, 60}}, {{kSecondTask, 1000}}});
	const analysis::Breakdown of_a = layers_of(4), of_b = layers_of(10);
	const std::vector<Cause> causes = causes_of({a, of_a}, {culprits_of({{{kFirstTask, 30}}}), of_b});
	ASSERT_EQ(causes.size(), 2u);
	EXPECT_EQ(causes[0].name, "second") << "the greatest growth first";
	EXPECT_EQ(causes[0].origin, analysis::Origin::OthersTask);
	EXPECT_EQ(causes[1].origin, analysis::Origin::OwnThread);
	EXPECT_DOUBLE_EQ(causes[0].growth_ns, 1000.0 / 4);
	EXPECT_FALSE(causes[0].lift());
	const Cause &first = causes[1];
	EXPECT_EQ(first.messages, 2u) << "a message with two parts is one";
	EXPECT_DOUBLE_EQ(first.share, 2.0 / 4);
	EXPECT_DOUBLE_EQ(first.other_share, 1.0 / 10);
	EXPECT_DOUBLE_EQ(first.when_there_ns, 200.0 / 2);
	EXPECT_DOUBLE_EQ(first.growth_ns, 200.0 / 4 - 30.0 / 10);
	EXPECT_FALSE(first.is_told()) << "one block is no evidence";
}

// Twenty blocks of two messages in A and of two in B.
bool is_told(const std::function<std::vector<WaitFor>(size_t message)> &a,
			 const std::function<std::vector<WaitFor>(size_t message)> &b)
{
	std::vector<std::vector<WaitFor>> of_a, of_b;
	for (size_t i = 0; i < 40; ++i) {
		of_a.push_back(a(i));
		of_b.push_back(b(i));
	}
	const analysis::Breakdown layers = layers_of(40, 2);
	return causes_of({culprits_of(of_a, "first", 2), layers}, {culprits_of(of_b, "first", 2), layers}).at(0).is_told();
}

TEST(Causes, AreToldWhereTheyAreLongerAndMoreOften)
{
	const auto each = [](uint64_t ns) { return [ns](size_t) -> std::vector<WaitFor> { return {{kFirstTask, ns}}; }; };
	const auto one_in = [](size_t many, uint64_t ns) {
		return [many, ns](size_t i) -> std::vector<WaitFor> {
			return i % many == 0 ? std::vector<WaitFor>{{kFirstTask, ns}} : std::vector<WaitFor>();
		};
	};
	EXPECT_TRUE(is_told(each(500), one_in(8, 500)));
	EXPECT_TRUE(is_told(one_in(2, 500), one_in(SIZE_MAX, 0)));
	EXPECT_TRUE(is_told(each(500), each(300))) << "always there, and longer";
	EXPECT_FALSE(is_told(one_in(2, 900), each(300))) << "longer, but less often";
	EXPECT_FALSE(is_told(one_in(20, 900), one_in(20, 300))) << "longer, and as often";
	EXPECT_FALSE(is_told(one_in(13, 500), one_in(SIZE_MAX, 0))) << "in four blocks of twenty";
}

// Forty tasks take turns, each in one of twenty blocks: which of them isn't told, and what they are is.
TEST(Causes, OfManyNamesAreToldByWhatTheyAre)
{
	const auto turns = [](size_t many, uint64_t ns) {
		std::vector<std::vector<WaitFor>> messages(40);
		for (size_t i = 0; i < messages.size(); i += many)
			messages[i].push_back({{path::Culprit::Kind::Task, static_cast<uint32_t>(100 + i), 0}, ns});
		return culprits_of(messages, "first", 2);
	};
	const analysis::Breakdown layers = layers_of(40, 2);
	const auto all_count = [&](const analysis::Culprits &a, const analysis::Culprits &b) {
		const std::vector<Cause> causes = causes_of({a, layers}, {b, layers});
		EXPECT_TRUE(std::ranges::none_of(causes, &Cause::is_told));
		return std::ranges::all_of(causes, &Cause::counts);
	};
	EXPECT_TRUE(all_count(turns(1, 500), turns(8, 500)));
	EXPECT_TRUE(all_count(turns(1, 500), turns(1, 300))) << "always there, and longer";
	EXPECT_FALSE(all_count(turns(1, 500), turns(1, 900))) << "the others waited longer";
	EXPECT_FALSE(all_count(turns(20, 900), turns(20, 300))) << "as often";
	EXPECT_FALSE(all_count(turns(13, 500), turns(40, 1))) << "in four blocks of twenty";
}

TEST(Causes, OfNamesThatDifferByNumbersAreOne)
{
	const auto named = [](const std::vector<std::string> &names) {
		path::Observations seen;
		analysis::Culprits culprits;
		for (uint32_t tid = 1; const std::string &name : names) {
			seen.task_names[tid] = name;
			path::Path path;
			path.recv_ns = 100;
			path.segments.push_back({model::Layer::Runqueue, model::Part::None, 1, 2, {}, {100, {}}, {}});
			path.shares.push_back({0, {path::Culprit::Kind::Task, tid++, 0}, 100});
			culprits.add(path, seen);
		}
		return culprits.top(9);
	};
	const std::vector<analysis::CulpritRow> rows = named({"x-1", "x-12", "y-7"});
	ASSERT_EQ(rows.size(), 2u);
	EXPECT_EQ(rows[0].name, "x-*");
	EXPECT_EQ(rows[0].messages, 2u);
	EXPECT_EQ(rows[0].total_ns, 200u);
	EXPECT_EQ(rows[1].name, "y-7");
}

TEST_F(Tail, TableSaysWhichThreadsAreTheCellsOwn)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	cell.ranges.typical_culprits = {};
	cell.ranges.tail_culprits = culprits_of({{{kFirstTask, 9000}, {kSecondTask, 5000}}});
	text::Page page({.unicode = true}, 120);
	text::add_tail(page, result, 0, explain_tail(result.cells[0], result.head));
	const std::string told = page.take();
	EXPECT_TRUE(std::regex_search(told, std::regex("\n  first .* runqueue, a thread of its own\n"))) << told;
	EXPECT_TRUE(std::regex_search(told, std::regex("\n  second .* runqueue\n"))) << told;
}

TEST_F(Tail, VerdictIsByTheShareThatHasAName)
{
	analysis::CellResult cell = run_with(temporary, {}).cells[0];
	const TailExplanation before = explain_tail(cell, small_head());
	const stats::WeightedBlocks blocks = cell.ranges.tail->layers.blocks();
	const double all_ns = static_cast<double>(before.growth.of.ns()) * static_cast<double>(before.messages) /
						  static_cast<double>(blocks.weights.size());
	cell.ranges.typical_culprits = {};
	const auto verdict = [&](double share, path::Culprit who) {
		std::vector<std::vector<WaitFor>> one_in_each(blocks.weights.size(),
													  {{who, static_cast<uint64_t>(share * all_ns)}});
		cell.ranges.tail_culprits = culprits_of(one_in_each, "first", 1);
		return explain_tail(cell, small_head()).verdict;
	};
	EXPECT_EQ(verdict(0.81, kFirstTask), TailVerdict::Explained);
	EXPECT_EQ(verdict(0.79, kFirstTask), TailVerdict::Partly);
	EXPECT_EQ(verdict(0.41, kFirstTask), TailVerdict::Partly);
	EXPECT_EQ(verdict(0.39, kFirstTask), TailVerdict::Unexplained);
	EXPECT_EQ(verdict(0.9, {path::Culprit::Kind::IdleCpu, 0, 0}), TailVerdict::Unexplained) << "nothing to look for";
	EXPECT_TRUE(explain_tail(cell, small_head()).causes.empty());
	cell.ranges.tail_culprits =
		culprits_of({{{kFirstTask, static_cast<uint64_t>(0.9 * all_ns) * blocks.weights.size()}}});
	const TailExplanation once = explain_tail(cell, small_head());
	EXPECT_EQ(once.verdict, TailVerdict::Unexplained) << "all in one block: by chance";
	EXPECT_NEAR(once.by_chance, 0.9, 0.01);
}

TEST_F(Tail, ShowsTheCausesThatGrow)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	std::vector<WaitFor> waits;
	for (uint32_t task = 20; task < 28; ++task)
		waits.push_back({{path::Culprit::Kind::Task, task, 0}, 100'000 - task});
	cell.ranges.tail_culprits = culprits_of({waits});
	cell.ranges.typical_culprits = {};
	const auto printed = [&](bool all = false) {
		text::Page page({false, true}, 100);
		text::add_tail(page, result, 0, explain_tail(result.cells[0], result.head), all);
		return page.take();
	};
	std::string text = printed();
	EXPECT_NE(text.find("task 25"), std::string::npos) << text;
	EXPECT_EQ(text.find("task 26"), std::string::npos) << "six are shown\n" << text;
	EXPECT_TRUE(
		std::regex_search(text, std::regex("\n  2 more, .* µs of the growth together: icepath explain -v RUN\n")))
		<< text;
	EXPECT_NE(printed(true).find("task 27"), std::string::npos) << printed(true);
	EXPECT_EQ(printed(true).find(" more, "), std::string::npos) << printed(true);
	EXPECT_EQ(text.find("one bad moment"), std::string::npos) << text;
	cell.ranges.tail_culprits = culprits_of({{{kFirstTask, 1}}});
	cell.ranges.typical_culprits = culprits_of({{{kFirstTask, 1'000'000'000}}});
	text = printed();
	EXPECT_EQ(text.find("what took it"), std::string::npos) << text;
	EXPECT_NE(text.find("verdict   unexplained"), std::string::npos) << text;
}

TEST_F(Tail, OfFewKnownPathsIsNotExplained)
{
	analysis::CellResult cell = run_with(temporary, {}).cells[0];
	cell.ranges.tail_culprits = cell.ranges.typical_culprits = {}; // which are of other blocks
	analysis::LatencyRange few = *cell.ranges.tail;
	few.layers = {};
	path::Observations seen;
	path::Path path;
	path.recv_ns = kTailSlowerBy;
	path.segments.push_back({model::Layer::Runqueue, model::Part::None, 1, 2, {}, {}, {}});
	path.segments[0].end.at_ns = kTailSlowerBy;
	const auto refusal_with = [&](uint64_t messages, uint64_t of) {
		few.layers = {};
		few.messages = of;
		for (uint32_t message = 0; message < messages; ++message) {
			few.layers.add(path, seen);
			if (message % 3 == 2 || message + 1 == messages)
				few.layers.end_block(message % 3 + 1, message);
		}
		cell.ranges.tail = few;
		return told(explain_tail(cell, small_head()));
	};
	EXPECT_NE(refusal_with(9, 9).find("9 messages of the tail have a known path, in 3 blocks"), std::string::npos);
	EXPECT_EQ(refusal_with(10, 10), "");
	EXPECT_NE(refusal_with(49, 100).find("only 49 of 100 messages of the tail"), std::string::npos);
	EXPECT_EQ(refusal_with(50, 100), "");
	cell.ranges.tail = cell.ranges.typical;
	EXPECT_NE(told(explain_tail(cell, small_head())).find("take no longer than typical ones"), std::string::npos);
}

TEST_F(Tail, SaysWhichMessagesItIsNotOf)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	const auto text = [&] {
		text::Page page({false, true}, 500);
		text::add_tail(page, result, 0, explain_tail(cell, small_head()));
		return page.take();
	};
	EXPECT_EQ(text().find("unknown"), std::string::npos) << text();
	const uint64_t known = cell.paths.complete(), of_tail = cell.ranges.tail->messages;
	cell.paths.deliveries = known + 2;
	cell.ranges.tail->messages = of_tail + 2;
	EXPECT_NE(text().find(fmt::format("unknown   2 of {} messages of the tail have no known path, so the rest leaves "
									  "them out\n",
									  stats::count(of_tail + 2))),
			  std::string::npos)
		<< "though they are few of the cell's\n"
		<< text();
	cell.ranges.tail->messages = of_tail;
	cell.paths.deliveries = known + 10;
	cell.paths.deliveries_ns += 10 * 1e6;
	cell.ranges.tail->messages += 10;
	const size_t unknown = text().find(fmt::format("unknown   10 of {} messages of the tail have no known path, so "
												   "the rest leaves them out. Of all of the cell, 10 of "
												   "{} messages with probes have no known path. They take 1.00 ms each",
												   stats::count(of_tail + 10), stats::count(known + 10)));
	ASSERT_NE(unknown, std::string::npos) << text();
	EXPECT_LT(unknown, text().find("spread"));
}

// Every second message waits 3 µs for the hog, typical ones among them.
TEST_F(Tail, CountsWhatTypicalMessagesMetAsWell)
{
	const TailExplanation tail = tail_of(run_with(temporary, {.of = 2, .others_ns = 3000}));
	ASSERT_FALSE(tail.causes.empty());
	EXPECT_NEAR(tail.causes[0].other_share, 0.5, 0.1);
	EXPECT_NEAR(*tail.causes[0].lift(), 2, 0.4);
	EXPECT_NEAR(tail.causes[0].growth_ns, static_cast<double>(kTailSlowerBy) - 1500, 0.02 * kTailSlowerBy);
}

TEST_F(Tail, OfFewBlocksIsNotExplained)
{
	EXPECT_EQ(tail_of(run_with(temporary, {.blocks = 2, .every = 10})).verdict, TailVerdict::TooFew);
	// Any other percentile needs as many.
	const analysis::RunResult result =
		run_with(temporary, {.blocks = 2, .every = 10, .wanted = {.tail = stats::Percentile{99'500}, .message = {}}});
	const TailExplanation tail = explain_tail(result.cells[0], result.head);
	EXPECT_EQ(tail.verdict, TailVerdict::TooFew);
	EXPECT_NE(told(tail).find("in 2 blocks; 10 in 3 are needed"), std::string::npos) << told(tail);
}

// One message in fifty is slow, so that they are all of the tail from p99 on, and less than half of that from p95 on.
TEST_F(Tail, BeginsWhereItIsAskedTo)
{
	const auto from = [&](uint32_t per_100000) {
		return run_with(temporary, {.wanted = {.tail = stats::Percentile{per_100000}, .message = {}}});
	};
	const analysis::RunResult p95 = from(95'000), p99 = from(99'000), p99_9 = from(99'900);
	EXPECT_EQ(p95.cells[0].ranges.tail->from_ns, kPlainNs + 2000) << "one in ten waits for 2 µs";
	EXPECT_EQ(p99.cells[0].ranges.tail->from_ns, kPlainNs + kTailSlowerBy);
	const TailExplanation rare = explain_tail(p99_9.cells[0], p99_9.head, stats::kP99_9);
	EXPECT_EQ(rare.verdict, TailVerdict::TooFew) << "7200 messages have no p99.9";
	EXPECT_NE(told(rare).find("7200 messages with probes have no such tail"), std::string::npos) << told(rare);
	EXPECT_LT(explain_tail(p95.cells[0], p95.head).growth.of.ns(), explain_tail(p99.cells[0], p99.head).growth.of.ns());
	text::Page page({false, true}, 100);
	text::add_tail(page, p95, 0, explain_tail(p95.cells[0], p95.head));
	EXPECT_NE(page.take().find("the tail, from p95 on"), std::string::npos);
}

TEST_F(Tail, IsComparedWithThatWithoutProbes)
{
	const analysis::Wanted wanted{.tail = stats::kP99, .message = {}};
	const analysis::RunResult alike = run_with(temporary, {.wanted = wanted});
	EXPECT_EQ(explain_tail(alike.cells[0], alike.head).as_without_probes, true);
	const analysis::RunResult unlike = run_with(temporary, {.unprobed_slow_by = 5 * kTailSlowerBy, .wanted = wanted});
	EXPECT_EQ(explain_tail(unlike.cells[0], unlike.head).as_without_probes, false);
	const analysis::RunResult less = run_with(temporary, {.unprobed_slow_by = kTailSlowerBy / 5, .wanted = wanted});
	EXPECT_EQ(explain_tail(less.cells[0], less.head).as_without_probes, false);
	text::Page page({false, true}, 300);
	text::add_tail(page, unlike, 0, explain_tail(unlike.cells[0], unlike.head));
	const std::string text = page.take();
	EXPECT_NE(text.find("the tails differ"), std::string::npos) << text;
	EXPECT_NE(text.find("p99 is 205 µs (205 to 205) with probes, 1005 µs (1005 to 1005) without"), std::string::npos)
		<< text;
}

TEST_F(Tail, SaysHowManyBlocksItIsIn)
{
	const TailExplanation everywhere = tail_of(run_with(temporary, {}));
	EXPECT_NEAR(everywhere.most_of_one_block, 1.0 / 12, 0.01);
	const TailExplanation some = tail_of(run_with(temporary, {.blocks = 6, .every = 25}));
	EXPECT_EQ(some.blocks, 6u);
	EXPECT_EQ(some.of_blocks, 12u);
	EXPECT_NEAR(some.most_of_one_block, 1.0 / 6, 0.01);
}

TEST_F(Tail, IsPrintedForTheCellsThatWereAskedFor)
{
	const analysis::RunResult result = run_with(temporary, {});
	text::Page page({false, true}, 100);
	text::add_tail(page, result, 0, explain_tail(result.cells[0], result.head));
	const std::string text = page.take();
	EXPECT_NE(text.find("verdict   explained"), std::string::npos) << text;
	EXPECT_NE(text.find("= recv - send"), std::string::npos) << text;
	EXPECT_NE(text.find("measure while they"), std::string::npos) << "the machine has no other CPUs: " << text;
	const std::string run = temporary.path("run");
	EXPECT_NE(report::explanation_of(run, {.cell = "pingpong"}, {.unicode = true, .width = 100})
				  .text.find("verdict   explained"),
			  std::string::npos);
	EXPECT_THROW((void)report::explanation_of(run, {.cell = "no such cell"}, {}), Failure);
}

// What helps against the mode in which the tail without probes lies isn't said again of the growth.
TEST_F(Tail, AdviceStandsOnce)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	TailExplanation tail = explain_tail(cell, small_head());
	ASSERT_TRUE(tail.is_explained());
	Difference waking;
	DifferenceRow row{model::Layer::Wakeup, model::Part::None, path::Role::Receiver, 0, {}, {}};
	row.of.a_ns = waking.of.a_ns = 5000;
	row.of.interval = stats::Interval{4000, 6000};
	cell.cell.offers = model::Offers{{model::Wait::Poll}, 0, false};
	waking.kinds.push_back({analysis::LayerKind::Waking, {row}, row.of});
	cell.modes.all.resize(1);
	tail.growth = waking;
	tail.remedies = remedies_of(waking, {}, cell, result.head);
	ASSERT_EQ(tail.remedies.size(), 1u);
	tail.unprobed = UnprobedTail{0, ModeDifference{0, 0, waking}};
	text::Page page({false, true}, 400);
	text::add_tail(page, result, 0, tail);
	const std::string text = page.take();
	const std::string advice = text::advice(tail.remedies[0], cell.cell);
	const size_t first = text.find(advice);
	ASSERT_NE(first, std::string::npos) << text;
	EXPECT_EQ(text.find(advice, first + 1), std::string::npos) << text;
}

} // namespace
} // namespace icepath::explain
