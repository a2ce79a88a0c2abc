// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/mode_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/stats/quantity.h"

namespace icepath::text {
namespace {

// `least_half`: the least that stands after ±, in %.
std::string text_of_share(const stats::Share &share, int decimals, double least_half)
{
	const double value = 100 * share.value();
	if (!share.interval)
		return fmt::format("{:.{}f} %", value, decimals);
	const auto &[low, high] = *share.interval;
	return stats::is_lopsided(share.value(), *share.interval)
			   ? fmt::format("{0:.{3}f} ({1:.{3}f}..{2:.{3}f}) %", value, 100 * low, 100 * high, decimals)
			   : fmt::format("{0:.{2}f} ±{1:.{2}f} %", value, std::max(least_half, 50 * (high - low)), decimals);
}

} // namespace

std::string share_text(const stats::Share &share) { return text_of_share(share, 1, 0); }
std::string brief_share_text(const stats::Share &share) { return text_of_share(share, 0, 1); }

std::string whole_p50_text(const analysis::CellResult &cell)
{
	if (analysis::lies_between_modes(cell))
		return "–";
	return (cell.modes.all.empty() ? "" : "*") + stats::percentile_text(cell.times.latency, 0);
}

std::string p50_text(const analysis::CellResult &cell)
{
	const auto of = analysis::modes_of_p50(cell);
	if (!of)
		return "";
	return of->one() ? fmt::format("the p50 lies in mode {}", of->first + 1)
					 : fmt::format("the p50 lies between modes {} and {}", of->first + 1, of->last + 1);
}

std::string probes_text(const analysis::CellResult &cell)
{
	std::string changed, unseen;
	for (size_t i = 0; i < cell.modes.all.size(); ++i) {
		const analysis::CellMode &mode = cell.modes.all[i];
		if (mode.changed_by_probes())
			changed +=
				fmt::format("{} of mode {} from {:.1f} to {:.1f} %", changed.empty() ? "probes change the share" : ",",
							i + 1, 100 * mode.share.value(), 100 * mode.share_probed.value());
		if (!mode.seen_with_probes())
			unseen += fmt::format("{}mode {} is not seen with probes", unseen.empty() ? "" : ", ", i + 1);
	}
	return changed + (changed.empty() || unseen.empty() ? "" : "; ") + unseen;
}

std::string modes_sentence(const analysis::CellResult &cell)
{
	std::string text = fmt::format("{} modes: ", cell.modes.all.size());
	for (size_t i = 0; i < cell.modes.all.size(); ++i) {
		const analysis::CellMode &mode = cell.modes.all[i];
		text +=
			fmt::format("{}{} µs ({}{})",
						i == 0                          ? ""
						: i + 1 < cell.modes.all.size() ? ", "
														: " and ",
						stats::percentile_text(mode.latency, 0), share_text(mode.share), i == 0 ? " of messages" : "");
	}
	const std::string p50 = p50_text(cell);
	return text + (p50.empty() ? "" : "; " + p50);
}

} // namespace icepath::text
