// SPDX-License-Identifier: Apache-2.0
#pragma once
// The timers that sample what workers run: a perf event of each CPU, with on_sample of ebpf/sampling.bpf.h.
#include <cstdint>
#include <vector>

namespace icepath::capture {

// The kernel's shortest period is 10 us (perf_swevent_hrtimer()); a longer one than this leaves a block without
// samples.
inline constexpr uint64_t kShortestPeriodNs = 10'000, kLongestPeriodNs = 1'000'000'000;

class SamplingTimers {
public:
	// Opens the timers stopped, so that they cost nothing. Takes CAP_PERFMON. Throws Failure(MachineCannot).
	SamplingTimers(int program, const std::vector<uint32_t> &cpus);
	~SamplingTimers();
	SamplingTimers(const SamplingTimers &) = delete;
	SamplingTimers &operator=(const SamplingTimers &) = delete;

	// Throws Failure(MachineCannot), with all of them stopped.
	void start(uint64_t period_ns);
	void stop();

private:
	void close_all();

	std::vector<int> events_;
};

} // namespace icepath::capture
