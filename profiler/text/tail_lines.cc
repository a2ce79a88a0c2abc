// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/tail_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "profiler/analysis/layer_style.h"
#include "profiler/explain/one_message.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/cause_lines.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/difference_table.h"
#include "profiler/text/environment.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/link_lines.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/unknown_words.h"

namespace icepath::text {
namespace {

std::string quantile_text(const std::optional<stats::Quantile> &quantile)
{
	if (!quantile)
		return "–";
	const std::string value = stats::microseconds(static_cast<double>(quantile->value)) + " µs";
	return quantile->interval ? fmt::format("{} ({} to {})", value, stats::microseconds(quantile->interval->low),
											stats::microseconds(quantile->interval->high))
							  : value + " (no interval)";
}

// Says first which messages of the tail the table leaves out.
void add_unknown(Page &page, uint64_t of_tail, const explain::TailExplanation &tail, const char *things,
				 const std::string &of_all)
{
	const uint64_t missing = of_tail - std::min(of_tail, tail.messages);
	if (missing == 0)
		return;
	page.paragraph("unknown", fmt::format("{} of {} {} of the tail have no known path, so the rest leaves them out{}",
										  stats::count(missing), stats::count(of_tail), things,
										  of_all.empty() ? "" : ". Of all of the cell, " + of_all));
}

void add_spread(Page &page, const explain::TailExplanation &tail, const char *blocks)
{
	page.paragraph("spread", fmt::format("in {} of {} {}, at most {} in one{}", tail.blocks, tail.of_blocks, blocks,
										 stats::percent(tail.most_of_one_block),
										 tail.most_of_one_block > 0.5 ? ": mostly one bad moment" : ""));
}

void add_probes(Page &page, const analysis::CellResult &cell, const explain::TailExplanation &tail,
				const std::string &name)
{
	if (!cell.ranges.tail_begin && !cell.ranges.tail_begin_probed)
		return;
	page.paragraph("probes",
				   fmt::format("{} is {} with probes, {} without{}", name, quantile_text(cell.ranges.tail_begin_probed),
							   quantile_text(cell.ranges.tail_begin),
							   !tail.as_without_probes ? ""
							   : *tail.as_without_probes
								   ? ": the intervals overlap, so this run doesn't tell these tails apart"
								   : ": the tails differ, and the rest explains only the one with probes"));
}

void add_unprobed(Page &page, const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail)
{
	if (!tail.unprobed)
		return;
	const std::string name = stats::percentile_name(result.tail_from);
	const analysis::CellResult &cell = result.cells[index];
	const analysis::CellMode &mode = cell.modes.all[tail.unprobed->mode];
	const std::string at = stats::percentile_text(mode.latency, 0);
	std::string text =
		fmt::format("without probes {} lies in mode {}, which has {} of the messages{}; with probes it has {}", name,
					tail.unprobed->mode + 1, share_text(mode.share), at == "–" ? "" : fmt::format(", at {} µs", at),
					share_text(mode.share_probed));
	if (const auto &than_fastest = tail.unprobed->than_fastest) {
		const std::string most = most_of_it(than_fastest->of);
		text += fmt::format(". By these, its messages take {} µs longer than those of mode {}{}{}",
							stats::microseconds(static_cast<double>(than_fastest->of.of.ns())), than_fastest->fast + 1,
							most.empty() ? "" : ". ", most);
	} else if (tail.unprobed->refusal)
		text += ". Where their time goes isn't told: " + words(result, *tail.unprobed->refusal);
	else if (!mode.seen_with_probes())
		text += ", too few to know where their time goes";
	page.paragraph("unprobed", text);
}

const char *own_code_words(analysis::Code code)
{
	switch (code) {
	case analysis::Code::OfSides:
		return "its own code";
	case analysis::Code::OfLibrary:
		return "the library's own code";
	case analysis::Code::OfPrograms:
		return "the programs' own code";
	}
	return "";
}

constexpr CauseHeads kCauseHeads = {"in tail", "in typical", "growth", ": icepath explain -v RUN"};

// "99 % ±2 of it is waiting for a CPU"
std::string words_of_carrier(const explain::Difference &growth)
{
	const explain::KindDifference *carrier = explain::carrier_of(growth);
	return carrier ? fmt::format(". {} of it is {}", share_text(growth, carrier->of),
								 analysis::style_of(carrier->kind).word)
				   : "";
}

// "explained: 93.0 % of the growth has a cause: the library's own code 91.0 %, tasks of others 2.0 %"
std::string verdict_words(const analysis::RunResult &result, const explain::TailExplanation &tail, analysis::Code code)
{
	std::string text = explain::kTailVerdicts[static_cast<size_t>(tail.verdict)];
	if (tail.verdict == explain::TailVerdict::NotTold)
		return text + ": " + words(result, tail.refusal.value()) + words_of_carrier(tail.growth);
	struct OfOrigin {
		double ns = 0, told_ns = 0;
		size_t names = 0;
	};
	std::map<analysis::Origin, OfOrigin> by_origin;
	for (const explain::Cause &cause : tail.causes)
		if (cause.counts() && cause.growth_ns > 0) {
			by_origin[cause.origin].ns += cause.growth_ns;
			by_origin[cause.origin].told_ns += cause.is_told() ? cause.growth_ns : 0;
			by_origin[cause.origin].names++;
		}
	struct Part {
		double share = 0;
		std::string_view words;
		bool is_which_told = true;
	};
	std::vector<Part> parts;
	const auto whole_ns = static_cast<double>(tail.growth.of.ns());
	for (const auto &[origin, of] : by_origin) {
		const bool are_many = of.names > 1 && words_of_many(origin, code) != word(origin, code);
		parts.push_back({std::min(of.ns / whole_ns, 1.0),
						 of.names > 1 ? words_of_many(origin, code) : word(origin, code),
						 2 * of.told_ns >= of.ns || (!are_many && tail.verdict != explain::TailVerdict::ByKind)});
	}
	if (tail.own_code > 0)
		parts.push_back({tail.own_code, own_code_words(code)});
	std::ranges::stable_sort(parts, std::ranges::greater(), &Part::share);
	const bool are_named = std::ranges::all_of(parts, &Part::is_which_told);
	text += fmt::format(": {} of the growth has a {}", stats::percent(tail.named),
						are_named ? "named cause" : "cause of a known kind");
	constexpr double kWorthSaying = 0.01;
	std::vector<std::string> words;
	for (const Part &part : parts)
		if (part.share >= kWorthSaying)
			words.push_back(fmt::format("{} {}{}", part.words, stats::percent(part.share),
										part.is_which_told ? "" : " (not told which)"));
	if (!words.empty())
		text += fmt::format(": {}", fmt::join(words, ", "));
	if (tail.by_chance >= kWorthSaying)
		text += fmt::format(". {} more may be there by chance", stats::percent(tail.by_chance));
	return text;
}

} // namespace

void add_tail(Page &page, const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail,
			  bool all)
{
	const std::string name = stats::percentile_name(result.tail_from);
	const analysis::CellResult &cell = result.cells[index];
	const std::string title = model::title(cell.cell);
	if (!tail.is_explained()) {
		page.heading(fmt::format("{}: the tail, from {} on", title, name));
		page.paragraph("verdict", "too few: " + words(result, tail.refusal.value()));
		add_unprobed(page, result, index, tail);
		add_next(page, steps_against_mode(result, index, tail));
		page.line();
		return;
	}
	page.heading(fmt::format("{}: the tail, from {} on, is {} of {} messages, all of {} or more", title, name,
							 stats::count(tail.messages), stats::count(cell.paths.complete()),
							 stats::duration(static_cast<double>(tail.from_ns))));
	add_unknown(page, cell.ranges.tail->messages, tail, "messages", without_path_text(cell));
	add_spread(page, tail, "blocks with probes");
	add_probes(page, cell, tail, name);
	add_unprobed(page, result, index, tail);
	page.paragraph("typical", fmt::format("{} messages from p40 to p60 with probes. Each message counts the same",
										  known_text(*cell.ranges.typical)));
	add_difference(page, tail.growth, {"tail", "typical", "growth", "of growth", true});
	add_causes(page, tail.causes, kCauseHeads, analysis::Code::OfSides, all);
	page.paragraph("verdict", verdict_words(result, tail, cell.code()));
	std::vector<Step> next = steps_against_mode(result, index, tail);
	std::vector<explain::Remedy> others = tail.remedies;
	if (const auto against = explain::against_mode(result, index, tail))
		std::erase_if(others, [&](const explain::Remedy &remedy) {
			return std::ranges::find(against->remedies, remedy.id, &explain::Remedy::id) != against->remedies.end();
		});
	std::ranges::move(steps_of(others, cell.cell, "the growth", tail.growth.has_shares()), std::back_inserter(next));
	add_next(page, next);
	page.line();
}

void add_tail(Page &page, const analysis::RangesOfLinks &ranges, size_t index, const explain::TailExplanation &tail,
			  stats::Percentile from, bool all)
{
	constexpr analysis::Code kCode = analysis::Code::OfPrograms;
	const analysis::LinkRanges &link = ranges.links[index];
	analysis::RunResult of_words; // for what the words of findings need
	of_words.head = ranges.result.head;
	const std::string name = stats::percentile_name(from), title = title_of(link);
	const char *const things = things_of(link);
	if (!tail.is_explained()) {
		page.heading(fmt::format("{}: the tail, from {} on", title, name));
		page.paragraph("verdict", "too few: " + words(of_words, tail.refusal.value()));
		page.line();
		return;
	}
	page.heading(fmt::format("{}: the tail, from {} on, is {} of {} {}, all of {} or more", title, name,
							 stats::count(tail.messages), stats::count(link.count), things,
							 stats::duration(static_cast<double>(tail.from_ns))));
	add_unknown(page, link.ranges.tail->messages, tail, things, "");
	add_spread(page, tail, "windows of a second");
	page.paragraph("typical", fmt::format("{} {} from p40 to p60. Each counts the same",
										  known_text(*link.ranges.typical), things));
	add_difference(page, tail.growth, {"tail", "typical", "growth", "of growth", true});
	add_causes(page, tail.causes, kCauseHeads, kCode, all);
	page.paragraph("verdict", verdict_words(of_words, tail, kCode));
	if (link.slowest)
		page.paragraph("slowest", fmt::format("{}: icepath explain RUN --message {}",
											  stats::duration(static_cast<double>(link.slowest->latency_ns())),
											  explain::name_of(*link.slowest)));
	page.line();
}

} // namespace icepath::text
