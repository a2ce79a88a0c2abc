// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/terms.h"

#include <algorithm>
#include <cmath>

namespace icepath::rate {
namespace {

constexpr double kBaseHz = 10'000;
constexpr double kLowestHz = 1000, kHighestHz = 2e6;
constexpr uint64_t kShortestBlockNs = 20'000'000; // shorter ones may end before the scheduler has acted
constexpr double kRoom = 200'000; // messages of a block: 51 MB of memory for each cell
constexpr int kMostLevels = 1000; // from 10 kHz: 71 octaves

int level_within(double hz, double rounding(double))
{
	const double level = rounding(std::log2(hz / kBaseHz) * kLevelsPerOctave);
	return static_cast<int>(std::clamp(level, -1.0 * kMostLevels, 1.0 * kMostLevels));
}

} // namespace

double hz_of(int level) { return kBaseHz * std::exp2(static_cast<double>(level) / kLevelsPerOctave); }

int level_of(double hz) { return level_within(hz, std::round); }

Terms terms_of(const model::Cell &cell)
{
	const model::RateLimits limits = cell.limits.value_or(model::RateLimits{});
	Terms terms;
	const double step = std::exp2(1.0 / kLevelsPerOctave) - 1;
	constexpr double kMargin = 1.1; // 1 % of the messages must exceed the limit, not only the last one
	const double passed_ns = kMargin * static_cast<double>(limits.max_p99_ns) / step;
	terms.block_ns = std::max(kShortestBlockNs, static_cast<uint64_t>(passed_ns));
	terms.least_messages = static_cast<uint32_t>(std::min(kRoom, std::ceil(1000 / (1 - limits.max_loss))));
	double highest_hz = std::min(kHighestHz, kRoom * 1e9 / static_cast<double>(terms.block_ns));
	// An injected delay bounds the rate; faster blocks would leave the receiver with seconds of work.
	const uint64_t busy_ns = std::max(cell.levels.sender_user_ns, cell.levels.receiver_busy_ns);
	if (busy_ns > 0)
		highest_hz = std::min(highest_hz, 2e9 / static_cast<double>(busy_ns));
	terms.lowest = level_within(kLowestHz, std::ceil);
	terms.highest = std::max(terms.lowest, level_within(highest_hz, std::floor));
	return terms;
}

uint32_t messages_at(const Terms &terms, double hz)
{
	const double fill = std::ceil(hz * static_cast<double>(terms.block_ns) / 1e9);
	return std::max(terms.least_messages, static_cast<uint32_t>(std::min(fill, kRoom)));
}

uint64_t scheduled_ns(uint32_t messages, double hz) { return static_cast<uint64_t>(messages * 1e9 / hz); }

} // namespace icepath::rate
