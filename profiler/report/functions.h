// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which functions the time of layers goes. Samples only divide a layer's time: its length comes from probed blocks
// without samples, whose messages aren't longer for them.
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/report/breakdown.h"
#include "profiler/resolve/resolve.h"

namespace icepath::report {

// What stands for a function that isn't known: interrupts were off at the sample's instant; there was no room for the
// sample's stack.
inline constexpr const char *kIrqsOff = "[irqs off]", *kNoStack = "[no stack]";
// Stands for rows without samples, in a layer that has some.
inline constexpr const char *kNotSampled = "[not sampled]";

class Functions {
public:
	// Of a sampled block.
	void add(const resolve::ResolvedBlock &resolved);

	uint64_t samples() const { return samples_; } // that are in a path; each once
	uint64_t dropped() const { return dropped_; } // that are in none, as of a thread that waits for the next message
	struct Stack {
		std::vector<std::string> functions; // from the outermost one on; never empty
		uint64_t samples = 0;
	};
	// Of the row's layer, part, role and thread, in the order of their names.
	std::vector<Stack> stacks_of(const LayerRow &row) const;

private:
	using Key = std::tuple<model::Layer, model::Part, path::Role, std::string>;
	uint32_t number_of(const std::string &function);

	std::map<std::string, uint32_t> numbers_;
	std::vector<std::string> names_; // by number
	std::map<Key, std::map<std::vector<uint32_t>, uint64_t>> stacks_;
	uint64_t samples_ = 0, dropped_ = 0;
};

struct FunctionRow {
	std::string name; // of the innermost function
	uint64_t samples = 0;
	double mean_ns = 0; // of a message, as LayerRow
	double half_ns = 0; // half of the 95 % interval that the number of samples leaves
};

struct SampledLayer {
	model::Layer layer = model::Layer::SenderUser;
	double mean_ns = 0;
	uint64_t samples = 0;
	std::vector<FunctionRow> functions; // the one with most time first; they add up to the layer
};

// The layers that have samples, in their order.
std::vector<SampledLayer> sampled_layers(const Breakdown &layers, const Functions &functions);

} // namespace icepath::report
