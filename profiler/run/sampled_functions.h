// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sampled blocks: how often they are sampled, and the names of the functions in which samples found workers, with which
// workers went to sleep, and by which they were woken.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "profiler/channel.h"
#include "profiler/model/window.h"
#include "profiler/symbols/user_functions.h"
#include "profiler/symbols/user_stacks.h"

namespace icepath::run {

// About 4 kHz. A timer whose period is a simple fraction of the messages' would always meet messages of a fixed rate,
// or ticks, in the same places. So its period is a golden fraction or multiple of theirs; without a rate, of the usual
// tick of 4 ms. In a block too long to have room for that many stacks, the period is longer, so that the stacks are of
// the whole block.
uint64_t sampling_period_ns(std::optional<double> rate_hz, uint64_t block_ns);

// Memory that another process writes.
class MappedForReading {
public:
	MappedForReading() = default;
	// Throws Failure(MachineCannot).
	MappedForReading(const Fd &fd, size_t bytes);
	~MappedForReading();
	MappedForReading(const MappedForReading &) = delete;
	MappedForReading &operator=(MappedForReading &&other) noexcept
	{
		std::swap(memory_, other.memory_);
		std::swap(bytes_, other.bytes_);
		return *this;
	}

	const void *memory() const { return memory_; }

private:
	const void *memory_ = nullptr;
	size_t bytes_ = 0;
};

class SampledFunctions {
public:
	SampledFunctions() = default;
	// `named`: the helper's (capture/named_stacks.h); `user_stacks`: as many icepath_user_stack as it has stacks, or
	// capture::kMostUserStacks. Throws Failure(MachineCannot).
	SampledFunctions(const Fd &named, const Fd &user_stacks);

	// Sets the stacks of a sampled window, and takes the addresses out of its records. Call it while its processes
	// still live.
	void name(model::Window &window);

private:
	symbols::UserFrames user_frames(uint32_t process, uint32_t number); // none without a copy of that stack

	MappedForReading named_, user_stacks_;
	size_t room_ = 0, user_room_ = 0; // stacks
	symbols::UserFunctions user_;
	symbols::UserStacks unwound_;
};

} // namespace icepath::run
