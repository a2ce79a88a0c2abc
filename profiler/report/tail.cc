// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/tail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "profiler/model/cell_title.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/named_cells.h"
#include "profiler/report/quantity.h"
#include "profiler/report/unknown_paths.h"

namespace icepath::report {
namespace {

// What is missing for an explanation; empty: nothing.
std::string too_little(const CellResult &cell, const TailExplanation &tail)
{
	const std::string longer = "measure longer (icepath run -d)";
	if (cell.tail && tail.messages > 0 && cell.tail->share_known() >= kEnoughKnown &&
		(tail.messages < kLeastTail || tail.blocks < kLeastTailBlocks))
		return fmt::format("{} messages of the tail have a known path, in {} blocks; {} in {} are needed: {}",
						   tail.messages, tail.blocks, kLeastTail, kLeastTailBlocks, longer);
	if (!cell.tail || !cell.typical)
		return fmt::format("{} messages with probes have no such tail: {}", count(cell.probed), longer);
	const std::string of_tail = too_few_known(*cell.tail, "messages of the tail");
	return of_tail.empty() ? too_few_known(*cell.typical, "typical messages") : of_tail;
}

std::optional<bool> begins_alike(const std::optional<stats::Quantile> &one, const std::optional<stats::Quantile> &other)
{
	if (!one || !other || !one->interval || !other->interval)
		return std::nullopt;
	return one->interval->low <= other->interval->high && other->interval->low <= one->interval->high;
}

std::string quantile_text(const std::optional<stats::Quantile> &quantile)
{
	if (!quantile)
		return "–";
	const std::string value = microseconds(static_cast<double>(quantile->value)) + " µs";
	return quantile->interval ? fmt::format("{} ({} to {})", value, microseconds(quantile->interval->low),
											microseconds(quantile->interval->high))
							  : value + " (no interval)";
}

// Says first which messages of the tail the table leaves out.
void add_unknown(Page &page, const CellResult &cell, const TailExplanation &tail)
{
	const uint64_t missing = cell.tail->messages - std::min(cell.tail->messages, tail.messages);
	if (missing == 0)
		return;
	const std::string of_all = without_path_text(cell);
	page.paragraph("unknown",
				   fmt::format("{} of {} messages of the tail have no known path, so the rest leaves them out{}",
							   count(missing), count(cell.tail->messages),
							   of_all.empty() ? "" : ". Of all of the cell, " + of_all));
}

void add_spread(Page &page, const TailExplanation &tail)
{
	page.paragraph("spread", fmt::format("in {} of {} blocks with probes, at most {} in one{}", tail.blocks,
										 tail.of_blocks, percent(tail.most_of_one_block),
										 tail.most_of_one_block > 0.5 ? ": mostly one bad moment" : ""));
}

void add_probes(Page &page, const CellResult &cell, const TailExplanation &tail, const std::string &name)
{
	if (!cell.tail_begin && !cell.tail_begin_probed)
		return;
	page.paragraph("probes", fmt::format("{} is {} with probes, {} without{}", name,
										 quantile_text(cell.tail_begin_probed), quantile_text(cell.tail_begin),
										 !tail.as_without_probes ? ""
										 : *tail.as_without_probes
											 ? ": the intervals overlap, so this run doesn't tell these tails apart"
											 : ": the tails differ, and the rest explains only the one with probes"));
}

std::optional<UnprobedTail> tail_without_probes(const CellResult &cell, std::optional<bool> alike)
{
	if (!cell.tail_begin)
		return std::nullopt;
	const auto mode =
		std::ranges::find_if(cell.modes, [&](const CellMode &one) { return one.range.holds(cell.tail_begin->value); });
	if (mode == cell.modes.end() || (alike.value_or(true) && !mode->changed_by_probes()))
		return std::nullopt;
	UnprobedTail tail{static_cast<size_t>(mode - cell.modes.begin()), std::nullopt, {}};
	for (ModeDifference &difference : mode_differences(cell)) {
		if (difference.slow != tail.mode)
			continue;
		for (const size_t one : {difference.slow, difference.fast})
			if (tail.refusal.empty())
				tail.refusal = too_few_known(cell.modes[one].range, fmt::format("messages of mode {}", one + 1));
		if (tail.refusal.empty())
			tail.than_fastest = std::move(difference);
	}
	return tail;
}

void add_unprobed(Page &page, const CellResult &cell, const TailExplanation &tail, const std::string &name)
{
	if (!tail.unprobed)
		return;
	const CellMode &mode = cell.modes[tail.unprobed->mode];
	const std::string at = percentile_text(mode.latency, 0);
	std::string text =
		fmt::format("without probes {} lies in mode {}, which has {} of the messages{}; with probes it has {}", name,
					tail.unprobed->mode + 1, share_text(mode.share), at == "–" ? "" : fmt::format(", at {} µs", at),
					share_text(mode.share_probed));
	if (const auto &than_fastest = tail.unprobed->than_fastest) {
		const std::string most = most_of_it(than_fastest->of);
		text += fmt::format(". By these, its messages take {} µs longer than those of mode {}{}{}",
							microseconds(static_cast<double>(than_fastest->of.of.ns())), than_fastest->fast + 1,
							most.empty() ? "" : ". ", most);
	} else if (!tail.unprobed->refusal.empty())
		text += ". Where their time goes isn't told: " + tail.unprobed->refusal;
	else if (!mode.seen_with_probes())
		text += ", too few to know where their time goes";
	page.paragraph("unprobed", text);
}

// Cells that differ from this one by the target or by the wait, and have one mode: "udp", and of the same target
// "uds-stream by epoll".
std::vector<std::string> like_cells_without_modes(const RunResult &result, const CellResult &cell)
{
	std::vector<std::string> same, others;
	for (const CellResult &other : result.cells) {
		model::Cell alike = other.cell;
		alike.wait = cell.cell.wait;
		if (!other.modes.empty() || !other.tail_begin || !unlike(cell.cell, alike).empty())
			continue;
		if (other.cell.target == cell.cell.target && other.cell.wait != cell.cell.wait)
			same.push_back(fmt::format("{} by {}", other.cell.target, model::name(other.cell.wait)));
		else if (other.cell.target != cell.cell.target && other.cell.wait == cell.cell.wait)
			others.push_back(other.cell.target);
	}
	same.insert(same.end(), others.begin(), others.end());
	return same;
}

} // namespace

std::vector<Step> steps_against_mode(const RunResult &result, size_t index, const TailExplanation &tail)
{
	if (!tail.unprobed)
		return {};
	constexpr size_t kNamed = 4;
	const CellResult &cell = result.cells[index];
	const bool is_only = cells_named(result, cell.cell.target) == std::vector<size_t>{index};
	const std::string explain =
		"icepath explain RUN --cell " + shell_word(is_only ? cell.cell.target : model::title(cell.cell));
	std::vector<Step> steps = {{"the layers of each mode", explain + " --modes"}};
	if (cell.functions.samples() > 0)
		steps.push_back({"functions, of all messages", explain + " --stacks"});
	if (const auto &slower = tail.unprobed->than_fastest)
		std::ranges::move(steps_of(remedies_of({slower->of, {}, cell.cell}),
								   fmt::format("what mode {} takes longer", tail.unprobed->mode + 1),
								   slower->of.has_shares()),
						  std::back_inserter(steps));
	std::vector<std::string> without = like_cells_without_modes(result, cell);
	if (!without.empty()) {
		const size_t more = without.size() - std::min(kNamed, without.size());
		without.resize(without.size() - more);
		steps.push_back({fmt::format("in this run these show one mode: {}{}", fmt::join(without, ", "),
									 more > 0 ? fmt::format(" and {} more", more) : "")});
	}
	if (without.empty() || !without.front().starts_with(cell.cell.target + " by "))
		steps.push_back({fmt::format("to see whether it depends on how the receiver waits, repeat the run with another "
									 "-w, if icepath list has one for {}",
									 cell.cell.target)});
	return steps;
}

TailExplanation explain_tail(const CellResult &cell)
{
	TailExplanation result;
	if (cell.tail) {
		result.messages = cell.tail->layers.deliveries();
		result.from_ns = cell.tail->from_ns;
		result.blocks = cell.tail->layers.blocks_with_deliveries();
		result.most_of_one_block = cell.tail->layers.most_of_one_block();
	}
	result.of_blocks = cell.blocks_probed;
	result.as_without_probes = begins_alike(cell.tail_begin, cell.tail_begin_probed);
	result.unprobed = tail_without_probes(cell, result.as_without_probes);
	result.refusal = too_little(cell, result);
	if (!result.refusal.empty())
		return result;
	const bool of_library = cell.is_of_library();
	Difference growth = compare({cell.tail->layers, of_library}, {cell.typical->layers, of_library});
	if (growth.of.ns() <= 0) {
		result.refusal = "the slowest messages take no longer than typical ones: measure longer (icepath run -d)";
		return result;
	}
	result.growth = std::move(growth);
	const std::vector<Cause> causes = causes_of(cell.tail_culprits, result.messages, cell.typical_culprits,
												cell.typical->layers.deliveries(), own_threads(cell.tail->layers));
	result.remedies = remedies_of({result.growth, causes, cell.cell});
	std::ranges::copy_if(causes, std::back_inserter(result.causes), &Cause::has_name);
	double named_ns = 0;
	for (const Cause &cause : result.causes)
		named_ns += cause.growth_ns;
	result.named = std::clamp(named_ns / static_cast<double>(result.growth.of.ns()), 0.0, 1.0);
	result.verdict = result.named >= kExplained         ? TailVerdict::Explained
					 : result.named >= kPartlyExplained ? TailVerdict::Partly
														: TailVerdict::Unexplained;
	return result;
}

void add_tail(Page &page, const RunResult &result, size_t index, const TailExplanation &tail)
{
	const std::string name = percentile_name(result.tail_from);
	const CellResult &cell = result.cells[index];
	const std::string title = model::title(cell.cell);
	if (!tail.is_explained()) {
		page.heading(fmt::format("{}: the tail, from {} on", title, name));
		page.paragraph("verdict", "too few: " + tail.refusal);
		add_unprobed(page, cell, tail, name);
		add_next(page, steps_against_mode(result, index, tail));
		page.line();
		return;
	}
	page.heading(fmt::format("{}: the tail, from {} on, is {} of {} messages, all of {} or more", title, name,
							 count(tail.messages), count(cell.complete()),
							 duration(static_cast<double>(tail.from_ns))));
	add_unknown(page, cell, tail);
	add_spread(page, tail);
	add_probes(page, cell, tail, name);
	add_unprobed(page, cell, tail, name);
	page.paragraph("typical", fmt::format("{} messages from p40 to p60 with probes. Each message counts the same",
										  known_text(*cell.typical)));
	add_difference(page, tail.growth, {"tail", "typical", "growth", "of growth", true});
	add_causes(page, tail.causes, "in tail", "in typical");
	page.paragraph("verdict", fmt::format("{}: {} of the growth has a named cause",
										  kTailVerdicts[static_cast<size_t>(tail.verdict)], percent(tail.named)));
	std::vector<Step> next = steps_against_mode(result, index, tail);
	std::vector<Remedy> others = tail.remedies;
	std::erase_if(others, [&](const Remedy &remedy) {
		return std::ranges::any_of(next, [&](const Step &step) { return step.text.ends_with(remedy.advice); });
	});
	std::ranges::move(steps_of(others, "the growth", tail.growth.has_shares()), std::back_inserter(next));
	add_next(page, next);
	page.line();
}

} // namespace icepath::report
