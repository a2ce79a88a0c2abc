// SPDX-License-Identifier: Apache-2.0
// The words of what trust in a run rests on, and of what it was quiet enough for.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/cell_groups.h"
#include "profiler/explain/trust.h"
#include "profiler/text/fitness_words.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using analysis::RunResult;
using explain::Fact;
using explain::Finding;
using Id = explain::FindingId;

// "±3 to ±62 %"
std::string widths_text(const Finding &finding)
{
	const auto text = [](double width) {
		return width < 1 ? fmt::format("±{:.0f}", width * 100) : std::string("±>100");
	};
	const std::string low = text(finding.number(Fact::LeastShare)), high = text(finding.value.value());
	return low == high ? low + " %" : fmt::format("{} to {} %", low, high);
}

std::string p50s_text(const RunResult &, const Finding &finding)
{
	const double between = finding.number(Fact::CellsBetweenModes);
	return (finding.value ? "p50 " + widths_text(finding)
			: between > 0 ? "no p50"
						  : "no p50 has an interval") +
		   (between > 0 ? ", between modes in " + cells_text(between) : "");
}

std::string p99s_text(const RunResult &, const Finding &finding)
{
	if (!finding.value)
		return "no p99 has an interval";
	const double of = finding.number(Fact::Of), with = finding.number(Fact::Cells);
	return "p99 " + widths_text(finding) +
		   (with < of ? fmt::format(" in {} of {}", count_of(with), cells_text(of)) : "");
}

std::string round_trip_text(const RunResult &, const Finding &finding)
{
	const double changes = finding.number(Fact::Changes);
	return fmt::format("CPU {} to {}: {} to {}, {} change{}", finding.number(Fact::FromCpu),
					   finding.number(Fact::ToCpu), time_in(finding, Fact::LowNs), time_in(finding, Fact::HighNs),
					   changes, changes == 1 ? "" : "s");
}

std::string not_quiet_text(const RunResult &result, const Finding &)
{
	constexpr size_t kShown = 2;
	const std::vector<model::Disturbance> noise = explain::noise_of(result.head).value();
	std::string names;
	for (size_t i = 0; i < std::min(noise.size(), kShown); ++i)
		names += (i == 0 ? "" : ", ") + noise[i].name;
	std::ranges::replace(names, '_', ' ');
	return "not quiet: " + names + (noise.size() > kShown ? fmt::format(", {} more", noise.size() - kShown) : "");
}

std::string path_of_cell_text(const RunResult &result, const Finding &finding)
{
	return fmt::format("path known of {:.0f} % of {} of {}", std::floor(finding.value.value() * 100),
					   finding.number(Fact::OfTime) > 0 ? "the time" : "messages",
					   analysis::brief_title(result, cell_of(result, finding).cell));
}

std::string probes_cost_text(const RunResult &, const Finding &finding)
{
	return finding.value > 0
			   ? fmt::format("probes change the p50 of {} of {}, by up to {:+.0f} %", count_in(finding),
							 cells_text(finding.number(Fact::Of)), finding.number(Fact::LargestShare) * 100)
			   : fmt::format("probes have no measurable effect on {}", cells_text(finding.number(Fact::Of)));
}

template <model::Purpose kPurpose> std::string fitness_text(const RunResult &result, const Finding &)
{
	return found_text(explain::fitness_of(result).at(static_cast<size_t>(kPurpose)));
}

// Beside the messages lost: warm-up and several datagrams a message make the datagrams more.
std::string lost_text(const RunResult &, const Finding &finding)
{
	const double full = finding.number(Fact::AtFullBuffers);
	return fmt::format("{} of {} messages lost{}", count_in(finding), count_in(finding, Fact::Of),
					   full >= finding.value.value() ? ": receive buffers full"
					   : full > 0                    ? fmt::format(", {} at full receive buffers", count_of(full))
													 : "");
}

const Wording kOfTrust[] = {
	{Id::P50Widths, "", p50s_text},
	{Id::P99Widths, "", p99s_text},
	{Id::PairsToldApart, "{0} of {1} pairs told apart"},
	{Id::FewProcesses, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("{}: fewer than {} fresh processes", cells_text(finding.value.value()),
							count_of(finding.limit.value()));
	 }},

	{Id::RoundTripChanged, "", round_trip_text},
	{Id::CellsDrifted, "",
	 [](const RunResult &, const Finding &finding) { return "p50 drifted in " + cells_text(finding.value.value()); }},
	{Id::NotQuiet, "", not_quiet_text},
	{Id::ProcessesDiffer, "",
	 [](const RunResult &, const Finding &finding) {
		 return "fresh processes differ in " + cells_text(finding.value.value());
	 }},
	{Id::NoiseNotLookedFor, "this run didn't look for noise"},
	{Id::NoKnownNoise, "no known kind of noise"},
	{Id::RoundTripSame, "the round trip between the CPUs stayed the same"},

	{Id::NothingFollowed, "no message was followed: there are no layers"},
	{Id::PathOfCell, "", path_of_cell_text},
	{Id::PathOfAll, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("path known of {} messages",
							finding.value == 1 ? "all" : share_of_all(finding.value.value()) + " of");
	 }},
	{Id::PathOfTails, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("path known of less than {:.0f} % of the slowest messages in {}",
							100 * finding.number(Fact::LeastShare), cells_text(finding.value.value()));
	 }},
	{Id::ProbesMissing, "{0} of {1} probes don't work here"},
	{Id::ProbesCost, "", probes_cost_text},

	{Id::PartialRun, "the run is partial"},
	{Id::EmptyCells, "cells without messages, either with or without probes: {0}"},
	{Id::BlocksThatFailed, "blocks that failed: {0}"},
	{Id::LostWhereNoneMayBe, "messages lost by transports that mustn't lose any: {0}"},
	{Id::MessagesWithChangedBytes, "messages that arrived with changed bytes: {0}"},
	{Id::MessagesWithInvertedTimes, "messages received before they were sent, by their stamps: {0}"},
	{Id::LostRecords, "capture records lost, because a CPU's log was full: {0}"},
	{Id::SkippedProbes, "recursion misses: {0}"},
	{Id::CellsThatMissLatency, "cells whose layers miss the latency: {0}"},
	{Id::MessagesLost, "", lost_text},
	{Id::NothingLost, "no message, block or record lost"},

	{Id::FitForMedians, "", fitness_text<model::Purpose::Medians>},
	{Id::FitForRanks, "", fitness_text<model::Purpose::Ranks>},
	{Id::FitForTails, "", fitness_text<model::Purpose::Tails>},
};

} // namespace

std::span<const Wording> words_of_trust() { return kOfTrust; }

} // namespace icepath::text
