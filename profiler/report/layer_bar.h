// SPDX-License-Identifier: Apache-2.0
#pragma once
// A breakdown as a one-line bar.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/report/breakdown.h"

namespace icepath::report {

struct Look {
	bool colour = false;
	bool unicode = false;
};

// Divides `total` (columns, tenths of a percent) in proportion to `weights`, so that the parts add up to it exactly:
// largest remainders, the earlier one first. All zero if the weights are.
std::vector<uint64_t> apportion(const std::vector<uint64_t> &weights, uint64_t total);

// Mean nanoseconds of each layer, parts included.
std::array<double, model::kLayerCount> by_layer(const std::vector<LayerRow> &rows);

// `width` columns, each of one layer; spaces if there is no time at all.
std::string layer_bar(const std::vector<LayerRow> &rows, size_t width, const Look &look);

// The symbol of `layer`, `times` times.
std::string layer_symbol(model::Layer layer, size_t times, const Look &look);

} // namespace icepath::report
