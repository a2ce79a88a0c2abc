// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/against_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/explain/difference.h"
#include "profiler/explain/leading_figure.h"
#include "profiler/explain/part_of_probes.h"
#include "profiler/explain/unknown_paths.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/cause_lines.h"
#include "profiler/text/columns.h"
#include "profiler/text/difference_table.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/unknown_words.h"

namespace icepath::text {
namespace {

// Commands aren't wrapped, so that they can be pasted.
void add_others(Page &page, const explain::Against &against)
{
	constexpr size_t kShown = 4;
	const std::vector<std::string> &others = against.others;
	for (size_t i = 0; i < std::min(kShown, others.size()); ++i)
		page.line(page.spelled(pad_right(i == 0 ? "others" : "", 10) + "icepath explain RUN " + others[i]));
	if (others.size() > kShown)
		page.paragraph("",
					   fmt::format("and {} more pairs: icepath report -v RUN has the titles", others.size() - kShown));
	if (against.others_without > 0)
		page.paragraph(others.empty() ? "others" : "",
					   fmt::format("{} without a command, since another cell has the same title",
								   stats::count(against.others_without)));
}

// "1.24 times, between 1.21 and 1.27"
std::string interval_words(const stats::RoundRatio &ratio)
{
	return fmt::format("{:.3g} times, between {:.3g} and {:.3g}", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

// "4.00 µs longer"
std::string longer_text(double ns)
{
	return fmt::format("{} µs {}", stats::microseconds(std::abs(ns)), ns < 0 ? "shorter" : "longer");
}

// Says first which messages the table leaves out.
void add_unknown_of_both(Page &page, const explain::Against &against, const analysis::CellResult &slower,
						 const analysis::CellResult &faster)
{
	std::string text;
	for (const analysis::CellResult *cell : {&slower, &faster})
		if (const std::string unknown = without_path_text(*cell); !unknown.empty())
			text += (text.empty() ? "" : ". ") + fmt::format("of {}: {}", model::title(cell->cell), unknown);
	if (text.empty())
		return;
	text += fmt::format(". What follows isn't of them: a typical message takes {}",
						longer_text(static_cast<double>(against.difference->of.ns())));
	if (const auto longer = explain::mean_longer(slower, faster); longer && longer->known_ns)
		text += fmt::format("; on average all messages with a known path take {}, and all messages {}",
							longer_text(*longer->known_ns), longer_text(longer->all_ns));
	page.paragraph("unknown", text);
}

// How much of the difference comes from the probes.
void add_longer_by_probes(Page &page, const analysis::CellResult &slower, const analysis::CellResult &faster,
						  double difference_ns)
{
	const std::optional<stats::Effect> longer = explain::longer_by_probes(slower, faster);
	if (!longer)
		return;
	const bool is_told = longer->interval && (longer->interval->low > 0 || longer->interval->high < 0);
	const stats::Effect part{std::abs(longer->mean), longer->pairs, longer->interval};
	const std::string theirs = !is_told ? "which doesn't tell whether a part of the difference is theirs"
							   : longer->mean >= difference_ns
								   ? "more than the whole difference with probes: that isn't why it is slower without "
									 "them"
							   : longer->mean > 0
								   ? "so " + stats::effect_text(part).substr(1) + " µs of the difference are theirs"
								   : "so they hide " + stats::effect_text(part).substr(1) + " µs of it";
	page.paragraph("probes", fmt::format("they add {} and {} µs to the two p50s, {}",
										 stats::effect_text(slower.observer_effect.p50),
										 stats::effect_text(faster.observer_effect.p50), theirs));
}

} // namespace

void add_against(Page &page, const analysis::RunResult &result, const explain::Against &against)
{
	const analysis::CellResult &slower = result.cells[against.slower], &faster = result.cells[against.faster];
	const std::string title = model::title(slower.cell), other = model::title(faster.cell);
	page.heading(fmt::format("why {} is slower than {}", title, other));
	if (!against.unlike.empty())
		page.paragraph("unlike",
					   fmt::format("they don't differ by the target alone: {}", fmt::join(against.unlike, "; ")));
	if (!against.difference) {
		page.paragraph("refused", words(result, against.refusal.value()));
		add_others(page, against);
		return;
	}
	add_unknown_of_both(page, against, slower, faster);
	const auto by_p50 = explain::other_ratio_by_p50(result, against.slower, against.faster, *against.ratio);
	const explain::Difference &difference = *against.difference;
	page.paragraph(
		"ratio", fmt::format("{}it takes {} as long, by all messages without probes but the fastest and slowest "
							 "tenths, within the {} rounds that measured both: this is by how much{}",
							 against.as_asked ? "" : "the other way round than asked: ", interval_words(*against.ratio),
							 against.ratio->rounds,
							 by_p50 ? fmt::format(". Their p50s, each of one message of the whole run, are {:.3g} "
												  "times apart",
												  *by_p50)
									: ""));
	for (const analysis::CellResult *cell : {&slower, &faster})
		if (const std::string probes = probes_text(*cell); !probes.empty())
			page.paragraph("probes", fmt::format("of {}: {}. What follows is of messages with probes",
												 model::title(cell->cell), probes));
	page.paragraph("because", longer_words(difference, explain::longer_by_probes(slower, faster)));
	add_longer_by_probes(page, slower, faster, static_cast<double>(difference.of.ns()));
	page.paragraph(
		"messages",
		fmt::format(
			"with a complete path, from p40 to p60 of each cell with probes: {} and {}. Each message "
			"counts the same. The p50s of the whole run, without probes and with all changes of the machine, are {} "
			"and {} µs",
			known_text(*slower.ranges.typical), known_text(*faster.ranges.typical),
			stats::percentile_text(slower.times.latency, 0), stats::percentile_text(faster.times.latency, 0)));
	page.line();
	const bool by_target = slower.cell.target != faster.cell.target;
	add_difference(
		page, difference,
		{by_target ? slower.cell.target : "A", by_target ? faster.cell.target : "B", "longer by", "of it", false});
	page.line(page.spelled("  ±: half of the 95 % interval, over the blocks of both that share a round or an opening"));
	add_causes(page, against.causes, {"in slower", "in faster", "difference"});
	add_next(page, steps_of(against.remedies, slower.cell, "the difference", difference.has_shares()));
	add_others(page, against);
}

} // namespace icepath::text
