// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/mode_words.h"
#include "profiler/explain/notices.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/fitness_words.h"

namespace icepath::text {
namespace {

using analysis::RunResult;
using explain::Fact;
using explain::Finding;
using Id = explain::FindingId;

const analysis::CellResult &cell_of(const RunResult &result, const Finding &finding)
{
	return result.cells.at(finding.cell.value());
}

std::string count_of(double number) { return stats::count(static_cast<uint64_t>(std::llround(number))); }
std::string count_in(const Finding &finding) { return count_of(finding.value.value()); }
std::string count_in(const Finding &finding, Fact fact) { return count_of(finding.number(fact)); }
std::string time_in(const Finding &finding, Fact fact) { return stats::duration(finding.number(fact)); }

std::string cells_text(double cells) { return fmt::format("{} cell{}", count_of(cells), cells == 1 ? "" : "s"); }

std::string changed_text(const RunResult &result, const Finding &finding)
{
	const auto &lines = result.tail.value().cache_lines;
	const auto line = std::ranges::find_if(lines, [&](const model::CacheLine &one) {
		return one.from_cpu == finding.number(Fact::FromCpu) && one.to_cpu == finding.number(Fact::ToCpu);
	});
	return fmt::format("the machine changed during this run: a cache line {}. Figures mix what was measured before and "
					   "after that",
					   analysis::levels_text(*line, analysis::levels_of(*line)));
}

std::string untraced_text(const RunResult &result, const Finding &finding)
{
	std::string which;
	for (const model::InterruptCount &row : result.tail.value().untraced_interrupts)
		which += fmt::format("{}{} {}", which.empty() ? "" : ", ", row.name.empty() ? row.label : row.name,
							 stats::count(row.count));
	return fmt::format("no probe sees {} of the interrupts of the measured CPUs ({}): their time is in the layers that "
					   "they interrupted",
					   count_in(finding), which);
}

std::string reasons(const analysis::CellResult &cell)
{
	std::string text;
	for (size_t i = 0; i < cell.incomplete.size(); ++i)
		if (cell.incomplete[i] > 0)
			text += fmt::format("{}{} {}", text.empty() ? "" : ", ", path::kReasonNames[i],
								stats::count(cell.incomplete[i]));
	return text;
}

std::string fifo_text(const RunResult &, const Finding &finding)
{
	return finding.value == 0 ? "they never lost their CPUs while a message was on its way, in blocks with probes: "
								"these are too short for the kernel's limit of real-time tasks"
							  : fmt::format("they lost their CPUs for {} of {} in which messages were on their way, in "
											"blocks with probes",
											stats::duration(*finding.value), time_in(finding, Fact::Of));
}

std::string weight_text(const RunResult &, const Finding &finding)
{
	std::string text;
	for (const auto &[which, mean, by_block] : {std::tuple{"the mean is", Fact::MeanNs, Fact::MeanByBlockNs},
												{"with probes it is", Fact::MeanProbedNs, Fact::MeanByBlockProbedNs}})
		if (finding.has(mean))
			text += fmt::format("{}{} {}, and {} if each block counts the same", text.empty() ? "" : "; ", which,
								time_in(finding, mean), time_in(finding, by_block));
	return "blocks have different numbers of messages, because slow ones end early: " + text;
}

std::string rate_of(double hz) { return stats::per_second(hz) + " msg/s"; }

std::string no_rate_text(const RunResult &, const Finding &finding)
{
	const std::string tried = fmt::format("{} block{}", count_in(finding), finding.value == 1 ? "" : "s");
	return finding.has(Fact::LeastRateHz)
			   ? fmt::format("none of {} held, down to {}: allow more (--max-p99, --max-loss), or look at what the p99 "
							 "of oneway is made of",
							 tried, rate_of(finding.number(Fact::LeastRateHz)))
			   : fmt::format("{} don't show which rate holds; measure longer (-d)", tried);
}

std::string modes_of_openings_text(const RunResult &result, const Finding &finding)
{
	const std::vector<stats::Mode> &modes = cell_of(result, finding).openings.p50s.modes;
	return fmt::format("modes: {} and {}, in {} and {} openings of fresh processes", stats::duration(modes.at(0).value),
					   stats::duration(modes.at(1).value), modes[0].openings, modes[1].openings);
}

std::string drift_text(const RunResult &, const Finding &finding)
{
	const double ratio = finding.value.value();
	const stats::Interval interval = finding.interval.value();
	return fmt::format("p50 {} by {} from the run's begin to its end, between {:+.1f} and {:+.1f} %",
					   ratio > 1 ? "rose" : "fell", stats::percent(std::abs(ratio - 1)), 100 * (interval.low - 1),
					   100 * (interval.high - 1));
}

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

std::string share_of_all(const Finding &finding)
{
	return fmt::format("{:.1f} %", std::floor(finding.value.value() * 1000) / 10);
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

struct Wording {
	Id id;
	const char *pattern = ""; // {0}: the value, {1}: what it is a part of, as counts
	std::string (*words)(const RunResult &, const Finding &) = nullptr; // where a pattern doesn't do
	const char *kind = ""; // of a notice that several cells share: "lost messages"
	bool is_brief = false; // of a notice: the report on one screen has it, since nothing else there tells it
};

constexpr std::array<Wording, explain::kFindingIds> kWordings = {{
	{Id::RunDiedWriting, "the run died while it wrote: its last block is missing, and so are its own notices"},
	{Id::RunUnfinished, "the run isn't finished: it died or is still going on, and its own notices are missing"},
	{Id::RunInterrupted, "the run was interrupted: this is what was measured until then"},

	{Id::Recorded, "", [](const RunResult &, const Finding &finding) { return finding.text(Fact::Sentence); }},
	{Id::StartedByRoot, "started by root itself: workers and files are root's (sudo from an ordinary user gives them "
						"to that user)"},
	{Id::MachineChanged, "", changed_text},
	{Id::UntracedInterrupts, "", untraced_text},
	{.id = Id::NothingMeasured, .pattern = "not measured", .kind = "nothing measured", .is_brief = true},
	{Id::FailedBlocks, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("{} of {} blocks failed: {}", count_in(finding), count_in(finding, Fact::Of),
							finding.text(Fact::Reason));
	 }},
	{Id::LostMessages, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("{} of {} messages lost{}", count_in(finding), count_in(finding, Fact::Of),
							finding.number(Fact::MayLose) > 0 ? " (it may lose messages)" : "");
	 }},
	{.id = Id::ChangedBytes,
	 .pattern = "{0} messages arrived with changed bytes",
	 .kind = "changed bytes",
	 .is_brief = true},
	{.id = Id::CopiedMessages,
	 .pattern = "the kernel copied {0} of {1} messages although zero-copy was asked for",
	 .kind = "copied messages",
	 .is_brief = true},
	{.id = Id::InvertedTimes,
	 .pattern = "{0} messages were received before they were sent, by their stamps: they have no latency",
	 .kind = "inverted times",
	 .is_brief = true},
	{Id::DroppedRecords, "{0} records dropped: a CPU's log was full; messages after that have no breakdown"},
	{Id::RecursionMisses, "{0} recursion misses: the kernel skipped a probe; messages of that time have no breakdown"},
	{.id = Id::LayersMissLatency,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("layers miss the latency by {} in sum: this is a defect of icepath",
								stats::duration(finding.value.value()));
		 },
	 .kind = "layers that miss the latency",
	 .is_brief = true},
	{Id::NoBreakdown, "",
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} of {} messages have no breakdown ({})", count_in(finding), count_in(finding, Fact::Of),
							reasons(cell_of(result, finding)));
	 }},
	{.id = Id::QosNotGranted,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("asked for {}, granted {}", finding.text(Fact::Asked), finding.text(Fact::Granted));
		 },
	 .kind = "quality of service that wasn't granted",
	 .is_brief = true},
	{.id = Id::QosUnknown,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("asked for {}, the library doesn't report it", finding.text(Fact::Asked));
		 },
	 .kind = "quality of service that isn't known",
	 .is_brief = true},
	{.id = Id::HeldByTcp,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("network/held: TCP keeps a message for {} on average, until the other side "
								"acknowledges what was sent before: Nagle's algorithm meets delayed acknowledgement "
								"(40 ms), and TCP_NODELAY ends it; or a window is full",
								stats::duration(finding.value.value()));
		 },
	 .kind = "held by TCP",
	 .is_brief = true},
	{.id = Id::FifoSpinners, .words = fifo_text, .kind = "sides under SCHED_FIFO that never sleep", .is_brief = true},
	{.id = Id::BlocksOfFewMessages, .words = weight_text, .kind = "blocks with fewer messages", .is_brief = true},
	{Id::ValuesRounded, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("there are too many messages to keep every latency: percentiles are off by {:.2g} % at "
							"most, which their intervals include",
							100 * finding.value.value());
	 }},
	{Id::ModesSampled, "modes were looked for in one of {0} groups of rounds"},
	{.id = Id::RateNotHeldAgain,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("{} held in {} of {} fresh blocks after the search that had found it: measure longer "
								"(-d)",
								rate_of(finding.number(Fact::RateHz)), count_in(finding), count_in(finding, Fact::Of));
		 },
	 .kind = "rates that didn't hold again",
	 .is_brief = true},
	{.id = Id::RateWithoutUpperEnd,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 return fmt::format("every rate up to {} held: there is no room to try faster ones",
								rate_of(finding.value.value()));
		 },
	 .kind = "rates without an upper end",
	 .is_brief = true},
	{.id = Id::NoRateFound, .words = no_rate_text, .kind = "no rate found", .is_brief = true},
	{Id::SeveralModes, "",
	 [](const RunResult &result, const Finding &finding) { return explain::modes_sentence(cell_of(result, finding)); }},
	{.id = Id::ModesChangedByProbes,
	 .words = [](const RunResult &result,
				 const Finding &finding) { return explain::probes_text(cell_of(result, finding)); },
	 .kind = "modes that probes change",
	 .is_brief = true},
	{Id::ModesOfOpenings, "", modes_of_openings_text},
	{Id::OpeningsDiffer, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("from {} to {} in {} openings, which differ by more than their blocks do",
							time_in(finding, Fact::LowNs), time_in(finding, Fact::HighNs),
							count_in(finding, Fact::Openings));
	 }},
	{Id::Drift, "", drift_text},
	{Id::TooFewBlocks, "",
	 [](const RunResult &, const Finding &finding) {
		 return fmt::format("{} unprobed block{} are too few for an interval; measure longer", count_in(finding),
							finding.value == 1 ? "" : "s");
	 }},

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
		 return fmt::format("path known of {} messages", finding.value == 1 ? "all" : share_of_all(finding) + " of");
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
	{Id::MessagesLost, "{0} of {1} messages lost"},
	{Id::NothingLost, "no message, block or record lost"},

	{Id::FitForMedians, "", fitness_text<model::Purpose::Medians>},
	{Id::FitForRanks, "", fitness_text<model::Purpose::Ranks>},
	{Id::FitForTails, "", fitness_text<model::Purpose::Tails>},
}};

constexpr bool are_in_order()
{
	for (size_t i = 0; i < kWordings.size(); ++i)
		if (static_cast<size_t>(kWordings[i].id) != i || (!kWordings[i].words && !*kWordings[i].pattern) ||
			(kWordings[i].is_brief && !*kWordings[i].kind))
			return false;
	return true;
}
static_assert(are_in_order(), "words for each FindingId, in its order");

const Wording &wording_of(Id id) { return kWordings.at(static_cast<size_t>(id)); }

} // namespace

std::string words(const RunResult &result, const Finding &finding)
{
	const Wording &wording = wording_of(finding.id);
	return wording.words ? wording.words(result, finding)
						 : fmt::format(fmt::runtime(wording.pattern), count_of(finding.value.value_or(0)),
									   finding.has(Fact::Of) ? count_in(finding, Fact::Of) : "");
}

std::string sentence(const RunResult &result, const Finding &finding)
{
	return (finding.cell ? model::title(cell_of(result, finding).cell) + ": " : "") + words(result, finding);
}

std::vector<std::string> sentences(const RunResult &result, const std::vector<Finding> &findings)
{
	std::vector<std::string> list;
	for (const Finding &finding : findings)
		list.push_back(sentence(result, finding));
	return list;
}

std::vector<std::string> notice_sentences(const RunResult &result)
{
	return sentences(result, explain::notices(result));
}

namespace {

// "a, b and 7 more can't wait by spin: left out there" for sentences, as a run recorded them, that differ by their
// first word only.
std::vector<std::string> merged(const std::vector<std::string> &all)
{
	struct Alike {
		std::string rest;
		std::vector<std::string> firsts;
	};
	std::vector<Alike> groups;
	for (const std::string &one : all) {
		const size_t end = std::min(one.find(' '), one.size());
		const std::string first = one.substr(0, end);
		const auto found = std::ranges::find(groups, one.substr(end), &Alike::rest);
		Alike &alike = found == groups.end() ? groups.emplace_back(Alike{one.substr(end), {}}) : *found;
		if (std::ranges::find(alike.firsts, first) == alike.firsts.end())
			alike.firsts.push_back(first);
	}
	std::vector<std::string> texts;
	for (const auto &[rest, firsts] : groups)
		texts.push_back(firsts[0] +
						(firsts.size() == 1   ? ""
						 : firsts.size() == 2 ? " and " + firsts[1]
											  : fmt::format(", {} and {} more", firsts[1], firsts.size() - 2)) +
						rest);
	return texts;
}

} // namespace

std::vector<std::string> brief_notices(const RunResult &result)
{
	constexpr size_t kShown = 4;
	std::vector<std::string> recorded;
	std::vector<std::vector<Finding>> kinds; // that cells share
	for (const Finding &finding : explain::notices(result)) {
		if (finding.id == Id::Recorded)
			recorded.push_back(words(result, finding));
		else if (!wording_of(finding.id).is_brief)
			continue;
		else if (kinds.empty() || kinds.back().front().id != finding.id)
			kinds.push_back({finding});
		else
			kinds.back().push_back(finding);
	}
	std::vector<std::string> list = merged(recorded);
	for (const std::vector<Finding> &of : kinds)
		list.push_back(of.size() == 1 ? sentence(result, of[0])
									  : fmt::format("{} in {} cells: {}; and {} more", wording_of(of[0].id).kind,
													of.size(), sentence(result, of[0]), of.size() - 1));
	if (const size_t more = list.size() - std::min(list.size(), kShown); more > 0) {
		list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(more));
		list.push_back(fmt::format("and {} more: icepath report -v RUN", more));
	}
	return list;
}

std::vector<std::string> facts_of(const RunResult &result, const explain::Trust &trust)
{
	std::vector<std::string> facts;
	for (const Finding &finding : trust.findings)
		facts.push_back(
			finding.id == Id::PathOfAll && !facts.empty() // goes on with what is known of a cell
				? fmt::format("of {} messages", finding.value == 1 ? "all" : share_of_all(finding) + " of all")
				: words(result, finding));
	return facts;
}

std::string mend_text(const explain::Trust &trust)
{
	switch (trust.mend) {
	case explain::Mend::None:
		break;
	case explain::Mend::MeasureLonger:
		return *trust.needed_s < 120 ? fmt::format("-d {:.0f}", *trust.needed_s)
									 : fmt::format("-d {:.0f}m", std::ceil(*trust.needed_s / 60));
	case explain::Mend::Doctor:
		return "icepath doctor";
	case explain::Mend::FullReport:
		return "icepath report -v RUN";
	}
	return "";
}

std::string unfinished_text(const RunResult &result)
{
	const std::optional<Finding> why = explain::unfinished(result);
	return why ? words(result, *why) : "";
}

} // namespace icepath::text
