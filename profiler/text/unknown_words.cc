// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/unknown_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/explain/unknown_paths.h"
#include "profiler/stats/quantity.h"

namespace icepath::text {

namespace {

constexpr double kWorthWords = 0.01;

} // namespace

std::string without_path_text(const analysis::CellResult &cell)
{
	const explain::UnknownPaths unknown = explain::unknown_paths(cell);
	const double share = static_cast<double>(unknown.messages) / static_cast<double>(std::max<uint64_t>(unknown.of, 1));
	if (unknown.messages == 0 || std::max(share, unknown.share_of_time()) < kWorthWords)
		return "";
	return fmt::format("{} of {} messages with probes have no known path. They take {} each, {} of the time",
					   stats::count(unknown.messages), stats::count(unknown.of), stats::duration(unknown.mean_ns()),
					   stats::percent(unknown.share_of_time()));
}

std::string known_text(const analysis::LatencyRange &range)
{
	const std::string known = stats::count(range.layers.deliveries());
	return range.share_known() > 1 - kWorthWords ? known : fmt::format("{} of {}", known, stats::count(range.messages));
}

} // namespace icepath::text
