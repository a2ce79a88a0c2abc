// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/finding.h"

#include <algorithm>
#include <stdexcept>

namespace icepath::explain {
namespace {

using Id = FindingId;

constexpr std::array<FindingRow, kFindingIds> kRows = {{
	{Id::RunDiedWriting, "run_died_writing", Topic::Run, Severity::Flaw, Mend::None},
	{Id::RunUnfinished, "run_unfinished", Topic::Run, Severity::Flaw, Mend::None},
	{Id::RunInterrupted, "run_interrupted", Topic::Run, Severity::Flaw, Mend::None},

	{Id::Recorded, "recorded", Topic::Reading, Severity::Note, Mend::None},
	{Id::StartedByRoot, "started_by_root", Topic::Reading, Severity::Note, Mend::None},
	{Id::MachineChanged, "machine_changed", Topic::Reading, Severity::Doubt, Mend::Doctor},
	{Id::UntracedInterrupts, "untraced_interrupts", Topic::Reading, Severity::Note, Mend::None},
	{Id::NothingMeasured, "nothing_measured", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::FailedBlocks, "failed_blocks", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::LostMessages, "lost_messages", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::ChangedBytes, "changed_bytes", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::CopiedMessages, "copied_messages", Topic::Reading, Severity::Note, Mend::None},
	{Id::InvertedTimes, "inverted_times", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::DroppedRecords, "dropped_records", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::RecursionMisses, "recursion_misses", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::LayersMissLatency, "layers_miss_latency", Topic::Reading, Severity::Flaw, Mend::None},
	{Id::NoBreakdown, "no_breakdown", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::QosNotGranted, "qos_not_granted", Topic::Reading, Severity::Note, Mend::None},
	{Id::QosUnknown, "qos_unknown", Topic::Reading, Severity::Note, Mend::None},
	{Id::SlowBesideDrops, "slow_beside_drops", Topic::Reading, Severity::Note, Mend::None},
	{Id::SlowBesideResends, "slow_beside_resends", Topic::Reading, Severity::Note, Mend::None},
	{Id::CameWithNext, "came_with_next", Topic::Reading, Severity::Note, Mend::None},
	{Id::HeldByTcp, "held_by_tcp", Topic::Reading, Severity::Note, Mend::None},
	{Id::OtherTarget, "other_target", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::FifoSpinners, "fifo_spinners", Topic::Reading, Severity::Note, Mend::None},
	{Id::BlocksOfFewMessages, "blocks_of_few_messages", Topic::Reading, Severity::Note, Mend::None},
	{Id::ValuesRounded, "values_rounded", Topic::Reading, Severity::Note, Mend::None},
	{Id::ModesSampled, "modes_sampled", Topic::Reading, Severity::Note, Mend::None},
	{Id::RateNotHeldAgain, "rate_not_held_again", Topic::Reading, Severity::Doubt, Mend::MeasureLonger},
	{Id::RateWithoutUpperEnd, "rate_without_upper_end", Topic::Reading, Severity::Note, Mend::None},
	{Id::NoRateFound, "no_rate_found", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::SeveralModes, "several_modes", Topic::Reading, Severity::Note, Mend::None},
	{Id::ModesChangedByProbes, "modes_changed_by_probes", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::ModesOfOpenings, "modes_of_openings", Topic::Reading, Severity::Note, Mend::None},
	{Id::OpeningsDiffer, "openings_differ", Topic::Reading, Severity::Note, Mend::None},
	{Id::Drift, "drift", Topic::Reading, Severity::Doubt, Mend::None},
	{Id::TooFewBlocks, "too_few_blocks", Topic::Reading, Severity::Doubt, Mend::MeasureLonger},
	{Id::OtherOrderByP50, "other_order_by_p50", Topic::Reading, Severity::Note, Mend::None},

	{Id::P50Widths, "p50_widths", Topic::Precision, Severity::Ok, Mend::None},
	{Id::P99Widths, "p99_widths", Topic::Precision, Severity::Ok, Mend::None},
	{Id::PairsToldApart, "pairs_told_apart", Topic::Precision, Severity::Ok, Mend::None},
	{Id::FewProcesses, "few_processes", Topic::Precision, Severity::Doubt, Mend::MeasureLonger},

	{Id::RoundTripChanged, "round_trip_changed", Topic::Steadiness, Severity::Doubt, Mend::Doctor},
	{Id::CellsDrifted, "cells_drifted", Topic::Steadiness, Severity::Doubt, Mend::Doctor},
	{Id::NotQuiet, "not_quiet", Topic::Steadiness, Severity::Doubt, Mend::Doctor},
	{Id::ProcessesDiffer, "processes_differ", Topic::Steadiness, Severity::Note, Mend::Doctor},
	{Id::NoiseNotLookedFor, "noise_not_looked_for", Topic::Steadiness, Severity::Note, Mend::None},
	{Id::NoKnownNoise, "no_known_noise", Topic::Steadiness, Severity::Ok, Mend::None},
	{Id::RoundTripSame, "round_trip_same", Topic::Steadiness, Severity::Ok, Mend::None},

	{Id::NothingFollowed, "nothing_followed", Topic::Knowledge, Severity::Doubt, Mend::Doctor},
	{Id::PathOfCell, "path_of_cell", Topic::Knowledge, Severity::Doubt, Mend::FullReport},
	{Id::PathOfAll, "path_of_all", Topic::Knowledge, Severity::Ok, Mend::None},
	{Id::PathOfTails, "path_of_tails", Topic::Knowledge, Severity::Doubt, Mend::FullReport},
	{Id::ProbesMissing, "probes_missing", Topic::Knowledge, Severity::Doubt, Mend::Doctor},
	{Id::ProbesCost, "probes_cost", Topic::Knowledge, Severity::Note, Mend::None},

	{Id::PartialRun, "partial_run", Topic::Completeness, Severity::Flaw, Mend::None},
	{Id::EmptyCells, "empty_cells", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::BlocksThatFailed, "blocks_that_failed", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::LostWhereNoneMayBe, "lost_where_none_may_be", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::MessagesWithChangedBytes, "messages_with_changed_bytes", Topic::Completeness, Severity::Flaw,
	 Mend::FullReport},
	{Id::MessagesWithInvertedTimes, "messages_with_inverted_times", Topic::Completeness, Severity::Flaw,
	 Mend::FullReport},
	{Id::LostRecords, "lost_records", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::SkippedProbes, "skipped_probes", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::CellsThatMissLatency, "cells_that_miss_latency", Topic::Completeness, Severity::Flaw, Mend::FullReport},
	{Id::MessagesLost, "messages_lost", Topic::Completeness, Severity::Doubt, Mend::FullReport},
	{Id::NothingLost, "nothing_lost", Topic::Completeness, Severity::Ok, Mend::None},

	{Id::FitForMedians, "fit_for_medians", Topic::Fitness, Severity::Ok, Mend::None},
	{Id::FitForRanks, "fit_for_ranks", Topic::Fitness, Severity::Ok, Mend::None},
	{Id::FitForTails, "fit_for_tails", Topic::Fitness, Severity::Ok, Mend::None},

	{Id::TailTooFewMessages, "tail_too_few_messages", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::TailMissing, "tail_missing", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::TailPathsUnknown, "tail_paths_unknown", Topic::Explanation, Severity::Note, Mend::FullReport},
	{Id::TypicalPathsUnknown, "typical_paths_unknown", Topic::Explanation, Severity::Note, Mend::FullReport},
	{Id::ModePathsUnknown, "mode_paths_unknown", Topic::Explanation, Severity::Note, Mend::FullReport},
	{Id::TailNotSlower, "tail_not_slower", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::GrowthOfTooFewBlocks, "growth_of_too_few_blocks", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::GrowthMayBeNone, "growth_may_be_none", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::GrowthSizeUnknown, "growth_size_unknown", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::SameCell, "same_cell", Topic::Explanation, Severity::Note, Mend::None},
	{Id::OwnRate, "own_rate", Topic::Explanation, Severity::Note, Mend::None},
	{Id::TooFewRounds, "too_few_rounds", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::RatioWithoutBounds, "ratio_without_bounds", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::TooFewOpenings, "too_few_openings", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::NotToldApart, "not_told_apart", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::NoProbes, "no_probes", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::TooFewProbed, "too_few_probed", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::TypicalOfTooFewBlocks, "typical_of_too_few_blocks", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
	{Id::ProbesDisagree, "probes_disagree", Topic::Explanation, Severity::Note, Mend::MeasureLonger},
}};

constexpr bool are_in_order()
{
	for (size_t i = 0; i < kRows.size(); ++i)
		if (static_cast<size_t>(kRows[i].id) != i || kRows[i].name.empty())
			return false;
	for (size_t i = 0; i < kFacts.size(); ++i)
		if (static_cast<size_t>(kFacts[i].fact) != i || kFacts[i].name.empty())
			return false;
	return true;
}
static_assert(are_in_order(), "a row for each FindingId and Fact, in their order");

const Evidence *evidence_of(const Finding &finding, Fact fact)
{
	const auto at = std::ranges::find(finding.evidence, fact, &Evidence::fact);
	return at == finding.evidence.end() ? nullptr : &*at;
}

const Evidence &needed(const Finding &finding, Fact fact)
{
	const Evidence *found = evidence_of(finding, fact);
	if (!found)
		throw std::out_of_range(std::string(row_of(finding.id).name) + " has no " + std::string(name_of(fact)));
	return *found;
}

} // namespace

const FindingRow &row_of(FindingId id) { return kRows.at(static_cast<size_t>(id)); }

double Finding::number(Fact fact) const { return std::get<double>(needed(*this, fact).is); }
const std::string &Finding::text(Fact fact) const { return std::get<std::string>(needed(*this, fact).is); }
bool Finding::has(Fact fact) const { return evidence_of(*this, fact) != nullptr; }

std::optional<double> longer_run_s(double run_s, double times)
{
	constexpr double kLongestRunS = 86'400;
	const double needed_s = run_s * times;
	return needed_s > 0 && needed_s <= kLongestRunS ? std::optional(needed_s) : std::nullopt;
}

} // namespace icepath::explain
