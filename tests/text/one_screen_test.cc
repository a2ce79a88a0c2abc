// SPDX-License-Identifier: Apache-2.0
// The report on one screen: its verdict, its order, what it trusts, and that it is one screen.
#include "tests/report/one_screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fmt/format.h>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/trust.h"
#include "profiler/explain/verdict.h"
#include "profiler/model/cell_title.h"
#include "profiler/pages/html_report.h"
#include "profiler/text/columns.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/terminal.h"
#include "profiler/text/time_scale.h"
#include "profiler/text/verdict_words.h"
#include "tests/report/lines_of.h"

namespace icepath::text {
namespace {

using explain::Grade;
using model::Layer;
using model::Part;

std::string without_colour(std::string text)
{
	for (size_t at = text.find('\033'); at != std::string::npos; at = text.find('\033'))
		text.erase(at, text.find('m', at) + 1 - at);
	return text;
}

TEST(OneScreen, HoldsThirtyFiveCells)
{
	const std::string text = terminal_report(run_of_35_cells(), {.unicode = true, .width = 100});
	EXPECT_LE(lines_of(text).size(), 60u) << text;
	for (const std::string &line : lines_of(text))
		EXPECT_LE(columns(line), 100u) << line;
	EXPECT_NE(text.find(", 8.00 ms: 100.0 % runqueue, CPU 1 ran hog 8 (8)"), std::string::npos) << text;
	EXPECT_NE(text.find("\ntaken by  task hog 8 8.00 ms · task hog 7 7.00 ms · task hog 6 6.00 ms · "),
			  std::string::npos)
		<< text;
}

// Where rows of modes don't fit, cells have none, and the report says where they are.
TEST(OneScreen, LeavesOutModesThatDontFit)
{
	analysis::RunResult result = made_run({made_cell("a", {{model::Layer::SenderKernel, model::Part::None, 1000}})});
	const auto text = [&] { return terminal_report(result, {.unicode = true, .width = 100}); };
	analysis::CellMode mode;
	mode.share = {30, 100, {}};
	result.cells[0].modes.all = {mode, mode};
	EXPECT_NE(text().find("% at: modes, with their shares"), std::string::npos) << text();
	result = run_of_35_cells();
	for (analysis::CellResult &cell : result.cells)
		cell.modes.all = {mode, mode};
	EXPECT_LE(lines_of(text()).size(), 60u) << text();
	EXPECT_EQ(text().find("% at"), std::string::npos) << text();
	EXPECT_NE(text().find("several modes"), std::string::npos) << text();
	EXPECT_NE(text().find("icepath explain --modes RUN"), std::string::npos) << text();
}

// The last notices have room, since faults come after what the plan left out; the others are counted.
TEST(OneScreen, HasFifteenLinesBelowTheTable)
{
	analysis::RunResult few = made_run({made_cell("a", {{model::Layer::SenderKernel, model::Part::None, 1000}}),
										made_cell("b", {{model::Layer::SenderKernel, model::Part::None, 2000}})});
	analysis::RunResult many = run_of_35_cells();
	for (analysis::RunResult *result : {&few, &many}) {
		result->tail.emplace();
		for (int i = 0; i < 30; ++i)
			result->tail->notices.push_back(fmt::format("fault {0} {0}: {1}", i, std::string(90, 'x')));
		const std::string text = terminal_report(*result, {.unicode = true, .width = 100});
		const size_t at = text.find("\nnotice ");
		ASSERT_NE(at, std::string::npos) << text;
		const std::string below = text.substr(at + 1);
		EXPECT_LE(std::ranges::count(below, '\n'), 15) << below;
		EXPECT_LE(std::ranges::count(text, '\n'), 60) << text;
		EXPECT_NE(below.find("more: icepath report -v RUN"), std::string::npos) << below;
	}
	const std::string text = terminal_report(few, {.unicode = true, .width = 100});
	EXPECT_NE(text.find("fault 29 29"), std::string::npos) << text;
	few.tail->notices = {"the daemon died"};
	EXPECT_NE(terminal_report(few, {.unicode = true, .width = 100}).find("notice    the daemon died\n"),
			  std::string::npos);
}

// A thread of the target takes no time from its messages, whether they pass it or not.
TEST(OneScreen, NamesNoThreadOfTheCellAmongThoseThatTookTime)
{
	analysis::RunResult result = run_of_35_cells();
	path::Observations seen;
	seen.threads[1].name = "recvUC";
	seen.task_names = {{1, "recvUC"}, {2, "python3"}};
	path::Path path;
	path.recv_ns = 70'000'000;
	path::Boundary begin, end;
	end.at_ns = path.recv_ns;
	path.segments = {{model::Layer::Runqueue, model::Part::None, 0, 1, begin, end, {}}};
	path.shares = {{0, {path::Culprit::Kind::Task, 1, 0}, 50'000'000},
				   {0, {path::Culprit::Kind::Task, 2, 0}, 20'000'000}};
	analysis::CellResult &cell = result.cells[3];
	cell.paths.layers.add(path, seen);
	cell.paths.culprits.add(path, seen);
	seen.threads.clear();
	result.cells[4].paths.culprits.add(path, seen); // of whose target it isn't
	const std::string text = terminal_report(result, {.unicode = true, .width = 100});
	EXPECT_NE(text.find("\ntaken by  task recvUC 50.0 ms · task python3 40.0 ms · task hog 8 8.00 ms"),
			  std::string::npos)
		<< text;
}

TEST(OneScreen, AddsUpWhatTookTimeWhereItsNamesDontFit)
{
	const std::string text = terminal_report(run_of_35_cells(), {.unicode = true, .width = 60});
	EXPECT_NE(text.find("\ntaken by  task hog 8 8.00 ms · 2 others 13.0 ms\n"), std::string::npos) << text;
}

TEST(OneScreen, IsAsWideAsItsTerminalAndNoWider)
{
	for (const int width : {60, 80, 100, 132, 200})
		for (const bool unicode : {true, false}) {
			const std::string text = terminal_report(run_of_35_cells(), {.unicode = unicode, .width = width});
			for (const std::string &line : lines_of(text))
				EXPECT_LE(columns(line), static_cast<size_t>(width)) << line;
			EXPECT_NE(text.find("uds-seqpacket"), std::string::npos);
			EXPECT_NE(text.find(" p50"), std::string::npos) << "the last column to be dropped";
		}
}

TEST(OneScreen, ExplainsARangeOfRanksWhereThereIsOne)
{
	analysis::RunResult result = made_run({made_cell("a", {{model::Layer::SenderKernel, model::Part::None, 1000}}),
										   made_cell("b", {{model::Layer::SenderKernel, model::Part::None, 2000}})});
	const auto explains = [&result] {
		const std::string text = terminal_report(result, {.unicode = true, .width = 100});
		return text.find("rank 1–2: not told which") != std::string::npos;
	};
	EXPECT_FALSE(explains());
	for (analysis::RankedCell &cell : result.ranking.at(0).cells)
		cell.rank = stats::Rank{1, 2};
	EXPECT_TRUE(explains());
}

TEST(OneScreen, ColourAndAsciiChangeNothingElse)
{
	const analysis::RunResult result = run_of_35_cells();
	const std::string plain = terminal_report(result, {.unicode = true, .width = 100});
	const std::string ascii = terminal_report(result, {.unicode = false, .width = 100});
	EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); })) << ascii;
	for (const char *what : {"trust", "slowest", "more", "kernel", "waking", "disturbed"})
		EXPECT_EQ(plain.find(what) == std::string::npos, ascii.find(what) == std::string::npos) << what;
	const std::string coloured = terminal_report(result, {.colour = true, .unicode = true, .width = 100});
	// Two kinds that share a glyph have a legend each where they have colours.
	const auto rows = lines_of(without_colour(coloured)), plain_rows = lines_of(plain);
	ASSERT_EQ(rows.size(), plain_rows.size());
	for (size_t i = 0; i < rows.size(); ++i)
		if (!rows[i].starts_with("█")) {
			EXPECT_EQ(rows[i], plain_rows[i]);
		}
}

TEST(Verdict, NamesTheFastestAndByHowMuch)
{
	const analysis::RunResult result = made_run({made_cell("slow", {{Layer::Wakeup, Part::None, 3000}}),
												 made_cell("fast", {{Layer::SenderKernel, Part::None, 1000}})});
	const auto found = explain::verdicts(result);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(found[0].fastest, std::vector<size_t>{1});
	ASSERT_EQ(found[0].slower.size(), 1u);
	EXPECT_NEAR(found[0].slower[0].to_fastest->ratio, 3, 0.1);
	const stats::Interval ratio = found[0].slower[0].to_fastest->interval;
	EXPECT_EQ(
		text::verdict_text(result),
		fmt::format("fast is the fastest; slow takes {:.2f} times ({:.2f} to {:.2f}) as long. The largest part of a "
					"typical message's time is waking (100 %) in slow, kernel (100 %) in fast.",
					found[0].slower[0].to_fastest->ratio, ratio.low, ratio.high));
}

TEST(Verdict, DoesntTellApartWhatMayBeEqual)
{
	const std::vector<Piece> pieces = {{Layer::SenderKernel, Part::None, 1000}};
	const analysis::RunResult result =
		made_run({made_cell("a", pieces), made_cell("b", pieces), made_cell("c", pieces)}, 0.2);
	const auto found = explain::verdicts(result);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(found[0].fastest.size(), 3u);
	EXPECT_TRUE(found[0].slower.empty());
	EXPECT_TRUE(text::verdict_text(result).starts_with("This run doesn't tell which is the fastest: "))
		<< text::verdict_text(result);
	EXPECT_EQ(text::verdict_text(result).find("times"), std::string::npos);
}

// Told apart by their probability, but with an interval that contains 1.
TEST(Verdict, NeedsAnIntervalThatExcludesOne)
{
	analysis::RunResult result = made_run({made_cell("slow", {{Layer::Wakeup, Part::None, 3000}}),
										   made_cell("fast", {{Layer::SenderKernel, Part::None, 1000}})});
	ASSERT_TRUE(result.ranking[0].pairs[0].told_apart());
	result.ranking[0].cells[1].to_fastest->interval = {0.99, 9};
	EXPECT_EQ(explain::verdicts(result)[0].fastest.size(), 2u);
	result.ranking[0].cells[1].to_fastest->interval = {2.9, 3.1};
	EXPECT_EQ(explain::verdicts(result)[0].fastest.size(), 1u);
	result.ranking[0].pairs[0].p = 0.06;
	EXPECT_EQ(explain::verdicts(result)[0].fastest.size(), 2u);
}

TEST(Verdict, CountsGroupsWhereThereAreMany)
{
	const std::string text = text::verdict_text(run_of_35_cells());
	EXPECT_TRUE(text.starts_with("pipe is the fastest in 4 of 4 groups")) << text;
	EXPECT_NE(text.find("waking"), std::string::npos) << text;
}

TEST(Verdict, SaysOfWhichMessagesItIsIfThereAreOthers)
{
	analysis::CellResult other = made_cell("fast", {{Layer::SenderKernel, Part::None, 1000}});
	other.cell.pattern = model::Pattern::Throughput; // can't be ranked
	const std::string text =
		text::verdict_text(made_run({made_cell("slow", {{Layer::Wakeup, Part::None, 3000}}),
									 made_cell("fast", {{Layer::SenderKernel, Part::None, 1000}}), other}));
	EXPECT_TRUE(text.starts_with("64 B pingpong: fast is the fastest")) << text;
}

TEST(Verdict, IsSilentWithoutRanksAndLayers)
{
	analysis::CellResult cell = made_cell("a", {{Layer::SenderKernel, Part::None, 1000}});
	EXPECT_EQ(explain::most_time(cell)->kind, analysis::LayerKind::Kernel);
	EXPECT_DOUBLE_EQ(explain::most_time(cell)->share, 1);
	cell.paths.deliveries_ns = 1.5 * static_cast<double>(cell.paths.layers.total_ns());
	EXPECT_TRUE(explain::most_time(cell)) << "the others aren't typical";
	cell.ranges.typical->messages *= 10;
	EXPECT_FALSE(explain::most_time(cell)) << "too few of them are known";
	EXPECT_EQ(text::verdict_text(made_run({cell})), "");
}

TEST(Verdict, CountsALibrarysCodeAsTheLibrarys)
{
	analysis::CellResult cell =
		made_cell("a", {{Layer::SenderUser, Part::None, 1000}, {Layer::Wakeup, Part::None, 10}});
	EXPECT_EQ(explain::most_time(cell)->kind, analysis::LayerKind::YourCode);
	cell.cell.library = "zeromq 4.3";
	cell.cell.kind = model::kAdapter;
	EXPECT_EQ(explain::most_time(cell)->kind, analysis::LayerKind::Library);
}

// What probes add may all lie in the kind that leads.
TEST(Verdict, SaysWhereProbesMayHaveMadeAKindTheLargest)
{
	analysis::CellResult mine = made_cell("mine",
										  {{Layer::SenderUser, Part::None, 1500}, {Layer::Wakeup, Part::None, 500}}),
						 other = made_cell("other", {{Layer::SenderUser, Part::None, 5000}});
	const auto text_of = [&] { return text::verdict_text(made_run({mine, other})); };
	mine.observer_effect.p50 = stats::Effect{900, 20, stats::Interval{800, 1000}};
	EXPECT_TRUE(text_of().ends_with("is your code (75 to 100 %).")) << text_of();
	mine.observer_effect.p50->interval = stats::Interval{799, 1001};
	EXPECT_TRUE(text_of().ends_with("is your code (75 to 100 %). Probes may have made it so in mine.")) << text_of();
	mine.observer_effect.p50->interval = {};
	EXPECT_TRUE(text_of().ends_with(" Probes may have made it so in mine.")) << "what they add isn't known";
	other.observer_effect.p50 = {};
	EXPECT_TRUE(text_of().ends_with("is your code (75 to 100 %). Probes may have made it so.")) << text_of();
}

// A slow mode that few messages are in has most of the time, and says nothing of a typical message.
TEST(Verdict, IsOfTheModeThatMostMessagesAreIn)
{
	analysis::CellResult cell = made_cell("a", {{Layer::Wakeup, Part::None, 1000}});
	cell.modes.all = {made_mode(Layer::Wakeup, 1000, 60), made_mode(Layer::ReceiverKernel, 9000, 40)};
	ASSERT_TRUE(explain::most_time(cell));
	EXPECT_EQ(explain::most_time(cell)->kind, analysis::LayerKind::Waking);
	EXPECT_DOUBLE_EQ(explain::most_time(cell)->share, 1);
	cell.modes.all = {made_mode(Layer::Wakeup, 1000, 50), made_mode(Layer::ReceiverKernel, 9000, 50)};
	EXPECT_FALSE(explain::most_time(cell)) << "none has most";
	cell.modes.all = {made_mode(Layer::Wakeup, 1000, 60), made_mode(Layer::ReceiverKernel, 9000, 40)};
	cell.modes.all[0].range.layers = {};
	EXPECT_FALSE(explain::most_time(cell)) << "it isn't known";
	const std::string text = text::verdict_text(made_run({cell, made_cell("b", {{Layer::Wakeup, Part::None, 2000}})}));
	EXPECT_TRUE(
		text.ends_with("is waking (100 %), without a, of whose modes none has most messages or too little is known."))
		<< text;
}

// Whatever the reason is: the name is that of a cell where the target has others.
TEST(Verdict, NamesCellsOfWhoseModesTooLittleIsKnown)
{
	const auto text_of = [](const std::vector<analysis::CellResult> &cells) {
		return text::verdict_text(made_run(cells));
	};
	analysis::CellResult seen = made_cell("a", {{Layer::Wakeup, Part::None, 1000}});
	seen.modes.all = {made_mode(Layer::Wakeup, 1000, 60), made_mode(Layer::Wakeup, 9000, 40)};
	analysis::CellResult large = seen;
	large.cell.payload_bytes = 4096;
	const std::string without = ", without a, of whose modes none has most messages or too little is known.";
	const auto known = made_cell("b", {{Layer::Wakeup, Part::None, 2000}});
	EXPECT_TRUE(text_of({seen, known}).ends_with("is waking (100 %).")) << text_of({seen, known});
	analysis::CellResult few = seen;
	few.modes.all[0].range.messages *= 2;
	EXPECT_TRUE(few.modes.all[0].seen_with_probes());
	EXPECT_TRUE(text_of({few, known}).ends_with(without)) << text_of({few, known});
	analysis::CellResult long_ones = seen;
	long_ones.paths.deliveries_ns = 2 * static_cast<double>(long_ones.paths.layers.total_ns());
	EXPECT_TRUE(text_of({long_ones, known}).ends_with("is waking (100 %).")) << "the others aren't in that mode";
	EXPECT_TRUE(text_of({few, large, known})
					.ends_with(", without a 64 B, of whose modes none has most messages or too little is known."))
		<< text_of({few, large, known});
	few.cell.traits = {model::Trait::NotIpc};
	EXPECT_TRUE(text_of({few, known}).ends_with("is waking (100 %).")) << "stamps alone";
}

TEST(CellGroups, HaveTheFloorFirstThenTheFastest)
{
	const analysis::RunResult result = run_of_35_cells();
	const analysis::GroupedCells grouped = analysis::grouped_cells(result);
	ASSERT_EQ(grouped.groups.size(), 4u);
	EXPECT_EQ(grouped.groups[0].heading, "pingpong, block, 64 B, CPUs kept awake");
	EXPECT_EQ(grouped.groups[3].heading, "sparse, block, 64 B, the machine's own idle states");
	std::vector<std::string> labels;
	for (const size_t cell : grouped.groups[0].cells)
		labels.push_back(grouped.labels[cell]);
	EXPECT_EQ(labels, (std::vector<std::string>{"null", "pipe", "uds-stream", "uds-seqpacket", "mqueue", "shm-ring",
												"tcp", "udp", "eventfd"}));
}

TEST(CellGroups, PutWhatVariesMostIntoTheRows)
{
	std::vector<analysis::CellResult> cells;
	for (const uint64_t bytes : {64, 4096, 65536})
		for (const model::Wait wait : {model::Wait::Block, model::Wait::Poll}) {
			cells.push_back(made_cell("pipe", {{Layer::SenderKernel, Part::None, 1000 + bytes}}));
			cells.back().cell.payload_bytes = bytes;
			cells.back().cell.wait = wait;
		}
	const analysis::GroupedCells grouped = analysis::grouped_cells(made_run(std::move(cells)));
	ASSERT_EQ(grouped.groups.size(), 2u);
	EXPECT_EQ(grouped.groups[0].heading, "pingpong, block");
	EXPECT_EQ(grouped.groups[1].heading, "pingpong, poll");
	EXPECT_EQ(grouped.labels[0], "pipe 64 B");
	EXPECT_EQ(grouped.labels[4], "pipe 64 KiB");
}

// As without a block without probes.
TEST(Trust, NamesTheCellOfWhichLeastIsKnown)
{
	analysis::CellResult cell = made_cell("a", {{Layer::Wakeup, Part::None, 1000}}), other = cell;
	cell.paths.deliveries = 1000;
	other.cell.payload_bytes = 4096;
	const auto fact = [&] {
		const analysis::RunResult result = made_run({cell, other});
		return facts_of(result, explain::trust_in(result)[2])[0];
	};
	EXPECT_EQ(fact(), "path known of 10 % of messages of a 64 B");
	other.cell = cell.cell;
	cell.cell.levels.sender_user_ns = 20'000;
	EXPECT_EQ(fact(), "path known of 10 % of messages of " + model::title(cell.cell));
	EXPECT_NE(model::title(cell.cell), model::title(other.cell));
	cell.cell = other.cell;
	cell.cell.idle_states = model::IdleStates::Own;
	other.cell.idle_states = model::IdleStates::Held;
	EXPECT_EQ(fact(), "path known of 10 % of messages of " + model::title(cell.cell) + " (own idle states)");
}

TEST(Trust, HasAWordForEachDoubtAndWhatMendsIt)
{
	analysis::RunResult result = run_of_35_cells();
	std::vector<explain::Trust> all = explain::trust_in(result);
	ASSERT_EQ(all.size(), 4u);
	EXPECT_EQ(all[0].grade, Grade::Ok) << "±10 %";
	EXPECT_EQ(all[1].grade, Grade::Ok);
	EXPECT_EQ(all[2].grade, Grade::Ok);
	EXPECT_EQ(all[3].grade, Grade::Ok);
	for (const explain::Trust &trust : all)
		EXPECT_EQ(mend_text(trust), "") << name_of(trust.grade);
	result.head.isolation = {};
	EXPECT_EQ(explain::trust_in(result)[1].grade, Grade::Unknown) << "what wasn't looked at isn't quiet";

	const auto p50 = static_cast<double>(*result.cells[3].times.latency.percentiles[0]);
	result.cells[3].times.latency.intervals[0] = stats::Interval{p50 * 0.85, p50 * 1.15};
	result.head.isolation.items = {{.name = "timer_tick", .quiet = false, .found = "", .effect = "", .remedy = ""}};
	result.head.probes = {{"queue", "the call's return, without skb_queue_tail (no fentry)", "none"}};
	result.cells[4].messages.lost = 7;
	all = explain::trust_in(result);
	EXPECT_EQ(all[0].grade, Grade::Wide);
	EXPECT_EQ(mend_text(all[0]), "-d 3m");
	EXPECT_EQ(all[1].grade, Grade::Noisy);
	EXPECT_EQ(mend_text(all[1]), "icepath doctor");
	EXPECT_EQ(all[2].grade, Grade::Partly);
	EXPECT_EQ(mend_text(all[2]), "icepath doctor");
	EXPECT_EQ(all[3].grade, Grade::Flawed);
	EXPECT_EQ(mend_text(all[3]), "icepath report -v RUN");
	const std::string text = terminal_report(result, {.unicode = true, .width = 100});
	EXPECT_NE(text.find("\ntrust     wide    "), std::string::npos) << text;
	EXPECT_NE(text.find("  lost  "), std::string::npos) << "the column is there once a message was lost";
	EXPECT_LE(lines_of(text).size(), 60u) << text;
}

TEST(Trust, TellsAMachineThatChanged)
{
	analysis::RunResult result = run_of_35_cells();
	result.tail->cache_lines = {{0, 1, {{0, 60}, {1, 61}, {2, 340}, {3, 339}, {4, 338}}}};
	const explain::Trust trust = explain::trust_in(result)[1];
	EXPECT_EQ(trust.grade, Grade::Changed);
	EXPECT_EQ(facts_of(result, trust)[0], "CPU 0 to 1: 61 ns to 339 ns, 1 change");
}

// By what the run itself measured, with the thresholds of doctor (model/fitness.h).
TEST(FitFor, IsWhatTheRunWasQuietEnoughFor)
{
	const auto line = [](const analysis::RunResult &result) {
		const std::string text = terminal_report(result, {.unicode = true, .width = 100});
		const size_t at = text.find("\nfit for");
		return at == std::string::npos ? "" : text.substr(at + 11, text.find('\n', at + 1) - at - 11);
	};
	analysis::RunResult result = run_of_35_cells();
	result.tail->cache_lines.clear();
	EXPECT_EQ(line(result), "") << "what wasn't measured is told by trust";
	result.head.noise = {{0, 200'000'000, 9, 190'000, 90'000, {}, ""}, {1, 200'000'000, 9, 4'000'000, 800'000, {}, ""}};
	EXPECT_EQ(line(result), "medians; not tails · 2 % in gaps, the longest 800 µs (yes: < 0.1 %, < 100 µs)");
	result.tail->cache_lines = {{0, 1, {{0, 60}, {1, 61}, {2, 400}, {3, 62}}}};
	EXPECT_EQ(line(result), "medians, ranks; not tails · 2 % in gaps, the longest 800 µs (yes: < 0.1 %, < 100 µs)")
		<< "one look met something else";
	result.tail->cache_lines[0].times[3].round_trip_ns = 390;
	EXPECT_EQ(line(result), "medians; not ranks, tails · a cache line takes 61 to 400 ns to the other CPU and back");
	result.head.noise.pop_back();
	result.tail->cache_lines[0].times.resize(2);
	EXPECT_EQ(line(result), "medians, ranks, tails");
	EXPECT_EQ(terminal_report(result, {.unicode = true, .width = 100}).find("(p99)"), std::string::npos);
	EXPECT_EQ(pages::html_report(result).find("(p99)"), std::string::npos);
	result.interference = {{1, 4'000'000'000, 9, 600'000'000, 9'000'000, {}, ""}};
	EXPECT_EQ(line(result),
			  "not medians, ranks, tails · others kept workers off CPU 1 for 15 % of the run (yes: < 5 %)");
	result.interference.clear();
	result.tail->steal = {10'000'000, 1'000'000'000};
	EXPECT_EQ(line(result), "medians, ranks; not tails · 0.095 % in gaps, the longest 90 µs, the hypervisor 1 %");
	const std::string brief = terminal_report(result, {.unicode = true, .width = 100});
	EXPECT_LE(lines_of(brief).size(), 60u);
	EXPECT_NE(brief.find("  (p99) "), std::string::npos) << brief;
	EXPECT_NE(brief.find("(p99): not fit for tails"), std::string::npos) << brief;
	EXPECT_NE(terminal_report(result, {.colour = true, .unicode = true, .width = 100}).find("\033[2m"),
			  std::string::npos);
	EXPECT_NE(pages::html_report(result).find("<th>(p99)</th>"), std::string::npos);
	EXPECT_NE(pages::html_report(result).find(
				  "This run isn't fit for tails (0.095 % in gaps, the longest 90 µs, the hypervisor 1 %)"),
			  std::string::npos);
	const std::string full = terminal_report(result, {.unicode = true, .width = 120, .verbose = true});
	EXPECT_NE(full.find("\n          ranks: yes: a cache line takes 61 to 61 ns to the other CPU and back"),
			  std::string::npos);
}

TEST(Trust, NamesCellsWhoseSlowestMessagesHaveNoPath)
{
	analysis::RunResult result = run_of_35_cells();
	analysis::LatencyRange &tail = result.cells[2].ranges.tail.emplace();
	tail.messages = 100; // none of which is in its layers
	const explain::Trust trust = explain::trust_in(result)[2];
	EXPECT_EQ(trust.grade, Grade::Partly);
	EXPECT_EQ(facts_of(result, trust)[1], "path known of less than 90 % of the slowest messages in 1 cell");
	EXPECT_EQ(mend_text(trust), "icepath report -v RUN");
}

} // namespace
} // namespace icepath::text
