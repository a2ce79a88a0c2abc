// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/gate_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "profiler/model/escaped.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/gate_words.h"
#include "profiler/text/markdown.h"

namespace icepath::exports {
namespace {

using gate::Judgement;
using gate::Outcome;
using gate::Status;
using model::escaped;
using text::markdown;

bool is_error(const Judgement &judgement, const Outcome &outcome)
{
	return outcome.status == Status::Missing || (outcome.status == Status::Undecided && !judgement.only_warns(outcome));
}

struct Counts {
	size_t tests = 0, failures = 0, errors = 0;
	std::string text() const { return fmt::format(R"(tests="{}" failures="{}" errors="{}")", tests, failures, errors); }
};

// A gate without a cell says nothing of its expectations.
std::string expected_text(const Judgement &judgement, const Outcome &outcome)
{
	return outcome.cell ? judgement.expectation_of(outcome).text : "a cell";
}

std::string junit_case(const Judgement &judgement, const Outcome &outcome)
{
	const std::string found = escaped(text::outcome_text(judgement, outcome));
	const char *element = outcome.status == Status::Missed ? "failure"
						  : is_error(judgement, outcome)   ? "error"
														   : nullptr;
	std::string xml =
		fmt::format("\t\t<testcase name=\"{}\" classname=\"{}\" time=\"0\">\n",
					escaped(expected_text(judgement, outcome)), escaped(text::place_text(judgement, outcome)));
	const char *status = gate::kStatusNames[static_cast<size_t>(outcome.status)];
	if (element)
		xml += fmt::format("\t\t\t<{0} message=\"{1}: {2}\" type=\"{1}\">{2}</{0}>\n", element, status, found);
	else
		xml += fmt::format("\t\t\t<system-out>{}: {}</system-out>\n", status, found);
	return xml + "\t\t</testcase>\n";
}

std::string junit_suite(const std::string &name, const Counts &counts, const model::Head &head,
						const std::string &cases)
{
	std::string started = head.started_utc; // the schema has no time zone
	if (started.ends_with('Z'))
		started.pop_back();
	return fmt::format("\t<testsuite name=\"{}\" {} skipped=\"0\" time=\"0\" timestamp=\"{}\" hostname=\"{}\">\n{}"
					   "\t</testsuite>\n",
					   escaped(name), counts.text(), escaped(started), escaped(head.host.hostname), cases);
}

constexpr size_t status_rank(Status status)
{
	switch (status) {
	case Status::Missed:
		return 0;
	case Status::Missing:
		return 1;
	case Status::Undecided:
		return 2;
	case Status::Met:
		break;
	}
	return 3;
}

std::string figure_cell(const analysis::CellResult &cell, size_t which)
{
	return stats::percentile_text(cell.times.latency, which);
}

} // namespace

std::string junit_xml(const analysis::RunResult &result, const Judgement &judgement)
{
	std::vector<Counts> counts(judgement.gates.size());
	std::vector<std::string> cases(judgement.gates.size());
	for (const Outcome &outcome : judgement.outcomes) {
		Counts &of = counts.at(outcome.gate);
		++of.tests;
		of.failures += outcome.status == Status::Missed;
		of.errors += is_error(judgement, outcome);
		cases[outcome.gate] += junit_case(judgement, outcome);
	}
	Counts all;
	std::string suites;
	for (size_t i = 0; i < counts.size(); ++i) {
		suites += junit_suite(judgement.gates[i].name, counts[i], result.head, cases[i]);
		all = {all.tests + counts[i].tests, all.failures + counts[i].failures, all.errors + counts[i].errors};
	}
	if (!judgement.is_whole) {
		const std::string why = "the run ended early, or its file is damaged";
		suites += junit_suite("the run", {1, 0, 1}, result.head,
							  fmt::format("\t\t<testcase name=\"the run is whole\" classname=\"the run\" time=\"0\">\n"
										  "\t\t\t<error message=\"{0}\" type=\"undecided\">{0}</error>\n"
										  "\t\t</testcase>\n",
										  why));
		++all.tests;
		++all.errors;
	}
	return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"icepath\" {} time=\"0\">\n{}"
					   "</testsuites>\n",
					   all.text(), suites);
}

std::string summary_markdown(const analysis::RunResult &result, const Judgement &judgement)
{
	std::string page = "### icepath";
	page += judgement.outcomes.empty() ? "\n" : ": " + text::counts_text(judgement) + "\n";
	if (!judgement.is_whole)
		page += "\nThe run isn't whole: it ended early, or its file is damaged.\n";
	std::vector<const Outcome *> outcomes;
	for (const Outcome &outcome : judgement.outcomes)
		outcomes.push_back(&outcome);
	std::ranges::stable_sort(outcomes, {}, [](const Outcome *one) { return status_rank(one->status); });
	// Half of the room is for what gates find, at least.
	text::MarkdownLines gates(page, "\n| | expected | found | cell | gate |\n|---|---|---|---|---|\n", "icepath report",
							  text::kLongestComment * 3 / 4);
	for (const Outcome *outcome : outcomes)
		gates.add(
			fmt::format("| {} | {} | {} | {} | {} |\n", gate::kStatusNames[static_cast<size_t>(outcome->status)],
						markdown(expected_text(judgement, *outcome)), markdown(text::outcome_text(judgement, *outcome)),
						markdown(text::place_text(judgement, *outcome)), markdown(judgement.gate_of(*outcome).name)));
	gates.end();
	text::MarkdownLines cells(page, "\n| cell | p50, µs | p99, µs | lost |\n|---|--:|--:|--:|\n", "icepath report",
							  text::kLongestComment);
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const analysis::CellResult &cell = result.cells[i];
		constexpr size_t kP50 = 0, kP99 = 2; // in stats::kReported
		static_assert(stats::kReported[kP50] == stats::kP50 && stats::kReported[kP99] == stats::kP99);
		cells.add(fmt::format("| {} | {} | {} | {} |\n", markdown(judgement.keys.at(i)), figure_cell(cell, kP50),
							  figure_cell(cell, kP99), stats::count(cell.messages.lost)));
	}
	cells.end();
	return page;
}

} // namespace icepath::exports
