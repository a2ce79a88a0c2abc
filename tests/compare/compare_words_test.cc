// SPDX-License-Identifier: Apache-2.0
// Every verdict and every reason has its words, and names in files are those of the schema.
#include "profiler/text/compare_words.h"
#include "tests/folders.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/explain/difference.h"
#include "profiler/text/compare_lines.h"
#include "profiler/text/markdown.h"

namespace icepath::text {
namespace {

using compare::Figure, compare::Judged, compare::Verdict, compare::Why;
using nlohmann::json;

compare::Comparison of_arms() { return {.a = "base", .b = "new", .control = "base-again"}; }

std::string words_of(const Judged &judged) { return verdict_words(of_arms(), judged); }

TEST(CompareWords, OfEachVerdict)
{
	const auto of = [](Figure figure, Verdict verdict) { return words_of({.figure = figure, .verdict = verdict}); };
	for (const Figure figure : {Figure::Mean, Figure::P50, Figure::P99}) {
		EXPECT_EQ(of(figure, Verdict::Slower), "slower");
		EXPECT_EQ(of(figure, Verdict::Faster), "faster");
	}
	EXPECT_EQ(of(Figure::Cpu, Verdict::Slower), "costs more");
	EXPECT_EQ(of(Figure::Cpu, Verdict::Faster), "costs less");
	EXPECT_EQ(of(Figure::Lost, Verdict::Slower), "loses more");
	EXPECT_EQ(of(Figure::Lost, Verdict::Faster), "loses less");
	EXPECT_EQ(of(Figure::Slow, Verdict::Slower), "more in slow modes");
	EXPECT_EQ(of(Figure::Slow, Verdict::Faster), "fewer in slow modes");
	EXPECT_EQ(of(Figure::Mean, Verdict::Same), "same");
	EXPECT_EQ(
		words_of({.verdict = Verdict::LeansSlower, .why = Why::ManyCompared, .needed_s = 240}),
		"leans: slower: by itself; among so many figures one may be so by chance; -d 4m would decide in 8 of 10 runs");
	EXPECT_EQ(words_of({.verdict = Verdict::LeansFaster}), "leans: faster");
	EXPECT_EQ(words_of({.verdict = Verdict::Undecided, .why = Why::TooFewRounds}),
			  "undecided: fewer than 3 rounds measured both");
	EXPECT_EQ(words_of({.verdict = Verdict::ControlDiffers}), "no verdict");
	EXPECT_EQ(words_of({.verdict = Verdict::Same, .losses = compare::Losses{0, 0.02}}),
			  "same; base lost none, new 2.00 %");
	EXPECT_EQ(words_of({.verdict = Verdict::Faster, .losses = compare::Losses{0.00001, 0}}),
			  "faster; base lost < 0.01 %, new none");
	EXPECT_EQ(
		words_of({.verdict = Verdict::NotComparable, .why = Why::LostMessages, .losses = compare::Losses{0.3, 0}}),
		"not comparable: base lost 30.00 %, new none");
	EXPECT_EQ(words_of({.verdict = Verdict::NotComparable}), "not comparable");
	EXPECT_EQ(words_of({.verdict = Verdict::NotMeasured}), "not measured");
}

TEST(CompareWords, OfEachReasonDiffer)
{
	std::set<std::string> seen;
	for (size_t why = 0; why < compare::kWhyNames.size(); ++why)
		EXPECT_TRUE(seen.insert(words_of({.verdict = Verdict::Undecided, .why = static_cast<Why>(why)})).second)
			<< compare::kWhyNames[why];
	EXPECT_EQ(seen.count("undecided"), 1u) << "of none alone";
}

TEST(CompareWords, NamesAreThoseOfTheSchema)
{
	const json figure = json::parse(std::ifstream(test::in_source("docs/compare-schema.json")))["$defs"]["figure"];
	const auto names_in = [&](const char *key) {
		return figure["properties"][key]["enum"].get<std::set<std::string>>();
	};
	EXPECT_EQ(names_in("verdict"), std::set<std::string>(compare::kVerdictNames.begin(), compare::kVerdictNames.end()));
	EXPECT_EQ(names_in("why"), std::set<std::string>(compare::kWhyNames.begin(), compare::kWhyNames.end()));
	std::set<std::string> figures;
	for (size_t i = 0; i < compare::kFigures; ++i) {
		EXPECT_EQ(compare::row_of(static_cast<Figure>(i)).figure, static_cast<Figure>(i));
		figures.emplace(compare::row_of(static_cast<Figure>(i)).name);
	}
	EXPECT_EQ(names_in("figure"), figures);
}

TEST(CompareWords, OfValuesAndChanges)
{
	EXPECT_EQ(value_words(Figure::Mean, 41'230.0), "41.2 µs");
	EXPECT_EQ(value_words(Figure::Lost, 0.0012), "0.12 %");
	EXPECT_EQ(value_words(Figure::Mean, std::nullopt), "–");
	EXPECT_EQ(change_words(Figure::Mean, 0.0312, stats::Interval{0.024, 0.038}), "+3.1 % [+2.4, +3.8]");
	EXPECT_EQ(change_words(Figure::P99, -0.25, stats::Interval{-0.5, 0.4}), "-25 % [-50, +40]");
	EXPECT_EQ(change_words(Figure::Lost, 0.0001, stats::Interval{0.00005, 0.0002}), "+0.01 points [+0.01, +0.02]");
	EXPECT_EQ(change_words(Figure::Mean, std::nullopt, std::nullopt), "–");
}

// A comment of GitHub or GitLab holds 65,536 characters.
TEST(CompareWords, MarkdownFitsAComment)
{
	compare::Comparison comparison = of_arms();
	comparison.cells.resize(500);
	for (compare::ComparedCell &cell : comparison.cells) {
		cell.key.target = "a_long|name";
		cell.conditions.assign(2, {compare::ConditionId::Library, "1", "2"});
		for (Judged &judged : cell.figures)
			judged.verdict = Verdict::Slower;
	}
	comparison.conditions.assign(1000, {compare::ConditionId::Tier, "kprobe", "fentry", compare::Keeps::Layers});
	std::string page = "before\n";
	add_comparison_markdown({}, comparison, kLongestComment, page);
	EXPECT_LE(page.size(), kLongestComment);
	for (const char *part : {"### new against base", "more lines have no room here", "| **slower** |", "library"})
		EXPECT_NE(page.find(part), std::string::npos) << part;
}

// As `icepath explain --against` does.
TEST(CompareWords, DontGiveAsTheCauseWhatProbesMayHaveMade)
{
	analysis::RunResult run;
	run.cells.resize(2);
	run.cells[1].cell.arm = "new";
	run.cells[0].observer_effect.p50 = stats::Effect{100, 20, stats::Interval{90, 110}};
	explain::Difference difference;
	difference.of = {3000, 1000, stats::Interval{1900, 2100}, {}};
	const explain::DifferenceRow row{
		model::Layer::SenderUser, model::Part::None, path::Role::Sender, 0, {}, difference.of};
	difference.kinds = {{analysis::LayerKind::Library, {row}, difference.of}};
	compare::ComparedCell cell;
	cell.against.emplace();
	cell.against->slower = 1;
	cell.against->difference = difference;
	const std::string longer = "a typical message with probes takes 2.00 µs longer in new. ";
	run.cells[1].observer_effect.p50 = stats::Effect{100, 20, stats::Interval{90, 110}};
	EXPECT_TRUE(carried_words(run, cell).starts_with(longer + "Of that, library 2.00 µs")) << carried_words(run, cell);
	run.cells[1].observer_effect.p50 = stats::Effect{1600, 20, stats::Interval{1000, 2200}};
	EXPECT_TRUE(carried_words(run, cell).starts_with(
		longer + "Of that, 1.50 ±0.60 µs are the probes', in which layers isn't known. They may have made: library"))
		<< carried_words(run, cell);
}

TEST(CompareWords, SayHowTwoRunsAreCompared)
{
	compare::Comparison runs{.a = "one", .b = "two", .is_of_one_run = false};
	EXPECT_NE(method_words(runs).find("none is given: --repeats"), std::string::npos);
	runs.repeats = 2;
	EXPECT_NE(method_words(runs).find("what 3 runs of the same show (--repeats)"), std::string::npos);
	runs.cells.resize(2);
	runs.cells[0].a = runs.cells[0].b = 0;
	runs.cells[0].key.target = "a b";
	EXPECT_EQ(one_session_command(runs),
			  "sudo icepath run --arm base:plugins=FOLDER --arm new:plugins=FOLDER -t 'a b'");
	EXPECT_EQ(one_session_command(of_arms()), "");
	EXPECT_NE(method_words(of_arms()).find("base was measured twice, as base-again too"), std::string::npos);
	EXPECT_NE(method_words({.a = "base", .b = "new"}).find("base wasn't measured twice"), std::string::npos);
}

} // namespace
} // namespace icepath::text
