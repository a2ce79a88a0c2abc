// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stacks of the kernel as names of functions. In this form the root helper gives them to icepath, which may not have
// the kernel's addresses.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ebpf/records.h"
#include "profiler/symbols/kernel_symbols.h"

namespace icepath::capture {

inline constexpr size_t kMostFunctions = 8192; // of all stacks of a run; others share number 0
inline constexpr size_t kFunctionNameBytes = 128; // with the 0 at its end
inline constexpr uint32_t kStacksOfCpu = 4096; // samples of one block, for each of the run's CPUs
inline constexpr uint32_t kEventStacks = 2048; // of switches and wakings of one block
inline constexpr uint32_t kMostUserStacks = 8192; // with a copy of the user's stack: 135 MB
inline constexpr const char *kKernelFunction = "[kernel]"; // without a name

// As shared by both processes. Numbers of functions hold for the run, stacks until the next block.
struct NamedStack {
	uint32_t depth = 0;
	uint32_t of_interrupt = 0; // 1: what an interrupt did, which no user code called
	std::array<uint32_t, ICEPATH_STACK_DEPTH> functions{}; // the innermost first
};
struct FunctionNames {
	uint32_t count = 0;
	std::array<std::array<char, kFunctionNameBytes>, kMostFunctions> names{};
};
// A FunctionNames, then the stacks.
constexpr size_t named_bytes(size_t stacks) { return sizeof(FunctionNames) + stacks * sizeof(NamedStack); }

// Whether an interrupt enters the kernel by this function. The entries of exceptions and system calls don't count.
bool is_interrupt_entry(std::string_view function);

class NamedStacks {
public:
	// Reads the kernel's symbols, which takes CAP_SYSLOG, and makes the shared memory. Throws Failure(MachineCannot).
	explicit NamedStacks(uint32_t stacks);
	~NamedStacks();
	NamedStacks(const NamedStacks &) = delete;
	NamedStacks &operator=(const NamedStacks &) = delete;

	int fd() const { return fd_; } // a memfd that can't change its size
	bool knows_kernel() const { return !symbols_.empty(); }
	// Names the first `count` stacks, or as many as there is room for; of each only the part that icepath may have.
	// Empties them, so that what a late program fills is a stack with its own part.
	void name(icepath_stack *stacks, uint32_t count);

private:
	uint32_t function_at(uint64_t address);
	uint32_t upto_interrupt(const icepath_stack &stack, uint32_t depth) const;

	int fd_ = -1;
	size_t room_ = 0; // stacks
	void *memory_ = nullptr;
	symbols::KernelSymbols symbols_;
	std::vector<uint32_t> numbers_; // by symbol; 0: none yet
	uint32_t functions_ = 1; // the shared memory's own count may be written by icepath
};

} // namespace icepath::capture
