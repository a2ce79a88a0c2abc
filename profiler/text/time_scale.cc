// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/time_scale.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "profiler/analysis/cell_groups.h"
#include "profiler/text/columns.h"
#include "profiler/text/look.h"

namespace icepath::text {
namespace {

constexpr const char *kGap = "//", *kDoubt = "?";

bool has_bar(const analysis::CellResult &cell)
{
	return cell.ranges.tells_typical() && cell.times.latency.percentiles[0] && cell.modes.all.empty();
}

bool has_bar(const analysis::CellMode &mode) { return mode.tells_where() && mode.latency.percentiles[0]; }

} // namespace

double scale_for(double ns)
{
	if (ns <= 0)
		return 0;
	const double power = std::pow(10, std::floor(std::log10(ns)));
	for (const double step : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0})
		if (step * power >= ns)
			return step * power;
	return 10 * power;
}

TimeScale::TimeScale(const std::vector<const analysis::CellResult *> &cells, size_t width) : width_(width)
{
	std::vector<double> p50s, floors;
	for (const analysis::CellResult *cell : cells) {
		if (has_bar(*cell))
			(analysis::is_floor(cell->cell) ? floors : p50s)
				.push_back(static_cast<double>(*cell->times.latency.percentiles[0]));
		for (const analysis::CellMode &mode : cell->modes.all)
			if (has_bar(mode))
				p50s.push_back(static_cast<double>(*mode.latency.percentiles[0]));
	}
	if (p50s.empty())
		p50s.swap(floors);
	if (p50s.empty())
		return;
	std::ranges::sort(p50s);
	const double limit = kFar * p50s[(p50s.size() - 1) / 2];
	end_ns_ = scale_for(*std::prev(std::ranges::upper_bound(p50s, limit)));
}

std::string TimeScale::axis() const
{
	if (end_ns_ == 0)
		return std::string(width_, ' ');
	const std::string end = fmt::format("{:g} µs", end_ns_ / 1e3);
	std::string text = "0";
	const size_t ticks = width_ >= 32 ? 4 : width_ >= 20 ? 2 : 1;
	for (size_t i = 1; i < ticks; ++i) {
		const auto part = static_cast<double>(i) / static_cast<double>(ticks);
		const auto at = static_cast<size_t>(std::lround(part * static_cast<double>(width_)));
		const std::string tick = fmt::format("{:g}", end_ns_ * part / 1e3);
		if (columns(text) < at && at + columns(tick) + 1 + columns(end) <= width_)
			text = pad_right(text, at) + tick;
	}
	return pad_right(text, width_ - std::min(width_, columns(end))) + end;
}

std::string TimeScale::known(Known of, double share)
{
	shown_known_[static_cast<size_t>(of)] = true;
	return fmt::format("{:.0f} % known", std::floor(share * 100));
}

std::string TimeScale::instead_of_bar(const analysis::CellResult &cell)
{
	if (cell.paths.deliveries == 0 || !cell.modes.all.empty() || cell.ranges.tells_typical())
		return "";
	if (cell.ranges.typical)
		return known(Known::OfTypical, cell.ranges.typical->share_known());
	return cell.paths.tells_where() ? "–" : known(Known::OfAll, cell.paths.share_known());
}

std::string TimeScale::bar(const analysis::CellResult &cell, const Look &look)
{
	if (!has_bar(cell) || end_ns_ == 0)
		return pad_right(instead_of_bar(cell), width_);
	return bar_of(*cell.times.latency.percentiles[0], cell.ranges.typical->layers, cell.is_of_library(), look,
				  cell.paths.tells_where() ? "" : kDoubt);
}

std::string TimeScale::bar(const analysis::CellResult &cell, const analysis::CellMode &mode, const Look &look)
{
	if (!mode.seen_with_probes())
		return pad_right("not seen with probes", width_);
	if (!mode.tells_where())
		return pad_right(known(Known::OfMode, mode.range.share_known()), width_);
	if (!has_bar(mode) || end_ns_ == 0)
		return std::string(width_, ' ');
	return bar_of(*mode.latency.percentiles[0], mode.range.layers, cell.is_of_library(), look,
				  cell.paths.tells_where() ? "" : kDoubt);
}

std::string TimeScale::bar_of(uint64_t p50_ns, const analysis::Breakdown &layers, bool of_library, const Look &look,
							  const std::string &mark)
{
	constexpr double kPicoseconds = 1e3;
	const auto p50 = static_cast<double>(p50_ns);
	const bool too_long = p50 > end_ns_;
	const size_t gap = too_long ? columns(kGap) : 0;
	const auto exact = static_cast<size_t>(std::lround(p50 / end_ns_ * static_cast<double>(width_)));
	const size_t length = std::clamp<size_t>(exact, 1, width_ - gap - mark.size());
	std::vector<uint64_t> weights;
	for (const double mean_ns : analysis::by_kind(layers.rows(), of_library))
		weights.push_back(static_cast<uint64_t>(std::llround(mean_ns * kPicoseconds)));
	const auto parts = analysis::apportion(weights, length);
	const auto longest = static_cast<size_t>(std::ranges::max_element(parts) - parts.begin());
	std::string text;
	for (size_t i = 0; i < parts.size(); ++i) {
		const auto kind = static_cast<analysis::LayerKind>(i);
		const uint64_t before = too_long && i == longest ? parts[i] / 2 : parts[i];
		shown_[i] = shown_[i] || parts[i] > 0;
		text += kind_symbol(kind, before, look);
		if (too_long && i == longest)
			text += kGap + kind_symbol(kind, parts[i] - before, look);
	}
	has_gap_ = has_gap_ || too_long;
	has_doubt_ = has_doubt_ || !mark.empty();
	return text + pad_right(mark, width_ - length - gap);
}

std::vector<std::string> TimeScale::legend(const Look &look) const
{
	std::vector<std::pair<std::string, std::string>> entries; // symbol, words
	for (const analysis::KindStyle &style : analysis::kKindStyles) {
		if (!shown_[static_cast<size_t>(style.kind)])
			continue;
		const std::string symbol = kind_symbol(style.kind, 1, look);
		const auto same = std::ranges::find(entries, symbol, &std::pair<std::string, std::string>::first);
		if (same == entries.end())
			entries.emplace_back(symbol, style.word);
		else
			same->second += fmt::format(" or {}", style.word);
	}
	if (has_gap_)
		entries.emplace_back(kGap, "not to scale");
	std::vector<std::string> texts;
	for (const auto &[symbol, words] : entries)
		texts.push_back(symbol + " " + words);
	return texts;
}

std::vector<std::string> TimeScale::readings() const
{
	constexpr std::array<const char *, 3> kOf = {"the typical messages", "all messages or of their time",
												 "the mode's messages"};
	std::string of;
	for (size_t i = 0; i < kOf.size(); ++i)
		if (shown_known_[i])
			of += fmt::format("{}of {}", of.empty() ? "" : ", or ", kOf[i]);
	std::vector<std::string> texts;
	if (!of.empty())
		texts.push_back(fmt::format("% known: share {} with a known path, too few for a bar", of));
	if (has_doubt_)
		texts.push_back(fmt::format("?: {}", kDoubtReading));
	return texts;
}

} // namespace icepath::text
