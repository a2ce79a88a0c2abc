// SPDX-License-Identifier: Apache-2.0
#pragma once
// The look of each layer in all outputs, in the order of model::Layer.
#include <array>
#include <cstdint>

#include "profiler/model/layers.h"

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

} // namespace icepath::report
