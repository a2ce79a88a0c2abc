// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which figures two cells are compared, and how: each has its own verdict.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/stats/equivalence.h"
#include "profiler/stats/round_difference.h"

namespace icepath::compare {

enum class Figure : uint8_t { Mean, P50, P99, Slow, Cpu, Lost };
inline constexpr size_t kFigures = 6;

struct FigureRow {
	Figure figure;
	std::string_view name; // in files; never changed
	stats::Scale scale; // Logs: nanoseconds; Plain: a share of messages
	// Changes in few rounds are what a tail, the share of a mode and losses are about.
	stats::Trim trim;
	// What a round may differ by of which none was met (stats/equivalence.h): a tail that is ten times as long, all
	// messages in another mode, all lost.
	double unseen;
	bool counts_lost; // as later than any message that came (analysis/block_figures.h), or as lost
	std::vector<stats::BlockValue> analysis::BlockFigures::*blocks;
};
const FigureRow &row_of(Figure figure);

// A share of messages lost that counts as no difference, whatever `delta` is: one in a thousand.
inline constexpr double kLostMargin = 0.001;

// The difference that counts as none: of a time `delta` of it, of the share in slow modes `delta` of all messages, of
// losses kLostMargin.
stats::Margin margin_of(Figure figure, double delta);

} // namespace icepath::compare
