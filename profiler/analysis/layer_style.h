// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers in plain words: the kinds of time that a reader tells apart. Words, colours and glyphs of kinds, and colours
// of layers, are the same in all outputs.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/model/layers.h"

namespace icepath::analysis {

enum class LayerKind : uint8_t { YourCode, Library, Relay, Kernel, Waking, WaitingForCpu, Queued, Disturbed };
inline constexpr size_t kLayerKinds = 8;

struct KindStyle {
	LayerKind kind;
	const char *word;
	// One column, UTF-8. A cell has code of either the user or a library, so these share a glyph. Waiting for a CPU and
	// in a queue share one, because nobody works on the message then. So bars have six glyphs.
	const char *block;
	char letter; // for ASCII output
	uint8_t terminal; // of a terminal's 256 colours
	const char *colour; // CSS
};

inline constexpr std::array<KindStyle, kLayerKinds> kKindStyles = {{
	{LayerKind::YourCode, "your code", "█", 'c', 75, "#7aa6da"},
	{LayerKind::Library, "library", "█", 'l', 71, "#4f9d4f"},
	{LayerKind::Relay, "relay", "▚", 'r', 244, "#7f7f7f"},
	{LayerKind::Kernel, "kernel", "▓", 'k', 33, "#2f6fb5"},
	{LayerKind::Waking, "waking", "░", 'w', 141, "#a78bda"},
	{LayerKind::WaitingForCpu, "waiting for a CPU", "·", '.', 178, "#d4a72c"},
	{LayerKind::Queued, "queued", "·", 'q', 137, "#a98467"},
	{LayerKind::Disturbed, "disturbed", "!", '!', 203, "#e0614f"},
}};

constexpr const KindStyle &style_of(LayerKind kind) { return kKindStyles[static_cast<size_t>(kind)]; }

struct LayerStyle {
	model::Layer layer;
	LayerKind kind; // but see kind_of()
	const char *colour; // CSS
};

inline constexpr std::array<LayerStyle, model::kLayerCount> kLayerStyles = {{
	{model::Layer::SenderUser, LayerKind::YourCode, "#7aa6da"},
	{model::Layer::SenderKernel, LayerKind::Kernel, "#2f6fb5"},
	{model::Layer::Network, LayerKind::Kernel, "#2a9d8f"},
	{model::Layer::Queue, LayerKind::Queued, "#d4a72c"},
	{model::Layer::Propagation, LayerKind::YourCode, "#5fb3b3"},
	{model::Layer::Wakeup, LayerKind::Waking, "#a78bda"},
	{model::Layer::Runqueue, LayerKind::WaitingForCpu, "#7d5ba6"},
	{model::Layer::ReceiverKernel, LayerKind::Kernel, "#4f9d4f"},
	{model::Layer::ReceiverUser, LayerKind::YourCode, "#99c794"},
	{model::Layer::Preempted, LayerKind::Disturbed, "#e0614f"},
	{model::Layer::Interrupt, LayerKind::Disturbed, "#e8863a"},
	{model::Layer::Blocked, LayerKind::Disturbed, "#c2356b"},
	{model::Layer::RelayUser, LayerKind::Relay, "#b0b0b0"},
	{model::Layer::RelayKernel, LayerKind::Relay, "#7f7f7f"},
}};

constexpr const LayerStyle &style_of(model::Layer layer) { return kLayerStyles[static_cast<size_t>(layer)]; }

static_assert(
	[] {
		for (size_t i = 0; i < model::kLayerCount; ++i)
			if (kLayerStyles[i].layer != static_cast<model::Layer>(i))
				return false;
		for (size_t i = 0; i < kLayerKinds; ++i)
			if (kKindStyles[i].kind != static_cast<LayerKind>(i))
				return false;
		return true;
	}(),
	"one style for each layer and each kind, in their order");

// Whose the code of a path's threads is: that of sides; of a library, where a cell's target is one; or of programs that
// are watched, where a relay's code is some program's own as well.
enum class Code : uint8_t { OfSides, OfLibrary, OfPrograms };

// The kind of a piece of a layer. A part can differ from its layer: a CPU that leaves idle is being woken, although the
// thread is in its runqueue already; a message whose receiver lost its CPU is disturbed, although it is in the queue;
// and what waits for room, behind other messages of its read, or until TCP sends it, is queued.
LayerKind kind_of(model::Layer layer, model::Part part, Code code);
inline LayerKind kind_of(model::Layer layer, model::Part part, bool of_library)
{
	return kind_of(layer, part, of_library ? Code::OfLibrary : Code::OfSides);
}

// Mean nanoseconds of each kind.
std::array<double, kLayerKinds> by_kind(const std::vector<LayerRow> &rows, bool of_library);

// Divides `total` (columns, tenths of a percent) in proportion to `weights`, so that the parts add up to it exactly:
// largest remainders, the earlier one first. All zero if the weights are.
std::vector<uint64_t> apportion(const std::vector<uint64_t> &weights, uint64_t total);

} // namespace icepath::analysis
