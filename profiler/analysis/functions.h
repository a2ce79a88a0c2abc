// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that the time of layers goes to. Samples only divide a layer's time: its length comes from probed
// blocks without samples, whose messages sampling doesn't lengthen.
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

// What stands for a function that isn't known: interrupts were off at the sample's instant; there was no room for the
// sample's stack.
inline constexpr const char *kIrqsOff = "[irqs off]", *kNoStack = "[no stack]";
// A frame above BPF programs and what calls them: icepath's probes, and others that trace at the same time. Stands for
// all functions below it where only innermost functions are told.
inline constexpr const char *kProbes = "[probes]";
// A kernel function without a symbol (capture/named_stacks.h).
inline constexpr const char *kNamelessKernel = "[kernel]";
// Stands for rows without samples, in a layer that has some.
inline constexpr const char *kNotSampled = "[not sampled]";

// Inserts kProbes where the stack enters a probe. `functions`: from the outermost one on.
void mark_probes(std::vector<std::string> &functions);

// Removes the probe's own functions from the end of a stack that a probe took. `functions`: from the outermost one on.
void leave_out_probe(std::vector<std::string> &functions);

// How many of a stack's functions come before the kernel's: all, if it has none of these. `functions`: from the
// outermost one on.
size_t before_kernel(const std::vector<std::string> &functions);

class Functions {
public:
	// Adds a sampled block.
	void add(const resolve::ResolvedBlock &resolved);

	uint64_t samples() const { return samples_; } // that are in a path; each once
	uint64_t dropped() const { return dropped_; } // that are in none, as of a thread that waits for the next message
	struct Stack {
		std::vector<std::string> functions; // from the outermost one on; never empty
		uint64_t samples = 0;
		std::map<size_t, uint64_t> by_block{}; // those blocks that have any
		const std::string &innermost() const; // or kProbes
	};
	// Stacks of the row's layer, part, role and thread, in the order of their names.
	std::vector<Stack> stacks_of(const LayerRow &row) const;
	// Half of the 95 % interval of the share of `some` in `all` samples of a row, both by block. It is at least that of
	// as many independent samples.
	double half_of_share(const std::map<size_t, uint64_t> &some, const std::map<size_t, uint64_t> &all) const;

private:
	using Key = std::tuple<model::Layer, model::Part, path::Role, std::string>;
	using Frames = std::vector<uint32_t>; // by number, from the outermost one on
	uint32_t number_of(const std::string &function);
	std::vector<Frames> frames_of(const model::Window &window);

	std::map<std::string, uint32_t> numbers_;
	std::vector<std::string> names_; // by number
	std::map<Key, std::map<Frames, std::map<size_t, uint64_t>>> stacks_; // samples by block
	std::vector<uint32_t> openings_; // by block
	uint64_t samples_ = 0, dropped_ = 0;
};

struct FunctionRow {
	std::string name; // of the innermost function
	uint64_t samples = 0;
	double mean_ns = 0; // of a message, as LayerRow
	double half_ns = 0; // half of its 95 % interval
};

struct SampledLayer {
	model::Layer layer = model::Layer::SenderUser;
	double mean_ns = 0;
	uint64_t samples = 0;
	std::vector<FunctionRow> functions; // the one with most time first; they add up to the layer
};

// The layers that have samples, in their order.
std::vector<SampledLayer> sampled_layers(const Breakdown &layers, const Functions &functions);

// The functions of all layers together, the one with most time first. They add up to the mean latency: layers without
// samples are kNotSampled.
std::vector<FunctionRow> functions_of_message(const Breakdown &layers, const Functions &functions);

// A function below those that call it, in a layer.
struct CalledFunction {
	std::string name;
	uint64_t samples = 0; // in it and in what it calls
	double mean_ns = 0, half_ns = 0; // of these, as FunctionRow
	double own_ns = 0; // in itself
	std::vector<CalledFunction> calls; // the one with most time first
};

// The layer's outermost functions, with those that they call. In a layer that isn't user code they are the kernel's,
// whoever called it.
std::vector<CalledFunction> called_functions(const Breakdown &layers, const Functions &functions, model::Layer layer);

} // namespace icepath::analysis
