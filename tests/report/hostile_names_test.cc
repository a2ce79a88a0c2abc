// SPDX-License-Identifier: Apache-2.0
// Whatever names a run directory has, icepath's output neither controls a terminal nor hides or reverses text.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

#include "profiler/exports/export.h"
#include "profiler/report/report.h"
#include "tests/report/hostile_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

// Searches byte by byte, independently of printable().
testing::AssertionResult is_harmless(std::string text)
{
	for (const char *own : {"\033[0m", "\033[1m", "\033[38;5;"})
		for (size_t at = 0; (at = text.find(own)) != std::string::npos;)
			text.erase(at, std::string_view(own).size());
	for (const char c : text)
		if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f')
			return testing::AssertionFailure() << "byte " << static_cast<int>(c) << " in: " << text.substr(0, 4000);
	for (const char *unseen : {"\u0080", "\u0085", "\u009b", "\u009f", "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f",
							   "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff"})
		if (text.find(unseen) != std::string::npos)
			return testing::AssertionFailure() << nlohmann::json(unseen).dump(-1, ' ', true) << " in: " << text;
	try {
		(void)nlohmann::json(text).dump();
	} catch (const nlohmann::json::type_error &) {
		return testing::AssertionFailure() << "no UTF-8: " << text;
	}
	return testing::AssertionSuccess();
}

class HostileNames : public testing::TestWithParam<std::string> {
protected:
	HostileNames() { write_hostile_run(run, GetParam()); }

	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
};

// By each separator that a spreadsheet may use.
void expect_no_formula(const std::string &file)
{
	std::ifstream table(file);
	size_t rows = 0;
	for (std::string row; std::getline(table, row); rows++)
		for (const char separator : {',', ';', '\t'}) {
			std::istringstream cells(row);
			for (std::string cell; std::getline(cells, cell, separator);) {
				const bool is_number =
					cell.find_first_not_of("0123456789.", cell.starts_with('-')) == std::string::npos;
				EXPECT_TRUE(is_number || cell.find_first_of("=+-@\t\r\uff1d") != 0) << row;
			}
		}
	EXPECT_GT(rows, 100u);
}

TEST(NamesInATable, AreNoFormulas)
{
	for (const char *name : {"=1+cmd|'/C calc'!A0", "+1", "-1+A1", "@SUM(A1)", "\t=1", "\r=1", "a;=1", "a\t=1", ",=1",
							 "\"=1", ",;\"@1", "\uff1d1"}) {
		const rundir::TemporaryDirectory temporary;
		write_hostile_run(temporary.path("run"), name);
		expect_no_formula(exports::export_run(temporary.path("run"), {exports::ExportFormat::Csv}, "").at(0));
	}
}

TEST_P(HostileNames, AreHarmlessInAReport)
{
	for (const bool verbose : {false, true})
		for (const bool unicode : {false, true}) {
			const std::string text =
				report_of(run, {.colour = true, .unicode = unicode, .width = 100, .verbose = verbose}).text;
			EXPECT_TRUE(is_harmless(text));
			EXPECT_EQ(text.find('\t'), std::string::npos);
			if (GetParam().starts_with("<script>")) {
				EXPECT_NE(
					text.find("\\x1b[2J\\x1b]8;;http://x\\x07\\x1b[8m\\x9b31m\\x08\\x0d\\n\\t\\x7f\\u202e\\u2066"),
					std::string::npos)
					<< "nothing of a name is lost: " << text;
			}
		}
}

TEST_P(HostileNames, AreHarmlessInAnExplanation)
{
	const std::string pingpong = "64 B pingpong", oneway = "64 B oneway";
	for (const bool unicode : {false, true}) {
		const text::Style style{.colour = true, .unicode = unicode, .width = 100, .verbose = true};
		for (const bool as_json : {false, true}) {
			EXPECT_TRUE(is_harmless(explanation_of(run, {.json = as_json}, style).text));
			EXPECT_TRUE(
				is_harmless(explanation_of(run, {.cell = pingpong, .against = oneway, .json = as_json}, style).text));
			EXPECT_TRUE(
				is_harmless(explanation_of(run, {.cell = "64 B", .against = oneway, .json = as_json}, style).text));
			EXPECT_TRUE(is_harmless(explanation_of(run, {.worst = true, .json = as_json}, style).text));
			EXPECT_TRUE(is_harmless(
				explanation_of(run, {.message = analysis::MessageName{1, 5, false}, .json = as_json}, style).text));
		}
	}
}

TEST_P(HostileNames, AreHarmlessInRunJson)
{
	const std::string text = json_of(run);
	EXPECT_TRUE(is_harmless(text));
	// JSON's escapes: a reader of the JSON would get the harmful characters back
	for (const char *escaped : {"\\u0", "\\n", "\\t", "\\r"})
		EXPECT_EQ(text.find("\"" + std::string(escaped)), std::string::npos) << escaped;
	const auto told = nlohmann::json::parse(text);
	EXPECT_TRUE(is_harmless(told["cells"][0]["target"]));
	EXPECT_TRUE(is_harmless(told["icepath"]["command_line"]));
}

TEST_P(HostileNames, AreHarmlessInStacks)
{
	const std::string folded = folded_of(run, {});
	EXPECT_TRUE(is_harmless(folded));
	EXPECT_EQ(folded.find('\t'), std::string::npos);
	write_flamegraph(run, {}, {});
	const std::string svg = rundir::file_bytes(run + "/latency.svg");
	EXPECT_TRUE(is_harmless(svg));
	size_t scripts = 0;
	for (size_t at = 0; (at = svg.find("<script", at)) != std::string::npos; ++at)
		++scripts;
	EXPECT_EQ(scripts, 2u) << "icepath's own: data and code";
}

TEST_P(HostileNames, AreHarmlessInThePage)
{
	const std::string page = rundir::file_bytes(write_html(run));
	EXPECT_TRUE(is_harmless(page));
	EXPECT_EQ(page.find("<script>&"), std::string::npos);
	EXPECT_LT(page.size(), 300'000u);
	EXPECT_EQ(page.find("<svg", page.find("id=\"data\"")), std::string::npos) << "data isn't markup";
}

TEST_P(HostileNames, AreHarmlessInEveryExport)
{
	for (const std::string &path : exports::export_run(
			 run,
			 {exports::ExportFormat::Hgrm, exports::ExportFormat::Hlog, exports::ExportFormat::Csv,
			  exports::ExportFormat::Paths, exports::ExportFormat::Speedscope, exports::ExportFormat::Firefox},
			 "")) {
		EXPECT_TRUE(is_harmless(path));
		EXPECT_TRUE(is_harmless(rundir::file_bytes(path))) << path;
	}
}

// A trace is binary, so what harms is looked for instead of all that isn't text.
TEST_P(HostileNames, AreHarmlessInATrace)
{
	const std::string trace = rundir::file_bytes(exports::export_run(run, {exports::ExportFormat::Perfetto}, "").at(0));
	EXPECT_NE(trace.find("initiator"), std::string::npos) << "names are in it";
	for (const char *harm :
		 {"\033[", "\033]", "\033\033", "\u009b31m", "\u202e", "\u2066", "\u200b", "\u200f", "\u2028", "\ufeff"})
		EXPECT_EQ(trace.find(harm), std::string::npos) << nlohmann::json(harm).dump(-1, ' ', true);
}

TEST_P(HostileNames, AreCut)
{
	const auto told = nlohmann::json::parse(json_of(run));
	for (const auto &cell : told.at("cells"))
		EXPECT_LE(cell["target"].get<std::string>().size(), 128u + 2) << "and the mark that it is cut";
	std::istringstream folded(folded_of(run, {}));
	for (std::string line; std::getline(folded, line);)
		EXPECT_LT(line.size(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Of, HostileNames,
						 testing::Values(std::string(kHostile), std::string(120, 'a') + std::string(kHostile),
										 std::string(kHostile) + std::string(10'000, 'b'), std::string(10'000, '\033')),
						 [](const auto &each) { return std::to_string(each.index); });

} // namespace
} // namespace icepath::report
