// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/notices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "icepath/plugin.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/kernel_losses.h"
#include "profiler/explain/leading_figure.h"
#include "profiler/model/fitness.h"
#include "profiler/model/qos.h"

namespace icepath::explain {
namespace {

using List = std::vector<Finding>;

constexpr double kWorthTellingOfLuck = 0.02; // of the p50, between openings

bool lossy(const analysis::CellResult &cell) { return cell.cell.traits.has(model::Trait::Lossy); }
bool measured(const analysis::CellResult &cell) { return cell.blocks.probed + cell.blocks.unprobed > 0; }

void add_run_notices(const analysis::RunResult &result, List &list)
{
	if (result.tail)
		for (const std::string &sentence : result.tail->notices)
			list.push_back({.id = FindingId::Recorded, .evidence = {{Fact::Sentence, sentence}}});
	if (result.head.host.plain_root == true)
		list.push_back({.id = FindingId::StartedByRoot});
	if (!result.tail)
		return;
	for (const model::CacheLine &line : result.tail->cache_lines)
		if (const std::vector<analysis::LineLevel> levels = analysis::levels_of(line); levels.size() > 1) {
			const auto [low, high] = std::ranges::minmax(levels, {}, &analysis::LineLevel::round_trip_ns);
			list.push_back({.id = FindingId::MachineChanged,
							.value = number(high.round_trip_ns) / number(low.round_trip_ns),
							.limit = model::kLineApart,
							.evidence = {{Fact::FromCpu, number(line.from_cpu)},
										 {Fact::ToCpu, number(line.to_cpu)},
										 {Fact::Changes, number(levels.size() - 1)},
										 {Fact::LowNs, number(low.round_trip_ns)},
										 {Fact::HighNs, number(high.round_trip_ns)}}});
		}
	uint64_t untraced = 0;
	for (const model::InterruptCount &row : result.tail->untraced_interrupts)
		untraced += row.count;
	if (untraced > 0)
		list.push_back({.id = FindingId::UntracedInterrupts, .value = number(untraced)});
}

void add_message_notices(const analysis::CellResult &cell, size_t index, List &list)
{
	const analysis::MessageCounts &messages = cell.messages;
	if (messages.lost > 0) {
		Finding &lost = list.emplace_back(
			Finding{.id = FindingId::LostMessages,
					.cell = index,
					.value = number(messages.lost),
					.evidence = {{Fact::Of, number(messages.sent)}, {Fact::MayLose, lossy(cell) ? 1.0 : 0.0}}});
		if (lossy(cell))
			lost.severity = Severity::Note;
	}
	if (messages.bad_payload > 0)
		list.push_back({.id = FindingId::ChangedBytes, .cell = index, .value = number(messages.bad_payload)});
	if (messages.copied_after_all > 0)
		list.push_back({.id = FindingId::CopiedMessages,
						.cell = index,
						.value = number(messages.copied_after_all),
						.evidence = {{Fact::Of, number(messages.sent)}}});
	if (messages.inverted > 0)
		list.push_back({.id = FindingId::InvertedTimes, .cell = index, .value = number(messages.inverted)});
}

void add_capture_notices(const analysis::CellResult &cell, size_t index, List &list)
{
	if (cell.capture.dropped > 0)
		list.push_back({.id = FindingId::DroppedRecords, .cell = index, .value = number(cell.capture.dropped)});
	if (cell.capture.recursion_misses > 0)
		list.push_back(
			{.id = FindingId::RecursionMisses, .cell = index, .value = number(cell.capture.recursion_misses)});
	if (cell.paths.layers.sum_error_ns() > 0)
		list.push_back(
			{.id = FindingId::LayersMissLatency, .cell = index, .value = number(cell.paths.layers.sum_error_ns())});
	// One in a thousand is what a loaded machine costs. With more, the breakdown may miss a kind of message.
	constexpr double kCostOfLoad = 0.001;
	const double incomplete = number(cell.paths.deliveries - cell.paths.complete()),
				 limit = kCostOfLoad * number(cell.paths.deliveries);
	if (incomplete > limit)
		list.push_back({.id = FindingId::NoBreakdown,
						.cell = index,
						.value = incomplete,
						.limit = limit,
						.evidence = {{Fact::Of, number(cell.paths.deliveries)}}});
}

void add_qos_notice(const analysis::CellResult &cell, size_t index, List &list)
{
	model::Qos asked, granted;
	for (size_t i = 0; i < asked.size(); ++i)
		if (cell.cell.qos[i] && cell.cell.granted[i] != cell.cell.qos[i]) {
			asked[i] = cell.cell.qos[i];
			granted[i] = cell.cell.granted[i];
		}
	if (granted.any())
		list.push_back({.id = FindingId::QosNotGranted,
						.cell = index,
						.evidence = {{Fact::Asked, model::text(asked)}, {Fact::Granted, model::text(granted)}}});
	else if (asked.any())
		list.push_back({.id = FindingId::QosUnknown, .cell = index, .evidence = {{Fact::Asked, model::text(asked)}}});
}

// What a reader of the layers may not expect.
void add_layer_notices(const analysis::CellResult &cell, size_t index, List &list)
{
	constexpr double kWorthTelling = 0.2; // of the mean latency
	uint64_t held = 0;
	for (const analysis::LayerRow &row : cell.paths.layers.rows())
		if (row.layer == model::Layer::Network && row.part == model::Part::Held)
			held += row.total_ns;
	const double deliveries = number(cell.paths.layers.deliveries()),
				 mean = number(cell.paths.layers.total_ns()) / deliveries;
	if (held > 0 && number(held) / deliveries >= kWorthTelling * mean)
		list.push_back({.id = FindingId::HeldByTcp,
						.cell = index,
						.value = number(held) / deliveries,
						.limit = kWorthTelling * mean,
						.evidence = {{Fact::Of, mean}}});
}

// Cells that share a window, and what couldn't be kept still.
void add_neighbour_notice(const analysis::CellResult &cell, size_t index, List &list)
{
	constexpr double kWorthTelling = 0.001; // of the messages: those of a p99.9
	uint64_t messages = 0, ns = 0;
	std::string name; // of the longest
	for (const analysis::CulpritRow &row : cell.paths.culprits.top(SIZE_MAX))
		if (row.origin == analysis::Origin::OtherTarget && !row.ended_sleep()) {
			messages += row.messages;
			ns += row.total_ns;
			name = name.empty() ? row.name : name;
		}
	const double limit = kWorthTelling * number(cell.paths.complete());
	if (messages > 0 && number(messages) >= limit)
		list.push_back(
			{.id = FindingId::OtherTarget,
			 .cell = index,
			 .value = number(messages),
			 .limit = limit,
			 .evidence = {{Fact::Of, number(cell.paths.complete())}, {Fact::OfNs, number(ns)}, {Fact::Names, name}}});
}

// The kernel's limit of real-time tasks stops a side only once it has run for long without a sleep. What counts is
// whether it did.
void add_fifo_notice(const analysis::CellResult &cell, size_t index, List &list)
{
	if (cell.cell.levels.fifo_priority == 0 || !model::never_sleeps(cell.cell.wait) || cell.paths.complete() == 0)
		return;
	uint64_t lost_ns = 0;
	for (const analysis::LayerRow &row : cell.paths.layers.rows())
		if (row.layer == model::Layer::Preempted || row.part == model::Part::Preempted)
			lost_ns += row.total_ns;
	list.push_back({.id = FindingId::FifoSpinners,
					.cell = index,
					.value = number(lost_ns),
					.evidence = {{Fact::Of, number(cell.paths.layers.total_ns())}}});
}

// Blocks end by their time or by a full log. Slow ones have fewer messages then, and count for less in all figures.
void add_weight_notice(const analysis::CellResult &cell, size_t index, List &list)
{
	constexpr double kWorthTelling = 0.1; // of the mean
	Finding finding{.id = FindingId::BlocksOfFewMessages, .cell = index, .limit = kWorthTelling};
	const auto look_at = [&](const stats::Distribution &of, Fact mean, Fact mean_by_block) {
		const double apart = of.count > 0 && of.mean > 0 ? std::abs(of.mean_by_block - of.mean) / of.mean : 0;
		if (apart <= kWorthTelling)
			return;
		finding.value = std::max(finding.value.value_or(0), apart);
		finding.evidence.push_back({mean, of.mean});
		finding.evidence.push_back({mean_by_block, of.mean_by_block});
	};
	look_at(cell.times.latency, Fact::MeanNs, Fact::MeanByBlockNs);
	look_at(cell.times.latency_probed, Fact::MeanProbedNs, Fact::MeanByBlockProbedNs);
	if (finding.value)
		list.push_back(std::move(finding));
}

// Why a search has no highest rate, or only an imprecise one.
void add_search_notices(const rate::Outcome &search, size_t index, List &list)
{
	const rate::FoundRate &found = search.found;
	if (found.hz && search.confirmed_by_enough() && 2 * search.held_again() <= search.confirmations.size())
		list.push_back({.id = FindingId::RateNotHeldAgain,
						.cell = index,
						.value = number(search.held_again()),
						.evidence = {{Fact::Of, number(search.confirmations.size())}, {Fact::RateHz, *found.hz}}});
	if (found.hz) {
		if (!found.failed_hz)
			list.push_back({.id = FindingId::RateWithoutUpperEnd, .cell = index, .value = found.hz});
		return;
	}
	Finding &none = list.emplace_back(
		Finding{.id = FindingId::NoRateFound, .cell = index, .value = number(search.attempts.size())});
	if (std::ranges::any_of(search.attempts, [](const auto &one) { return one.verdict.held; }) ||
		search.attempts.size() < rate::kProof)
		none.mend = Mend::MeasureLonger;
	else
		none.evidence = {{Fact::LeastRateHz, *found.statistics_hz}};
}

// Messages lost in a cell's search, at rates that the report doesn't describe included.
uint64_t lost_in(const analysis::CellResult &cell)
{
	uint64_t lost = cell.messages.lost;
	if (cell.search)
		for (const rate::Attempt &attempt : cell.search->attempts)
			if (cell.search->confirmed_by_enough() || !cell.search->uses(attempt.hz))
				lost += attempt.verdict.lost;
	return lost;
}

void add_length_notices(const analysis::CellResult &cell, size_t index, List &list)
{
	double off = 0;
	for (const stats::Distribution *of :
		 {&cell.times.latency, &cell.times.latency_probed, &cell.times.round_trip, &cell.times.send_call})
		off = std::max(off, of->off);
	if (off > 0)
		list.push_back({.id = FindingId::ValuesRounded, .cell = index, .value = off});
	if (cell.modes.of_one_in > 1)
		list.push_back({.id = FindingId::ModesSampled, .cell = index, .value = number(cell.modes.of_one_in)});
}

// What openings show beyond the interval, and beyond modes of the messages.
void add_opening_notices(const analysis::CellResult &cell, size_t index, size_t cells, List &list)
{
	const stats::Openings &openings = cell.openings.p50s;
	if (!cell.modes.all.empty()) {
		list.push_back({.id = FindingId::SeveralModes, .cell = index, .value = number(cell.modes.all.size())});
		const auto changed = std::ranges::count_if(cell.modes.all, [](const analysis::CellMode &mode) {
			return mode.changed_by_probes() || !mode.seen_with_probes();
		});
		if (changed > 0)
			list.push_back({.id = FindingId::ModesChangedByProbes,
							.cell = index,
							.value = static_cast<double>(changed),
							.evidence = {{Fact::Of, number(cell.modes.all.size())}}});
	} else if (openings.modes.size() == 2)
		list.push_back({.id = FindingId::ModesOfOpenings,
						.cell = index,
						.value = openings.modes[1].value / openings.modes[0].value,
						.evidence = {{Fact::LowNs, openings.modes[0].value}, {Fact::HighNs, openings.modes[1].value}}});
	else if (openings.differ() && openings.difference->between_sd >= kWorthTellingOfLuck && !openings.values.empty()) {
		const auto [low, high] = std::ranges::minmax(openings.values);
		list.push_back(
			{.id = FindingId::OpeningsDiffer,
			 .cell = index,
			 .value = openings.difference->between_sd,
			 .limit = kWorthTellingOfLuck,
			 .evidence = {{Fact::LowNs, low}, {Fact::HighNs, high}, {Fact::Openings, number(openings.values.size())}}});
	}
	if (cell.openings.drifted(cells))
		list.push_back({.id = FindingId::Drift,
						.cell = index,
						.value = cell.openings.drift->ratio,
						.interval = cell.openings.drift->interval});
}

void add_cell_notices(const analysis::CellResult &cell, size_t index, const analysis::RunResult &result, List &list)
{
	if (!measured(cell)) {
		list.push_back({.id = FindingId::NothingMeasured, .cell = index});
		return;
	}
	if (cell.blocks.failed > 0)
		list.push_back({.id = FindingId::FailedBlocks,
						.cell = index,
						.value = number(cell.blocks.failed),
						.evidence = {{Fact::Of, number(cell.blocks.probed + cell.blocks.unprobed)},
									 {Fact::Reason, cell.blocks.failure}}});
	add_message_notices(cell, index, list);
	add_capture_notices(cell, index, list);
	add_qos_notice(cell, index, list);
	for (std::optional<Finding> &told :
		 std::array{stalls_with_drops(cell, index), stalls_with_resends(cell, index), brought_by_next(cell, index)})
		if (told)
			list.push_back(std::move(*told));
	add_layer_notices(cell, index, list);
	add_neighbour_notice(cell, index, list);
	add_fifo_notice(cell, index, list);
	add_weight_notice(cell, index, list);
	add_length_notices(cell, index, list);
	if (cell.search)
		add_search_notices(*cell.search, index, list);
	add_opening_notices(cell, index, result.cells.size(), list);
	if (cell.times.latency.blocks > 0 && cell.times.latency.blocks < stats::kMinBlocks)
		list.push_back({.id = FindingId::TooFewBlocks,
						.cell = index,
						.value = number(cell.times.latency.blocks),
						.limit = number(stats::kMinBlocks),
						.needed_s = longer_run_s(result.head.budget_s,
												 number(stats::kMinBlocks) / number(cell.times.latency.blocks))});
}

} // namespace

std::optional<Finding> unfinished(const analysis::RunResult &result)
{
	if (result.truncated)
		return Finding{.id = FindingId::RunDiedWriting};
	if (!result.tail)
		return Finding{.id = FindingId::RunUnfinished};
	return result.tail->interrupted ? std::optional(Finding{.id = FindingId::RunInterrupted}) : std::nullopt;
}

std::vector<Finding> notices(const analysis::RunResult &result)
{
	List list;
	add_run_notices(result, list);
	for (size_t i = 0; i < result.cells.size(); ++i)
		add_cell_notices(result.cells[i], i, result, list);
	std::ranges::move(other_orders_by_p50(result), std::back_inserter(list));
	std::ranges::stable_sort(list, {}, &Finding::id);
	return list;
}

std::vector<Finding> flaws(const analysis::RunResult &result)
{
	uint64_t empty = 0, failed = 0, lost = 0, changed = 0, inverted = 0, dropped = 0, skipped = 0, missed = 0;
	uint64_t common_dropped = 0, common_skipped = 0;
	for (const analysis::CellResult &cell : result.cells) {
		empty += cell.times.latency.count == 0 || cell.paths.deliveries == 0;
		failed += cell.blocks.failed;
		lost += lossy(cell) ? 0 : lost_in(cell);
		changed += cell.messages.bad_payload;
		inverted += cell.messages.inverted;
		if (cell.capture.beside > 0) { // all of them report the same
			common_dropped = std::max(common_dropped, cell.capture.dropped);
			common_skipped = std::max(common_skipped, cell.capture.recursion_misses);
		} else {
			dropped += cell.capture.dropped;
			skipped += cell.capture.recursion_misses;
		}
		missed += cell.paths.layers.sum_error_ns() > 0;
	}
	List found;
	if (result.partial())
		found.push_back({.id = FindingId::PartialRun});
	for (const auto &[count, id] : {std::pair{empty, FindingId::EmptyCells},
									{failed, FindingId::BlocksThatFailed},
									{lost, FindingId::LostWhereNoneMayBe},
									{changed, FindingId::MessagesWithChangedBytes},
									{inverted, FindingId::MessagesWithInvertedTimes},
									{dropped + common_dropped, FindingId::LostRecords},
									{skipped + common_skipped, FindingId::SkippedProbes},
									{missed, FindingId::CellsThatMissLatency}})
		if (count > 0)
			found.push_back({.id = id, .value = number(count)});
	return found;
}

bool valid(const analysis::RunResult &result) { return flaws(result).empty(); }

} // namespace icepath::explain
