// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sampled blocks: how often they are sampled, and the names of the functions in which samples found workers.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "profiler/channel.h"
#include "profiler/model/window.h"
#include "profiler/symbols/user_functions.h"

namespace icepath::run {

// Some 4 kHz. Messages at a fixed rate, as ticks, would meet a timer whose period is a simple fraction of theirs always
// in the same places. So it is a golden fraction or multiple of theirs; without a rate, of the usual tick of 4 ms. In a
// block so long that there is no room for that many stacks, it is so much longer that they are of the whole block.
uint64_t sampling_period_ns(std::optional<double> rate_hz, uint64_t block_ns);

class SampledFunctions {
public:
	SampledFunctions() = default;
	// `named`: the helper's (capture/named_stacks.h). Throws Failure(MachineCannot).
	explicit SampledFunctions(Fd named);
	~SampledFunctions();
	SampledFunctions(const SampledFunctions &) = delete;
	SampledFunctions &operator=(SampledFunctions &&other) noexcept;

	// Sets the stacks of a sampled window, and takes the addresses out of its records. While its processes still live.
	void name(model::Window &window);

private:
	Fd named_;
	const void *memory_ = nullptr;
	size_t bytes_ = 0;
	symbols::UserFunctions user_;
};

} // namespace icepath::run
