// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/analysis/cell_result.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/mode_difference.h"
#include "profiler/explain/notices.h"
#include "profiler/explain/remedies.h"
#include "profiler/explain/tail.h"
#include "profiler/exports/run_json.h"
#include "profiler/pages/first_picture.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/tail_lines.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

using analysis::CellMode, analysis::CellResult, analysis::RunResult;

using nlohmann::json;

constexpr uint64_t kSecondModeBy = 6000, kMessagesEach = 300, kRounds = 32;
// Of a hundred messages of unprobed blocks, these are slow: 45 in the mean, also of each two blocks, so that nothing
// changes slowly.
constexpr std::array<uint64_t, 4> kSlowOfBlocks = {30, 60, 40, 50};

// Unprobed and probed blocks in turn. `slow_probed`: of a hundred messages of blocks with probes.
class Modes : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	std::string path; // of the last run

	RunResult run_with(uint64_t slow_probed, uint64_t slow_by = kSecondModeBy)
	{
		const model::Head head = small_head();
		path = temporary.path("run-" + std::to_string(slow_probed));
		rundir::Writer writer(path, head);
		for (uint32_t round = 0; round < kRounds; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 2 == 1;
			plan.messages = kMessagesEach;
			const uint64_t slow = plan.probed ? slow_probed : kSlowOfBlocks[round / 2 % kSlowOfBlocks.size()];
			plan.delay_ns = [=](uint64_t seq, size_t) {
				// Spread evenly, so that the clock doesn't look coarse.
				return (seq * 37 % 100 < slow ? slow_by : 0) + seq * 7919 % 400;
			};
			writer.add(make_block(head.cells[0], plan));
		}
		writer.finish({});
		return analysis::analyse(path);
	}

	std::string explained(const std::string &cells) const
	{
		return explanation_of(path, {.cell = cells, .modes = true}, {}).text;
	}
};

// Fewer values are kept than the run has: what is told is the same, within the histograms' resolution.
TEST_F(Modes, OfALongRunAreThoseOfAllItsRounds)
{
	const RunResult all = run_with(45);
	analysis::Wanted wanted;
	wanted.most_values = 4 * kMessagesEach * kRounds / 2;
	const RunResult few = analysis::analyse(path, wanted);
	const CellResult &cell = few.cells[0], &exact = all.cells[0];
	ASSERT_EQ(exact.modes.all.size(), 2u);
	ASSERT_EQ(cell.modes.all.size(), 2u);
	EXPECT_EQ(exact.modes.of_one_in, 1u);
	EXPECT_GT(cell.modes.of_one_in, 1u);
	uint64_t messages = 0;
	for (size_t i = 0; i < 2; ++i) {
		EXPECT_NEAR(cell.modes.all[i].share.value(), exact.modes.all[i].share.value(), 0.05);
		EXPECT_EQ(cell.modes.all[i].range.messages, cell.modes.all[i].range.layers.deliveries()) << "all have a path";
		messages += cell.modes.all[i].range.messages;
	}
	EXPECT_EQ(messages, cell.paths.deliveries);
	for (const auto of : {&analysis::CellTimes::latency, &analysis::CellTimes::latency_probed,
						  &analysis::CellTimes::round_trip, &analysis::CellTimes::send_call}) {
		EXPECT_EQ((cell.times.*of).count, (exact.times.*of).count);
		EXPECT_EQ((cell.times.*of).max, (exact.times.*of).max);
		EXPECT_DOUBLE_EQ((cell.times.*of).mean, (exact.times.*of).mean);
		ASSERT_EQ((cell.times.*of).percentiles[0].has_value(), (exact.times.*of).percentiles[0].has_value());
		if ((exact.times.*of).percentiles[0]) {
			EXPECT_NEAR(static_cast<double>(*(cell.times.*of).percentiles[0]),
						static_cast<double>(*(exact.times.*of).percentiles[0]),
						0.0005 * static_cast<double>(*(exact.times.*of).percentiles[0]));
		}
	}
	for (const auto range : {&analysis::TypicalAndTail::typical, &analysis::TypicalAndTail::tail}) {
		ASSERT_EQ((cell.ranges.*range).has_value(), (exact.ranges.*range).has_value());
		if ((cell.ranges.*range)) {
			EXPECT_EQ((cell.ranges.*range)->messages, (cell.ranges.*range)->layers.deliveries());
		}
	}
	EXPECT_EQ(cell.paths.layers.total_ns(), exact.paths.layers.total_ns());
}

TEST_F(Modes, HaveTheirPlacesAndShares)
{
	const RunResult result = run_with(10);
	const std::vector<CellMode> &modes = result.cells[0].modes.all;
	ASSERT_EQ(modes.size(), 2u);
	EXPECT_NEAR(static_cast<double>(*modes[0].latency.percentiles[0]), kPlainNs + 200, 50);
	EXPECT_NEAR(static_cast<double>(*modes[1].latency.percentiles[0]), kPlainNs + kSecondModeBy + 200, 50);
	EXPECT_EQ(modes[0].latency.count + modes[1].latency.count, result.cells[0].times.latency.count);
	EXPECT_NEAR(modes[1].share.value(), 0.45, 1e-9);
	EXPECT_NEAR(modes[0].share.value(), 0.55, 1e-9);
	ASSERT_TRUE(modes[1].share.interval);
	// Sixteen blocks with a standard deviation of 11.5 %. Slow changes make 2.97 times the variance of a quarter of it,
	// and t(14.2) is 2.72, since three intervals are to hold together.
	EXPECT_NEAR(modes[1].share.interval->high - modes[1].share.interval->low, 2 * 2.72 * std::sqrt(2.97) * 0.1155 / 4,
				0.02);
	EXPECT_EQ(modes[0].range.to_ns + 1, modes[1].range.from_ns);
	EXPECT_NEAR(modes[1].share_up_to.value(), 1, 1e-9);
	EXPECT_TRUE(result.cells[1].modes.all.empty());
}

TEST_F(Modes, ProbesThatChangeTheirSharesAreTold)
{
	const CellResult changed = run_with(10).cells[0];
	ASSERT_EQ(changed.modes.all.size(), 2u);
	EXPECT_NEAR(changed.modes.all[1].share_probed.value(), 0.1, 1e-9);
	ASSERT_TRUE(changed.modes.all[1].share_added);
	EXPECT_NEAR(changed.modes.all[1].share_added->mean, -0.35, 0.01);
	EXPECT_TRUE(changed.modes.all[1].changed_by_probes());
	EXPECT_EQ(text::probes_text(changed),
			  "probes change the share of mode 1 from 55.0 to 90.0 %, of mode 2 from 45.0 to 10.0 %");
	const CellResult alike = run_with(45).cells[0];
	ASSERT_EQ(alike.modes.all.size(), 2u);
	EXPECT_FALSE(alike.modes.all[1].changed_by_probes());
	EXPECT_EQ(text::probes_text(alike), "");
}

TEST_F(Modes, HaveTheLayersOfTheirOwnMessages)
{
	const RunResult result = run_with(10);
	const std::vector<CellMode> &modes = result.cells[0].modes.all;
	ASSERT_EQ(modes.size(), 2u);
	EXPECT_EQ(modes[0].range.messages + modes[1].range.messages, result.cells[0].times.latency_probed.count);
	EXPECT_EQ(modes[1].range.layers.deliveries(), kRounds / 2 * 2 * kMessagesEach / 10);
	const double mean = modes[1].range.layers.by_layer().at(model::Layer::Runqueue).mean_ns;
	EXPECT_NEAR(mean, 1500 + kSecondModeBy + 200, 50);
	EXPECT_NEAR(modes[1].range.layers.mean_ns(), kPlainNs + kSecondModeBy + 200, 50);
}

TEST_F(Modes, DifferByLayersThatAddUp)
{
	const RunResult result = run_with(30);
	const std::vector<explain::ModeDifference> differences = explain::mode_differences(result.cells[0]);
	ASSERT_EQ(differences.size(), 1u);
	const explain::Difference &slow = differences[0].of;
	EXPECT_NEAR(static_cast<double>(slow.of.ns()), kSecondModeBy, 50);
	int64_t sum = 0;
	for (const explain::KindDifference &kind : slow.kinds)
		sum += kind.of.ns();
	EXPECT_EQ(sum, slow.of.ns());
	EXPECT_EQ(slow.kinds[0].kind, analysis::LayerKind::WaitingForCpu);
	EXPECT_NEAR(static_cast<double>(slow.kinds[0].of.ns()), kSecondModeBy, 50);
	for (size_t i = 1; i < slow.kinds.size(); ++i)
		EXPECT_EQ(slow.kinds[i].of.ns(), 0) << "nothing else differs";
	const std::string text = explained("pingpong");
	EXPECT_NE(text.find("waiting for a CPU"), std::string::npos) << text;
	EXPECT_NE(text.find("+6.005"), std::string::npos) << text;
	const size_t probes = text.find("add -1.48 "), layers = text.find("mode 1  mode 2");
	EXPECT_LT(probes, layers) << "what probes add to layers is told before these\n" << text;
	EXPECT_NE(explained("").find("2 modes: "), std::string::npos);
}

TEST_F(Modes, ThatProbesHardlyLeaveAreNotExplained)
{
	const RunResult result = run_with(0);
	const CellResult &cell = result.cells[0];
	ASSERT_EQ(cell.modes.all.size(), 2u);
	EXPECT_TRUE(cell.modes.all[0].seen_with_probes());
	EXPECT_FALSE(cell.modes.all[1].seen_with_probes());
	EXPECT_TRUE(explain::mode_differences(cell).empty());
	const json modes = json::parse(exports::run_json_text(result))["cells"][0]["modes"];
	EXPECT_EQ(modes[1]["probed"]["seen"], false);
	EXPECT_TRUE(modes[1]["probed"]["layers"].is_null());
	EXPECT_TRUE(modes[1]["probed"]["share_ci95"].is_null());
	EXPECT_TRUE(modes[0]["probed"]["layers"].is_array());
	EXPECT_NE(text::probes_text(cell).find("mode 2 is not seen with probes"), std::string::npos);
	const std::string text = text::terminal_report(result, {.unicode = true, .width = 100});
	EXPECT_NE(text.find("not seen with probes"), std::string::npos) << "instead of its bar\n" << text;
	CellMode few;
	EXPECT_FALSE(few.seen_with_probes());
}

TEST_F(Modes, AreInTheJson)
{
	const json run = json::parse(exports::run_json_text(run_with(10)));
	const json schema = json::parse(std::ifstream(test::in_source("docs/run-schema.json")));
	for (const std::string &complaint : schema_complaints(schema, run))
		ADD_FAILURE() << complaint;
	const json &modes = run["cells"][0]["modes"];
	ASSERT_EQ(modes.size(), 2u);
	EXPECT_TRUE(modes[0]["from_ns"].is_null());
	EXPECT_TRUE(modes[1]["to_ns"].is_null());
	EXPECT_EQ(modes[0]["to_ns"].get<uint64_t>() + 1, modes[1]["from_ns"].get<uint64_t>());
	EXPECT_NEAR(modes[0]["share"].get<double>(), 0.55, 1e-9);
	EXPECT_NEAR(modes[0]["share_ci95"][0].get<double>() + modes[1]["share_ci95"][1].get<double>(), 1, 1e-9);
	EXPECT_NEAR(modes[1]["p50_ns"].get<double>(), kPlainNs + kSecondModeBy + 200, 50);
	EXPECT_EQ(modes[1]["p50_ci95_ns"].size(), 2u);
	EXPECT_NEAR(modes[1]["probed"]["share"].get<double>(), 0.1, 1e-9);
	EXPECT_EQ(modes[1]["probed"]["changes_share"], true);
	double sum = 0;
	for (const json &layer : modes[1]["probed"]["layers"])
		sum += layer["mean_ns"].get<double>();
	EXPECT_NEAR(sum, kPlainNs + kSecondModeBy + 200, 50);
	EXPECT_TRUE(run["cells"][1]["modes"].is_null()) << "it has no message";
	EXPECT_TRUE(run["cells"][1]["p50_in_modes"].is_null());
}

TEST_F(Modes, OfOnePeakAreNone)
{
	const RunResult result = run_with(10, 300);
	EXPECT_TRUE(result.cells[0].modes.all.empty());
	EXPECT_FALSE(analysis::modes_of_p50(result.cells[0]));
	EXPECT_EQ(text::p50_text(result.cells[0]), "");
	const json run = json::parse(exports::run_json_text(result));
	EXPECT_EQ(run["cells"][0]["modes"], json::array());
	EXPECT_EQ(text::terminal_report(result, {.verbose = true}).find("modes"), std::string::npos);
	EXPECT_NE(explained("").find("this run shows one"), std::string::npos);
}

TEST_F(Modes, HaveRowsBelowTheirCell)
{
	RunResult result = run_with(10);
	const auto row = [&](const std::string &begin) {
		const std::string text = text::terminal_report(result, {.unicode = true, .width = 100});
		const size_t at = text.find("\n" + begin);
		return at == std::string::npos ? text : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
	};
	EXPECT_EQ(row("    55 ±13 % at").find("5.50 ± "), row("    45 ±13 % at").find("11.5 ± ")) << "one column";
	EXPECT_NE(row("    55 ±13 % at").find("▓"), std::string::npos) << "and a bar";
	EXPECT_EQ(row("  uds-stream ").find("▓"), std::string::npos) << row("  uds-stream ");
	EXPECT_NE(row("  uds-stream ").find("–"), std::string::npos) << "another run may have its p50 elsewhere";
	EXPECT_EQ(row("notice").find("2 modes"), std::string::npos) << "the table says it";
	EXPECT_NE(row("notice").find("not measured"), std::string::npos) << "of the other cell";
	EXPECT_NE(row("          uds-stream").find("probes change"), std::string::npos);
	EXPECT_NE(row("more").find("icepath explain --modes RUN"), std::string::npos);
	for (CellMode &mode : result.cells[0].modes.all)
		mode.share_up_to.interval = stats::Interval{0.52, 0.6};
	result.cells[0].times.latency.intervals[0] = stats::Interval{5400, 5600};
	EXPECT_NE(row("  uds-stream ").find("*5."), std::string::npos) << "this one lies in the first mode";
}

TEST_F(Modes, StandInTheFullReport)
{
	RunResult result = run_with(10);
	const auto report = [&] { return text::terminal_report(result, {.unicode = true, .width = 200, .verbose = true}); };
	const std::string text = report();
	EXPECT_NE(text.find("% at: modes of the messages"), std::string::npos) << text;
	EXPECT_NE(text.find("2 modes: 5.50 ±"), std::string::npos) << text;
	EXPECT_NE(text.find("(55.0 ±13"), std::string::npos) << text;
	EXPECT_NE(text.find("modes of messages"), std::string::npos) << text;
	result.cells[0].modes.all[0].share.interval = stats::Interval{0.001, 0.999}; // a longer text
	EXPECT_NE(report().find("  55.0 "), std::string::npos) << "columns don't touch: " << report();
}

TEST_F(Modes, StandOnThePage)
{
	run_with(10);
	std::ifstream file(write_html(path));
	const std::string page((std::istreambuf_iterator<char>(file)), {});
	EXPECT_NE(page.find("<td>–</td>"), std::string::npos) << "another run may have the p50 elsewhere";
	EXPECT_NE(page.find("2 modes: 5.50 ±"), std::string::npos);
}

// As a bar of typical messages with probes would be of the mode that most of them have, which is another one.
TEST_F(Modes, AreRowsOfTheFirstPicture)
{
	const RunResult result = run_with(10);
	const std::string picture = pages::first_picture(result, analysis::grouped_cells(result));
	const auto row_of = [&](const std::string &begin) {
		const size_t at = picture.find(begin);
		return at == std::string::npos ? "" : picture.substr(at, picture.find("</g>\n", at) - at);
	};
	const std::string cell = row_of("<g class=\"row\" data-cell=\"0\">"),
					  fast = row_of("<g class=\"row mode\" data-cell=\"0\">"), slow = row_of(">45 ±13 % of messages<");
	EXPECT_NE(cell.find("2 modes:"), std::string::npos) << picture;
	EXPECT_EQ(cell.find("data-panel=\"0\""), std::string::npos) << cell;
	EXPECT_NE(cell.find("data-panel=\"1\""), std::string::npos) << "slow messages have a bar";
	EXPECT_NE(cell.find(">†"), std::string::npos) << "of other messages than without probes";
	EXPECT_NE(fast.find(">55 ±13 % of messages<"), std::string::npos) << fast;
	for (const std::string &mode : {fast, slow})
		EXPECT_NE(mode.find("data-panel=\"0\""), std::string::npos) << mode;
	EXPECT_NE(slow.find("µs without probes"), std::string::npos) << "the p50 of the mode is marked";
	EXPECT_NE(slow.find(">11.5 ±"), std::string::npos) << slow;
	// All modes are on one axis: the slow one is as much longer as its mean is.
	const auto length_of = [](const std::string &row) {
		double pixels = 0;
		const std::string before = "data-panel=\"0\" ", width = " width=\"";
		for (size_t at = row.find(before); at != std::string::npos; at = row.find(before, at + 1))
			pixels += std::stod(row.substr(row.find(width, at) + width.size()));
		return pixels;
	};
	const std::vector<CellMode> &modes = result.cells[0].modes.all;
	EXPECT_NEAR(length_of(slow) / length_of(fast), modes[1].range.layers.mean_ns() / modes[0].range.layers.mean_ns(),
				0.01);
}

TEST_F(Modes, HaveNoBarIfProbesHideThem)
{
	const RunResult result = run_with(0);
	const std::string picture = pages::first_picture(result, analysis::grouped_cells(result));
	EXPECT_NE(picture.find("not seen with probes"), std::string::npos) << picture;
}

TEST_F(Modes, AreTheNoticeInsteadOfOpeningsThatDiffer)
{
	RunResult result = run_with(10);
	stats::Openings &openings = result.cells[0].openings.p50s;
	openings.values = {5000, 12'000};
	openings.difference = {.f = 100, .p = 0, .between_sd = 0.5, .within_sd = 0.01};
	const auto with = [&](const std::string &text) {
		return std::ranges::count_if(text::notice_sentences(result),
									 [&](const std::string &one) { return one.find(text) != std::string::npos; });
	};
	EXPECT_EQ(with("2 modes: "), 1);
	EXPECT_EQ(with("openings, which differ"), 0);
	result.cells[0].modes.all.clear();
	EXPECT_EQ(with("2 modes: "), 0);
	EXPECT_EQ(with("openings, which differ"), 1);
}

// Without probes 45 % of the messages are slow, and with them 10 %: the tail that users have is that mode.
TEST_F(Modes, OfTheTailWithoutProbesIsNamedWithWhatHelps)
{
	run_with(10);
	const auto told = [&] {
		return explanation_of(path, {.cell = "uds-stream"}, {.unicode = true, .width = 500}).text;
	};
	const std::string text = told();
	for (const char *part :
		 {"unprobed  without probes p99 lies in mode 2, which has 45.0 ±13", "of the messages, at 11.5 ±",
		  "with probes it has 10.0 ±0.0 %. By these, its messages take 6.0",
		  "µs longer than those of mode 1. Of that, "
		  "waiting for a CPU 6.0",
		  "next      the layers of each mode:\n"
		  "          icepath explain RUN --cell 'uds-stream 64 B pingpong block' --modes\n"})
		EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
	EXPECT_EQ(text.find("--stacks"), std::string::npos) << "the run has no samples\n" << text;
	EXPECT_EQ(text.find("epoll"), std::string::npos) << "the target may have no such wait\n" << text;
	const std::string narrow = explanation_of(path, {.cell = "uds-stream"}, {.unicode = true, .width = 60}).text;
	EXPECT_NE(narrow.find("\n          icepath explain RUN --cell 'uds-stream 64 B pingpong block' --modes\n"),
			  std::string::npos)
		<< "a command that is broken can't be pasted\n"
		<< narrow;
	run_with(45);
	EXPECT_EQ(told().find("unprobed"), std::string::npos) << "probes don't change it\n" << told();
	run_with(0);
	EXPECT_NE(told().find("with probes it has 0.0 "), std::string::npos) << told();
	EXPECT_NE(told().find("too few to know where their time goes"), std::string::npos) << told();
}

TEST_F(Modes, OfFewKnownPathsAreNotCompared)
{
	run_with(10);
	RunResult result = analysis::analyse(path, {.tail = stats::kP99, .message = {}});
	CellResult &cell = result.cells[0];
	const auto told = [&] {
		text::Page page({false, true}, 500);
		text::add_tail(page, result, 0, explain::explain_tail(cell, result.head));
		return page.take();
	};
	ASSERT_TRUE(explain::explain_tail(cell, result.head).unprobed &&
				explain::explain_tail(cell, result.head).unprobed->than_fastest);
	for (const size_t mode : {size_t{0}, size_t{1}}) {
		analysis::LatencyRange &range = cell.modes.all[mode].range;
		const uint64_t messages = range.messages;
		range.messages = 2 * range.layers.deliveries() + 1;
		EXPECT_FALSE(explain::explain_tail(cell, result.head).unprobed->than_fastest);
		EXPECT_NE(told().find(fmt::format("messages of mode {} have a known path, too few", mode + 1)),
				  std::string::npos)
			<< told();
		range.messages = messages;
	}
	EXPECT_NE(told().find("of the messages, at "), std::string::npos) << told();
	cell.modes.all[1].latency.percentiles[0] = std::nullopt;
	EXPECT_NE(told().find("of the messages; with probes"), std::string::npos) << told();
}

TEST_F(Modes, OfTheTailWithoutProbesIsInTheJson)
{
	run_with(10);
	const json told = json::parse(explanation_of(path, {.json = true}, {}).text);
	const std::vector<std::string> complaints =
		schema_complaints(json::parse(std::ifstream(test::in_source("docs/explain-schema.json"))), told);
	EXPECT_TRUE(complaints.empty()) << complaints.front();
	const json &unprobed = told.at("cells")[0].at("unprobed");
	EXPECT_EQ(unprobed.at("mode"), 2);
	EXPECT_EQ(unprobed.at("than_mode"), 1);
	EXPECT_NEAR(unprobed.at("share").get<double>(), 0.45, 1e-9);
	EXPECT_NEAR(unprobed.at("share_probed").get<double>(), 0.1, 1e-9);
	EXPECT_NEAR(unprobed.at("difference").at("difference_ns").get<double>(), kSecondModeBy, 100);
	EXPECT_EQ(unprobed.at("next").size(), 1u) << "the run doesn't tell which waits the target offers";
}

TEST_F(Modes, CellsOfTheRunThatLackItAreNamed)
{
	run_with(10);
	RunResult result = analysis::analyse(path, {.tail = stats::kP99, .message = {}});
	const explain::TailExplanation tail = explain::explain_tail(result.cells[0], result.head);
	ASSERT_TRUE(tail.unprobed);
	const auto steps = [&] {
		std::string text;
		for (const text::Step &step : text::steps_against_mode(result, 0, tail))
			text += step.text + "\n" + step.command;
		return text;
	};
	const CellResult slow = result.cells[0];
	const auto add = [&](const std::string &target, model::Wait wait, bool with_modes) {
		CellResult &cell = result.cells.emplace_back(slow);
		cell.cell.target = target;
		cell.cell.wait = wait;
		if (!with_modes)
			cell.modes.all.clear();
	};
	add("tcp", model::Wait::Block, true);
	add("mqueue", model::Wait::Epoll, false);
	EXPECT_EQ(steps().find("show one mode"), std::string::npos) << "it has modes, or waits otherwise\n" << steps();
	add("udp", model::Wait::Block, false);
	EXPECT_NE(steps().find("in this run these show one mode: udp\n"), std::string::npos) << steps();
	EXPECT_EQ(steps().find("repeat the run"), std::string::npos) << "which waits there are isn't known: " << steps();
	result.cells[0].cell.offers = model::Offers{{model::Wait::Block, model::Wait::Poll}, 0, false};
	EXPECT_NE(steps().find("repeat the run with -w poll"), std::string::npos) << steps();
	add("uds-stream", model::Wait::Epoll, false);
	EXPECT_TRUE(steps().ends_with("show one mode: uds-stream by epoll, udp\n")) << "no trial is needed: " << steps();
}

} // namespace
} // namespace icepath::report
