// SPDX-License-Identifier: Apache-2.0
// The words of why a question of `icepath explain` has no answer.
#include <fmt/format.h>

#include "profiler/explain/tail.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using analysis::RunResult;
using explain::Fact;
using explain::Finding;
using Id = explain::FindingId;

// "40 s", "4 minutes"
std::string run_text(double seconds)
{
	const std::string option = duration_option(seconds);
	return option.ends_with('m')   ? option.substr(0, option.size() - 1) + " minutes"
		   : option.ends_with('h') ? option.substr(0, option.size() - 1) + " hours"
								   : option + " s";
}

// "icepath run -d 40"
std::string longer_command(const RunResult &result, const Finding &finding)
{
	return fmt::format("icepath {} -d{}", result.head.attached ? "attach" : "run",
					   finding.needed_s ? " " + duration_option(*finding.needed_s) : "");
}

std::string longer_text(const RunResult &result, const Finding &finding)
{
	return "measure longer (" + longer_command(result, finding) + ")";
}

std::string title_in(const RunResult &result, const Finding &finding)
{
	return model::title(cell_of(result, finding).cell);
}

std::string unknown_text(const Finding &finding, const std::string &which)
{
	return fmt::format("only {} of {} {} have a known path, too few to stand for the others: icepath report -v RUN "
					   "says why",
					   count_in(finding), count_in(finding, Fact::Of), which);
}

// "1.24 times, between 1.21 and 1.27"
std::string times_words(const Finding &finding)
{
	return fmt::format("{:.3g} times, between {:.3g} and {:.3g}", finding.value.value(), finding.interval->low,
					   finding.interval->high);
}

std::string not_told_apart_text(const RunResult &result, const Finding &finding)
{
	return fmt::format("{} rounds don't tell the two apart: {} takes {} as long as {}. {}, or fewer cells",
					   count_in(finding, Fact::Rounds), title_in(result, finding), times_words(finding),
					   finding.text(Fact::OtherCell),
					   finding.needed_s ? fmt::format("If blocks go on like these, a run of {} tells: measure longer "
													  "(icepath run -d {})",
													  run_text(*finding.needed_s), duration_option(*finding.needed_s))
										: "Measure longer (icepath run -d)");
}

std::string when_told(const RunResult &result, const Finding &finding)
{
	return "If blocks go on like these, " + (finding.needed_s ? "a run of " + run_text(*finding.needed_s) + " tells (" +
																	longer_command(result, finding) + ")"
															  : "no run is long enough to tell");
}

const Wording kOfRefusals[] = {
	{Id::TailTooFewMessages, "",
	 [](const RunResult &result, const Finding &finding) {
		 const double blocks = finding.number(Fact::Blocks);
		 return fmt::format("{} messages of the tail have a known path, in {} block{}; {} in {} are needed: {}",
							count_in(finding), count_of(blocks), blocks == 1 ? "" : "s",
							count_of(finding.limit.value()), explain::kLeastTailBlocks, longer_text(result, finding));
	 }},
	{Id::TailMissing, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} messages with probes have no such tail: {}{}", count_in(finding),
							longer_text(result, finding),
							finding.has(Fact::Percent)
								? fmt::format(", or ask for a tail that they have (icepath explain --tail {:g})",
											  finding.number(Fact::Percent))
								: "");
	 }},
	{Id::TailPathsUnknown, "",
	 [](const RunResult &, const Finding &finding) { return unknown_text(finding, "messages of the tail"); }},
	{Id::TypicalPathsUnknown, "",
	 [](const RunResult &result, const Finding &finding) {
		 return unknown_text(finding, "typical messages" + (finding.cell ? " of " + title_in(result, finding) : ""));
	 }},
	{Id::ModePathsUnknown, "",
	 [](const RunResult &, const Finding &finding) {
		 return unknown_text(finding, "messages of mode " + count_in(finding, Fact::Mode));
	 }},
	{Id::TailNotSlower, "",
	 [](const RunResult &result, const Finding &finding) {
		 return "the slowest messages take no longer than typical ones: " + longer_text(result, finding);
	 }},
	{Id::GrowthOfTooFewBlocks, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("the growth of {} µs comes from too few blocks: {}",
							stats::microseconds(finding.value.value()), longer_text(result, finding));
	 }},
	{Id::GrowthMayBeNone, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("the growth of {} µs may be none: its interval is {} to {} µs. {}",
							stats::microseconds(finding.value.value()), stats::microseconds(finding.interval->low),
							stats::microseconds(finding.interval->high), when_told(result, finding));
	 }},
	{Id::GrowthSizeUnknown, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("how large the growth is: {} µs here, at least {}, up to {} µs by its interval. {}",
							stats::microseconds(finding.value.value()), stats::microseconds(finding.interval->low),
							stats::microseconds(finding.interval->high), when_told(result, finding));
	 }},
	{Id::SameCell, "--cell and --against name the same cell: `icepath report -v RUN` lists the titles"},
	{Id::OwnRate, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} sets its own rate: the faster it goes, the longer its messages queue. Compare "
							"pingpong or oneway (icepath run --patterns)",
							title_in(result, finding));
	 }},
	{Id::TooFewRounds, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("fewer than {} rounds measured both cells: {}", count_of(finding.limit.value()),
							longer_text(result, finding));
	 }},
	{Id::RatioWithoutBounds, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} rounds differ so much that by them the ratio could be anything: {}",
							count_in(finding, Fact::Rounds), longer_text(result, finding));
	 }},
	{Id::TooFewOpenings, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("fewer than {} openings measured both cells, and a difference may be the luck of their "
							"processes: {}",
							count_of(finding.limit.value()), longer_text(result, finding));
	 }},
	{Id::NotToldApart, "", not_told_apart_text},
	{Id::NoProbes, "",
	 [](const RunResult &result, const Finding &finding) {
		 return title_in(result, finding) +
				" was not measured with probes: measure longer, as root or after icepath setup (sudo icepath run -d)";
	 }},
	{Id::TooFewProbed, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} has too few messages with probes: {}", title_in(result, finding),
							longer_text(result, finding));
	 }},
	{Id::TypicalOfTooFewBlocks, "",
	 [](const RunResult &result, const Finding &finding) {
		 return "their typical messages come from too few blocks with probes: " + longer_text(result, finding);
	 }},
	{Id::ProbesDisagree, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("without probes it takes {} as long, but with probes the typical messages of both don't "
							"differ likewise: {} and {} µs. So layers, which only blocks with probes have, can't "
							"explain it: {}",
							times_words(finding), stats::microseconds(finding.number(Fact::HighNs)),
							stats::microseconds(finding.number(Fact::LowNs)), longer_text(result, finding));
	 }},
};

} // namespace

std::span<const Wording> words_of_refusals() { return kOfRefusals; }

} // namespace icepath::text
