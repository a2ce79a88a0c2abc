// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/line_levels.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/model/fitness.h"
#include "profiler/stats/quantity.h"

namespace icepath::analysis {
namespace {

uint64_t median_of(std::vector<uint64_t> values)
{
	std::ranges::sort(values);
	return values[values.size() / 2];
}

bool are_apart(uint64_t a, uint64_t b)
{
	return static_cast<double>(std::max(a, b)) > model::kLineApart * static_cast<double>(std::min(a, b));
}

} // namespace

std::vector<LineLevel> levels_of(const model::CacheLine &line)
{
	const auto &times = line.times;
	std::vector<LineLevel> levels;
	std::vector<uint64_t> level; // of the present level
	const auto end_level = [&] {
		levels.back().round_trip_ns = median_of(level);
		levels.back().looks = level.size();
		level.clear();
	};
	for (size_t i = 0; i < times.size(); ++i) {
		const uint64_t took_ns = times[i].round_trip_ns;
		if (!level.empty() && are_apart(took_ns, median_of(level))) {
			const bool stays = i + 1 == times.size() || (are_apart(times[i + 1].round_trip_ns, median_of(level)) &&
														 !are_apart(times[i + 1].round_trip_ns, took_ns));
			if (!stays)
				continue;
			end_level();
		}
		if (level.empty())
			levels.push_back({times[i].at_ns - times[0].at_ns});
		level.push_back(took_ns);
	}
	if (!levels.empty())
		end_level();
	return levels;
}

std::string levels_text(const model::CacheLine &line, const std::vector<LineLevel> &levels)
{
	constexpr size_t kEach = 4;
	const auto time = [](const LineLevel &level) { return stats::duration(static_cast<double>(level.round_trip_ns)); };
	std::string text =
		fmt::format("took {} from CPU {} to CPU {} and back", time(levels[0]), line.from_cpu, line.to_cpu);
	if (levels.size() > kEach) {
		const auto [low, high] = std::ranges::minmax_element(levels, {}, &LineLevel::round_trip_ns);
		return fmt::format("{}, and between {} and {} later: it changed {} times", text, time(*low), time(*high),
						   levels.size() - 1);
	}
	for (size_t i = 1; i < levels.size(); ++i)
		text += fmt::format(", {} from {:.1f} s on", time(levels[i]), static_cast<double>(levels[i].from_ns) / 1e9);
	return text;
}

} // namespace icepath::analysis
