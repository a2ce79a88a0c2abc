// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/trust_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/cell_groups.h"
#include "profiler/explain/culprit_sums.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/one_message.h"
#include "profiler/explain/trust.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/blame_words.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/columns.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/fitness_words.h"

namespace icepath::text {
namespace {

constexpr size_t kLabel = 10;

} // namespace

void add_trust(Page &page, const analysis::RunResult &result)
{
	size_t width = 0;
	const std::vector<explain::Trust> all = explain::trust_in(result);
	const auto grade = [](const explain::Trust &of) { return std::string(name_of(of.grade)); };
	for (const explain::Trust &one : all)
		width = std::max(width, columns(grade(one)));
	std::string label = "trust";
	for (const explain::Trust &one : all) {
		page.line_with_command(pad_right(label, kLabel) + pad_right(grade(one), width) + "  ", facts_of(result, one),
							   mend_text(one));
		label.clear();
	}
}

void add_fit_for(Page &page, const analysis::RunResult &result, bool in_full)
{
	const std::vector<model::Fitness> all = explain::fitness_of(result);
	if (in_full) {
		std::string label = "fit for";
		for (const model::Fitness &one : all) {
			page.paragraph(label, fmt::format("{}: {}: {} (yes: {})", name_of(one.purpose), answer(one),
											  found_text(one), threshold_text(one.purpose)));
			label.clear();
		}
		return;
	}
	std::string fit, unfit;
	const model::Fitness *first_unfit = nullptr;
	for (const model::Fitness &one : all) {
		if (!one.fit)
			continue;
		std::string &names = *one.fit ? fit : unfit;
		names += (names.empty() ? "" : ", ") + std::string(name_of(one.purpose));
		if (!*one.fit && !first_unfit)
			first_unfit = &one;
	}
	if (!unfit.empty())
		unfit = (fit.empty() ? "not " : "; not ") + unfit;
	if (fit.empty() && unfit.empty())
		return;
	std::string text = fit + unfit;
	if (first_unfit) {
		text += " · " + found_text(*first_unfit);
		const std::string with_threshold = fmt::format("{} (yes: {})", text, threshold_text(first_unfit->purpose));
		if (kLabel + columns(with_threshold) <= page.width())
			text = with_threshold;
	}
	page.paragraph("fit for", text);
}

const char *why_no_path(const explain::SlowerMessage &message)
{
	return message.probed ? "its path is incomplete" : "in a block without probes";
}

void add_slowest(Page &page, const analysis::RunResult &result)
{
	const analysis::WorstMessage *worst = explain::worst_message(result);
	if (!worst)
		return;
	const explain::MostOfMessage most = explain::most_of(*worst);
	const auto title = [&](size_t cell) { return analysis::brief_title(result, result.cells[cell].cell); };
	// What can't be explained comes first, or the rest is read as if it were of the slowest.
	std::string text;
	const auto slower = explain::slower_than(*worst, result);
	if (slower)
		text = fmt::format("{}, {}: {}; of those with a known path ", title(slower->cell),
						   stats::duration(static_cast<double>(slower->ns)), why_no_path(*slower));
	if (!slower || slower->cell != worst->cell)
		text += title(worst->cell) + ", ";
	text += fmt::format("{}: {}{} {}", stats::duration(static_cast<double>(worst->latency_ns())),
						most.is_uncertain() ? "perhaps " : "", stats::percent(most.share),
						explain::layer_text(most.layer, most.part));
	if (most.is_uncertain())
		text += fmt::format(" (inferred within {})", stats::duration(static_cast<double>(most.bound_ns)));
	if (const std::string who = words_of(most.who, most.taken, most.ns); !who.empty())
		text += ", " + who;
	page.line_with_command(pad_right("slowest", kLabel), {text}, "icepath explain RUN");
}

namespace {

// The longest `shown` by name, and the others together, so that they add up.
std::vector<std::string> names_and_others(const std::vector<explain::CulpritSum> &sums, size_t shown)
{
	std::vector<std::string> facts;
	uint64_t rest = 0;
	for (size_t i = 0; i < sums.size(); ++i)
		if (i < shown)
			facts.push_back(fmt::format("{} {}", words_of(sums[i]), stats::duration(static_cast<double>(sums[i].ns))));
		else
			rest += sums[i].ns;
	if (const size_t others = sums.size() - facts.size(); others > 0)
		facts.push_back(
			fmt::format("{} other{} {}", others, others == 1 ? "" : "s", stats::duration(static_cast<double>(rest))));
	return facts;
}

} // namespace

void add_taken_by(Page &page, const analysis::RunResult &result)
{
	constexpr size_t kShown = 5;
	double total_ns = 0, taken_ns = 0;
	for (const analysis::CellResult &cell : result.cells)
		total_ns += static_cast<double>(cell.paths.layers.total_ns());
	const std::vector<explain::CulpritSum> sums = explain::sums_of_others(result.cells);
	if (sums.empty() || total_ns == 0)
		return;
	for (const explain::CulpritSum &sum : sums)
		taken_ns += static_cast<double>(sum.ns);
	size_t shown = std::min(kShown, sums.size());
	const auto facts = [&] { return names_and_others(sums, shown); };
	while (shown > 1 && columns(page.spelled(fitting(facts(), SIZE_MAX))) > page.width() - kLabel)
		--shown;
	std::vector<std::string> all = facts();
	all.push_back(fmt::format("{} of messages' time", stats::percent(taken_ns / total_ns)));
	page.line_with_command(pad_right("taken by", kLabel), all, "");
}

} // namespace icepath::text
