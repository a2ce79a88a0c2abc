// SPDX-License-Identifier: Apache-2.0
// The words of what to know before reading a run's figures, and of how it ended.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/line_levels.h"
#include "profiler/text/kernel_loss_words.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using analysis::RunResult;
using explain::Fact;
using explain::Finding;
using Id = explain::FindingId;

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
	for (size_t i = 0; i < cell.paths.incomplete.size(); ++i)
		if (cell.paths.incomplete[i] > 0)
			text += fmt::format("{}{} {}", text.empty() ? "" : ", ", path::kReasonNames[i],
								stats::count(cell.paths.incomplete[i]));
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
	std::vector<std::string> means;
	for (const auto &[with, mean, by_block] : {std::tuple{"", Fact::MeanNs, Fact::MeanByBlockNs},
											   {"with probes ", Fact::MeanProbedNs, Fact::MeanByBlockProbedNs}})
		if (finding.has(mean))
			means.push_back(fmt::format("{}the mean is {}, and {} if each block counts the same", with,
										time_in(finding, mean), time_in(finding, by_block)));
	return "blocks have different numbers of messages, because slow ones end early: " +
		   fmt::format("{}", fmt::join(means, "; "));
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

const Wording kToRead[] = {
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
	 [](const RunResult &result, const Finding &finding) {
		 return fmt::format("{} of {} messages lost{}", count_in(finding), count_in(finding, Fact::Of),
							finding.number(Fact::MayLose) > 0 ? " (it may lose messages)" : "") +
				where_lost(cell_of(result, finding));
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
	{.id = Id::SlowBesideDrops, .words = slow_beside_text, .kind = "slow messages beside drops", .is_brief = true},
	{.id = Id::SlowBesideResends, .words = slow_beside_text, .kind = "slow messages beside resends", .is_brief = true},
	{.id = Id::CameWithNext, .words = with_next_text, .kind = "messages that came with the next", .is_brief = true},
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
	{.id = Id::OtherTarget,
	 .words =
		 [](const RunResult &result, const Finding &finding) {
			 const std::string &target = result.cells[finding.cell.value()].cell.target;
			 const bool is_alone = std::ranges::all_of(
				 result.cells, [&](const analysis::CellResult &one) { return one.cell.target == target; });
			 return fmt::format("another cell of this run had its CPU for {} while {} of {} messages waited ({}){}",
								stats::duration(finding.number(Fact::OfNs)), count_in(finding),
								count_in(finding, Fact::Of), finding.text(Fact::Names),
								is_alone ? ""
										 : ": to compare its tail, measure it without the others (-t " + target + ")");
		 },
	 .kind = "CPU time of another cell",
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
	 [](const RunResult &result, const Finding &finding) { return modes_sentence(cell_of(result, finding)); }},
	{.id = Id::ModesChangedByProbes,
	 .words = [](const RunResult &result, const Finding &finding) { return probes_text(cell_of(result, finding)); },
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
		 return fmt::format("{} unprobed block{} {} too few for an interval; measure longer{}", count_in(finding),
							finding.value == 1 ? "" : "s", finding.value == 1 ? "is" : "are",
							finding.needed_s ? fmt::format(" (-d {})", duration_option(*finding.needed_s)) : "");
	 }},
	{.id = Id::OtherOrderByP50,
	 .words =
		 [](const RunResult &, const Finding &finding) {
			 const double more = finding.number(Fact::Of) - 1;
			 return fmt::format(
				 "it ranks before {}, though its p50 is {} and the other's {}{}: ranks are by all "
				 "messages of a block but the fastest and slowest tenth, within rounds",
				 finding.text(Fact::OtherCell), time_in(finding, Fact::HighNs), time_in(finding, Fact::LowNs),
				 more > 0 ? fmt::format(" ({} more pair{} likewise)", count_of(more), more == 1 ? "" : "s") : "");
		 },
	 .kind = "ranks in another order than p50s",
	 .is_brief = true},
};

} // namespace

std::span<const Wording> words_to_read_by() { return kToRead; }

} // namespace icepath::text
