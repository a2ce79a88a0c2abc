// SPDX-License-Identifier: Apache-2.0
#pragma once
// The look of each layer in all outputs, in the order of model::Layer, and a breakdown as a bar of one line.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/layers.h"
#include "profiler/report/breakdown.h"

namespace icepath::report {

struct LayerStyle {
	model::Layer layer;
	const char *block; // one column, UTF-8; disturbances are letters, recognizable without colour
	char letter; // for ASCII output
	uint8_t terminal; // of a terminal's 256 colours
	const char *colour; // CSS
};

inline constexpr std::array<LayerStyle, model::kLayerCount> kLayerStyles = {{
	{model::Layer::SenderUser, "▀", 's', 75, "#7aa6da"},
	{model::Layer::SenderKernel, "█", 'S', 33, "#2f6fb5"},
	{model::Layer::Network, "▚", 'n', 30, "#2a9d8f"},
	{model::Layer::Queue, "▓", 'q', 178, "#d4a72c"},
	{model::Layer::Propagation, "▞", 'p', 37, "#5fb3b3"},
	{model::Layer::Wakeup, "░", 'w', 141, "#a78bda"},
	{model::Layer::Runqueue, "▒", '=', 97, "#7d5ba6"},
	{model::Layer::ReceiverKernel, "▙", 'R', 71, "#4f9d4f"},
	{model::Layer::ReceiverUser, "▄", 'r', 114, "#99c794"},
	{model::Layer::Preempted, "P", 'P', 203, "#e0614f"},
	{model::Layer::Interrupt, "I", 'I', 208, "#e8863a"},
	{model::Layer::Blocked, "B", 'B', 161, "#c2356b"},
	{model::Layer::RelayUser, "▝", 'y', 250, "#b0b0b0"},
	{model::Layer::RelayKernel, "▟", 'Y', 244, "#7f7f7f"},
}};

constexpr const LayerStyle &style_of(model::Layer layer) { return kLayerStyles[static_cast<size_t>(layer)]; }

static_assert(
	[] {
		for (size_t i = 0; i < model::kLayerCount; ++i)
			if (kLayerStyles[i].layer != static_cast<model::Layer>(i))
				return false;
		return true;
	}(),
	"one style for each layer, in the order of model::Layer");

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
