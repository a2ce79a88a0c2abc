// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/notices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/explain/mode_words.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

// Kinds of notices that the report on one screen sums up elsewhere.
constexpr std::string_view kLost = "lost messages", kDropped = "dropped records", kRecursionMisses = "recursion misses",
						   kIncomplete = "messages without a breakdown", kTwoModes = "p50s with two modes",
						   kDiffer = "p50s that differ between fresh processes", kDrift = "drift",
						   kTooFew = "too few blocks", kModes = "messages with several modes",
						   kRounded = "values of a long run";

constexpr double kWorthTellingOfLuck = 0.02; // of the p50, between openings

bool lossy(const analysis::CellResult &cell) { return cell.cell.traits.has(model::Trait::Lossy); }
bool measured(const analysis::CellResult &cell) { return cell.blocks_probed + cell.blocks_unprobed > 0; }

bool is_in(const std::vector<std::string> &list, const std::string &sentence)
{
	return std::ranges::any_of(list, [&](const std::string &one) { return one.find(sentence) != std::string::npos; });
}

void add_host_notices(const analysis::RunResult &result, std::vector<std::string> &list)
{
	if (!result.tail && result.head.host.plain_root == true)
		list.emplace_back(kStartedByRoot);
}

void add_machine_notices(const analysis::RunResult &result, std::vector<std::string> &list)
{
	for (const model::CacheLine &line : result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>())
		if (const std::vector<analysis::LineLevel> levels = analysis::levels_of(line); levels.size() > 1)
			list.push_back(fmt::format("the machine changed during this run: a cache line {}. Figures mix what was "
									   "measured before and after that",
									   analysis::levels_text(line, levels)));
	uint64_t untraced = 0;
	std::string which;
	for (const model::InterruptCount &row :
		 result.tail ? result.tail->untraced_interrupts : std::vector<model::InterruptCount>()) {
		untraced += row.count;
		which += fmt::format("{}{} {}", which.empty() ? "" : ", ", row.name.empty() ? row.label : row.name,
							 stats::count(row.count));
	}
	if (untraced > 0)
		list.push_back(fmt::format("no probe sees {} of the interrupts of the measured CPUs ({}): their time is in the "
								   "layers that they interrupted",
								   stats::count(untraced), which));
}

void add(Notices &list, std::string_view kind, const model::Cell &cell, const std::string &detail)
{
	const auto at = std::ranges::find(list.of_cells, kind, &Notices::Kind::what);
	(at == list.of_cells.end() ? list.of_cells.emplace_back(Notices::Kind{std::string(kind), {}}) : *at)
		.cells.push_back(model::title(cell) + ": " + detail);
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

void add_message_notices(const analysis::CellResult &cell, Notices &list)
{
	const analysis::MessageCounts &messages = cell.messages;
	if (messages.lost > 0)
		add(list, kLost, cell.cell,
			fmt::format("{} of {} messages lost{}", stats::count(messages.lost), stats::count(messages.sent),
						lossy(cell) ? " (it may lose messages)" : ""));
	if (messages.bad_payload > 0)
		add(list, "changed bytes", cell.cell,
			fmt::format("{} messages arrived with changed bytes", stats::count(messages.bad_payload)));
	if (messages.copied_after_all > 0)
		add(list, "copied messages", cell.cell,
			fmt::format("the kernel copied {} of {} messages although zero-copy was asked for",
						stats::count(messages.copied_after_all), stats::count(messages.sent)));
	if (messages.inverted > 0)
		add(list, "inverted times", cell.cell,
			fmt::format("{} messages were received before they were sent, by their stamps: they have no latency",
						stats::count(messages.inverted)));
}

void add_capture_notices(const analysis::CellResult &cell, Notices &list)
{
	if (cell.capture.dropped > 0)
		add(list, kDropped, cell.cell,
			fmt::format("{} records dropped: a CPU's log was full; messages after that have no breakdown",
						stats::count(cell.capture.dropped)));
	if (cell.capture.recursion_misses > 0)
		add(list, kRecursionMisses, cell.cell,
			fmt::format("{} recursion misses: the kernel skipped a probe; messages of that time have no breakdown",
						stats::count(cell.capture.recursion_misses)));
	if (cell.layers.sum_error_ns() > 0)
		add(list, "layers that miss the latency", cell.cell,
			fmt::format("layers miss the latency by {} in sum: this is a defect of icepath",
						stats::duration(static_cast<double>(cell.layers.sum_error_ns()))));
	// One in a thousand is what a loaded machine costs. With more, the breakdown may miss a kind of message.
	const uint64_t incomplete = cell.probed - cell.complete();
	if (incomplete * 1000 > cell.probed)
		add(list, kIncomplete, cell.cell,
			fmt::format("{} of {} messages have no breakdown ({})", stats::count(incomplete), stats::count(cell.probed),
						reasons(cell)));
}

void add_qos_notice(const analysis::CellResult &cell, Notices &list)
{
	model::Qos asked, granted;
	for (size_t i = 0; i < asked.size(); ++i)
		if (cell.cell.qos[i] && cell.cell.granted[i] != cell.cell.qos[i]) {
			asked[i] = cell.cell.qos[i];
			granted[i] = cell.cell.granted[i];
		}
	if (granted.any())
		add(list, "quality of service that wasn't granted", cell.cell,
			fmt::format("asked for {}, granted {}", model::text(asked), model::text(granted)));
	else if (asked.any())
		add(list, "quality of service that isn't known", cell.cell,
			fmt::format("asked for {}, the library doesn't report it", model::text(asked)));
}

// What a reader of the layers may not expect.
void add_layer_notices(const analysis::CellResult &cell, Notices &list)
{
	constexpr double kWorthTelling = 0.2; // of the mean latency
	uint64_t held = 0;
	for (const analysis::LayerRow &row : cell.layers.rows())
		if (row.layer == model::Layer::Network && row.part == model::Part::Held)
			held += row.total_ns;
	const auto deliveries = static_cast<double>(cell.layers.deliveries());
	if (held > 0 && static_cast<double>(held) >= kWorthTelling * static_cast<double>(cell.layers.total_ns()))
		add(list, "held by TCP", cell.cell,
			fmt::format(
				"network/held: TCP keeps a message for {} on average, until the other side acknowledges what was "
				"sent before: Nagle's algorithm meets delayed acknowledgement (40 ms), and TCP_NODELAY ends it; "
				"or a window is full",
				stats::duration(static_cast<double>(held) / deliveries)));
}

// The kernel's limit of real-time tasks stops a side only once it has run for long without a sleep. What counts is
// whether it did.
void add_fifo_notice(const analysis::CellResult &cell, Notices &list)
{
	if (cell.cell.levels.fifo_priority == 0 || !model::never_sleeps(cell.cell.wait) || cell.complete() == 0)
		return;
	uint64_t lost_ns = 0;
	for (const analysis::LayerRow &row : cell.layers.rows())
		if (row.layer == model::Layer::Preempted || row.part == model::Part::Preempted)
			lost_ns += row.total_ns;
	add(list, "sides under SCHED_FIFO that never sleep", cell.cell,
		lost_ns == 0
			? "they never lost their CPUs while a message was on its way, in blocks with probes: these are too "
			  "short for the kernel's limit of real-time tasks"
			: fmt::format("they lost their CPUs for {} of {} in which messages were on their way, in blocks "
						  "with probes",
						  stats::duration(static_cast<double>(lost_ns)),
						  stats::duration(static_cast<double>(cell.layers.total_ns()))));
}

// Blocks end by their time or by a full log. Slow ones have fewer messages then, and count for less in all figures.
void add_weight_notice(const analysis::CellResult &cell, Notices &list)
{
	constexpr double kWorthTelling = 0.1; // of the mean
	const auto matters = [](const stats::Distribution &of) {
		return of.count > 0 && std::abs(of.mean_by_block - of.mean) > kWorthTelling * of.mean;
	};
	const auto told = [](const stats::Distribution &of, const char *which) {
		return fmt::format("{} {}, and {} if each block counts the same", which, stats::duration(of.mean),
						   stats::duration(of.mean_by_block));
	};
	std::string text;
	if (matters(cell.latency))
		text = told(cell.latency, "the mean is");
	if (matters(cell.latency_probed))
		text += (text.empty() ? "" : "; ") + told(cell.latency_probed, "with probes it is");
	if (!text.empty())
		add(list, "blocks with fewer messages", cell.cell,
			fmt::format("blocks have different numbers of messages, because slow ones end early: {}", text));
}

// Why a search has no highest rate, or only an imprecise one.
void add_search_notices(const rate::Outcome &search, const analysis::CellResult &cell, Notices &list)
{
	const rate::FoundRate &found = search.found;
	const auto blocks = [](size_t number) { return fmt::format("{} block{}", number, number == 1 ? "" : "s"); };
	const auto rate_of = [](double hz) { return stats::per_second(hz) + " msg/s"; };
	if (found.hz && search.confirmed_by_enough() && 2 * search.held_again() <= search.confirmations.size())
		add(list, "rates that didn't hold again", cell.cell,
			fmt::format("{} held in {} of {} fresh blocks after the search that had found it: measure longer (-d)",
						rate_of(*found.hz), search.held_again(), search.confirmations.size()));
	if (found.hz) {
		if (!found.failed_hz)
			add(list, "rates without an upper end", cell.cell,
				fmt::format("every rate up to {} held: there is no room to try faster ones", rate_of(*found.hz)));
		return;
	}
	const bool some_held = std::ranges::any_of(search.attempts, [](const auto &one) { return one.verdict.held; });
	const std::string tried = blocks(search.attempts.size());
	if (some_held || search.attempts.size() < rate::kProof)
		add(list, "no rate found", cell.cell,
			fmt::format("{} don't show which rate holds; measure longer (-d)", tried));
	else
		add(list, "no rate found", cell.cell,
			fmt::format("none of {} held, down to {}: allow more (--max-p99, --max-loss), or look at what the p99 of "
						"oneway is made of",
						tried, rate_of(*found.statistics_hz)));
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

void add_length_notices(const analysis::CellResult &cell, Notices &list)
{
	double off = 0;
	for (const stats::Distribution *of : {&cell.latency, &cell.latency_probed, &cell.round_trip, &cell.send_call})
		off = std::max(off, of->off);
	if (off > 0)
		add(list, kRounded, cell.cell,
			fmt::format("there are too many messages to keep every latency: percentiles are off by {:.2g} % at most, "
						"which their intervals include",
						100 * off));
	if (cell.modes_of_one_in > 1)
		add(list, kRounded, cell.cell,
			fmt::format("modes were looked for in one of {} groups of rounds", cell.modes_of_one_in));
}

void add_mode_notices(const analysis::CellResult &cell, Notices &list)
{
	add(list, kModes, cell.cell, modes_sentence(cell));
	if (const std::string probes = probes_text(cell); !probes.empty())
		add(list, "modes that probes change", cell.cell, probes);
}

// What openings show beyond the interval, and beyond modes of the messages.
void add_opening_notices(const analysis::CellResult &cell, size_t cells, Notices &list)
{
	const stats::Openings &openings = cell.openings.p50s;
	if (!cell.modes.empty())
		add_mode_notices(cell, list);
	else if (openings.modes.size() == 2)
		add(list, kTwoModes, cell.cell,
			fmt::format("modes: {} and {}, in {} and {} openings of fresh processes",
						stats::duration(openings.modes[0].value), stats::duration(openings.modes[1].value),
						openings.modes[0].openings, openings.modes[1].openings));
	else if (openings.differ() && openings.difference->between_sd >= kWorthTellingOfLuck && !openings.values.empty()) {
		const auto [low, high] = std::ranges::minmax(openings.values);
		add(list, kDiffer, cell.cell,
			fmt::format("from {} to {} in {} openings, which differ by more than their blocks do", stats::duration(low),
						stats::duration(high), openings.values.size()));
	}
	if (!cell.openings.drifted(cells))
		return;
	const stats::Trend &drift = *cell.openings.drift;
	add(list, kDrift, cell.cell,
		fmt::format("p50 {} by {} from the run's begin to its end, between {:+.1f} and {:+.1f} %",
					drift.ratio > 1 ? "rose" : "fell", stats::percent(std::abs(drift.ratio - 1)),
					100 * (drift.interval.low - 1), 100 * (drift.interval.high - 1)));
}

void add_cell_notices(const analysis::CellResult &cell, size_t cells, Notices &list)
{
	if (!measured(cell)) {
		add(list, "nothing measured", cell.cell, "not measured");
		return;
	}
	if (cell.blocks_failed > 0 && (cell.failure.empty() || !is_in(list.recorded, cell.failure)))
		add(list, "failed blocks", cell.cell,
			fmt::format("{} of {} blocks failed: {}", cell.blocks_failed, cell.blocks_probed + cell.blocks_unprobed,
						cell.failure));
	add_message_notices(cell, list);
	add_capture_notices(cell, list);
	add_qos_notice(cell, list);
	add_layer_notices(cell, list);
	add_fifo_notice(cell, list);
	add_weight_notice(cell, list);
	add_length_notices(cell, list);
	if (cell.search)
		add_search_notices(*cell.search, cell, list);
	add_opening_notices(cell, cells, list);
	if (cell.latency.blocks > 0 && cell.latency.blocks < stats::kMinBlocks)
		add(list, kTooFew, cell.cell,
			fmt::format("{} unprobed block{} are too few for an interval; measure longer", cell.latency.blocks,
						cell.latency.blocks == 1 ? "" : "s"));
}

} // namespace

std::string unfinished(const analysis::RunResult &result)
{
	if (result.truncated)
		return "the run died while it wrote: its last block is missing, and so are its own notices";
	if (!result.tail)
		return "the run isn't finished: it died or is still going on, and its own notices are missing";
	return result.tail->interrupted ? "the run was interrupted: this is what was measured until then" : "";
}

Notices notices(const analysis::RunResult &result)
{
	Notices list;
	if (result.tail)
		list.recorded = result.tail->notices;
	add_host_notices(result, list.of_run);
	add_machine_notices(result, list.of_run);
	for (const analysis::CellResult &cell : result.cells)
		add_cell_notices(cell, result.cells.size(), list);
	return list;
}

std::vector<std::string> Notices::all() const
{
	std::vector<std::string> sentences = recorded;
	sentences.insert(sentences.end(), of_run.begin(), of_run.end());
	for (const Kind &kind : of_cells)
		sentences.insert(sentences.end(), kind.cells.begin(), kind.cells.end());
	return sentences;
}

namespace {

// "a, b and 7 more can't wait by spin: left out there" for sentences that differ by their first word only.
std::vector<std::string> merged(const std::vector<std::string> &sentences)
{
	struct Alike {
		std::string rest;
		std::vector<std::string> firsts;
	};
	std::vector<Alike> all;
	for (const std::string &sentence : sentences) {
		const size_t end = std::min(sentence.find(' '), sentence.size());
		const std::string first = sentence.substr(0, end);
		const auto found = std::ranges::find(all, sentence.substr(end), &Alike::rest);
		Alike &alike = found == all.end() ? all.emplace_back(Alike{sentence.substr(end), {}}) : *found;
		if (std::ranges::find(alike.firsts, first) == alike.firsts.end())
			alike.firsts.push_back(first);
	}
	std::vector<std::string> texts;
	for (const auto &[rest, firsts] : all)
		texts.push_back(firsts[0] +
						(firsts.size() == 1   ? ""
						 : firsts.size() == 2 ? " and " + firsts[1]
											  : fmt::format(", {} and {} more", firsts[1], firsts.size() - 2)) +
						rest);
	return texts;
}

} // namespace

std::vector<std::string> Notices::brief() const
{
	constexpr size_t kShown = 4;
	constexpr std::array kElsewhere = {kLost,   kDropped, kRecursionMisses, kIncomplete, kTwoModes,
									   kDiffer, kDrift,   kTooFew,          kModes,      kRounded};
	std::vector<std::string> sentences = recorded;
	std::erase_if(sentences, [](const std::string &sentence) { return sentence.starts_with(kStartedByRoot); });
	sentences = merged(sentences);
	for (const Kind &kind : of_cells)
		if (std::ranges::find(kElsewhere, kind.what) == kElsewhere.end())
			sentences.push_back(kind.cells.size() == 1
									? kind.cells[0]
									: fmt::format("{} in {} cells: {}; and {} more", kind.what, kind.cells.size(),
												  kind.cells[0], kind.cells.size() - 1));
	if (const size_t more = sentences.size() - std::min(sentences.size(), kShown); more > 0) {
		sentences.erase(sentences.begin(), sentences.begin() + static_cast<std::ptrdiff_t>(more));
		sentences.push_back(fmt::format("and {} more: icepath report -v RUN", more));
	}
	return sentences;
}

std::vector<std::string> flaws(const analysis::RunResult &result)
{
	uint64_t empty = 0, failed = 0, lost = 0, changed = 0, inverted = 0, dropped = 0, skipped = 0, missed = 0;
	uint64_t common_dropped = 0, common_skipped = 0;
	for (const analysis::CellResult &cell : result.cells) {
		empty += cell.latency.count == 0 || cell.probed == 0;
		failed += cell.blocks_failed;
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
		missed += cell.layers.sum_error_ns() > 0;
	}
	std::vector<std::string> found;
	if (result.partial())
		found.emplace_back("the run is partial");
	const auto add = [&](uint64_t number, const char *what) {
		if (number > 0)
			found.push_back(fmt::format("{}: {}", what, stats::count(number)));
	};
	add(empty, "cells without messages, either with or without probes");
	add(failed, "blocks that failed");
	add(lost, "messages lost by transports that mustn't lose any");
	add(changed, "messages that arrived with changed bytes");
	add(inverted, "messages received before they were sent, by their stamps");
	add(dropped + common_dropped, "capture records lost, because a CPU's log was full");
	add(skipped + common_skipped, "recursion misses");
	add(missed, "cells whose layers miss the latency");
	return found;
}

bool valid(const analysis::RunResult &result) { return flaws(result).empty(); }

} // namespace icepath::explain
