// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each layer looks, in every output. The order is that of path::Layer.
#include <array>
#include <cstdint>

#include "profiler/path/layers.h"

namespace icepath::report {

struct LayerStyle {
	path::Layer layer;
	const char *block;  // one column, UTF-8. What disturbs is a letter, so that it is seen without colour
	char letter;        // where only ASCII can be shown
	uint8_t terminal;   // of the 256 colours of terminals
	const char *colour; // CSS
};

inline constexpr std::array<LayerStyle, path::kLayerCount> kLayerStyles = {{
	{path::Layer::SenderUser, "▀", 's', 75, "#7aa6da"},
	{path::Layer::SenderKernel, "█", 'S', 33, "#2f6fb5"},
	{path::Layer::Network, "▚", 'n', 30, "#2a9d8f"},
	{path::Layer::Queue, "▓", 'q', 178, "#d4a72c"},
	{path::Layer::Propagation, "▞", 'p', 37, "#5fb3b3"},
	{path::Layer::Wakeup, "░", 'w', 141, "#a78bda"},
	{path::Layer::Runqueue, "▒", '=', 97, "#7d5ba6"},
	{path::Layer::ReceiverKernel, "▙", 'R', 71, "#4f9d4f"},
	{path::Layer::ReceiverUser, "▄", 'r', 114, "#99c794"},
	{path::Layer::Preempted, "P", 'P', 203, "#e0614f"},
	{path::Layer::Interrupt, "I", 'I', 208, "#e8863a"},
	{path::Layer::Blocked, "B", 'B', 161, "#c2356b"},
	{path::Layer::RelayUser, "▝", 'y', 250, "#b0b0b0"},
	{path::Layer::RelayKernel, "▟", 'Y', 244, "#7f7f7f"},
}};

constexpr const LayerStyle &style_of(path::Layer layer) { return kLayerStyles[static_cast<size_t>(layer)]; }

static_assert(
	[] {
		for (size_t i = 0; i < path::kLayerCount; ++i)
			if (kLayerStyles[i].layer != static_cast<path::Layer>(i))
				return false;
		return true;
	}(),
	"one style for each layer, in the order of path::Layer");

} // namespace icepath::report
