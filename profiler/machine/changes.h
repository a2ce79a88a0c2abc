// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must not change during a run: the clock source, that the machine is awake, and the CPUs of threads.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/window.h"

namespace icepath::machine {

// Time that the machine has slept since boot.
uint64_t slept_ns();

// A smaller difference may come from a preemption between two clock readings.
inline constexpr uint64_t kLeastSleepNs = 10'000'000;

class Changes {
public:
	// `root` is put before every path. Tests replace both.
	explicit Changes(std::string root = "", std::function<uint64_t()> slept = slept_ns);

	// What has changed since the last look, each as a clause for a notice. Blocks measured meanwhile are invalid.
	std::vector<std::string> look();

	// Names the first thread that may run elsewhere than on its CPU, and why; nothing: none. The run can't continue
	// then. Threads that have ended are ignored.
	std::optional<std::string> lost_pin(const std::vector<model::WindowThread> &threads) const;

private:
	std::string clock_source() const;
	bool is_online(uint32_t cpu) const;

	const std::string root_;
	const std::function<uint64_t()> slept_;
	std::string clock_source_;
	uint64_t slept_ns_;
};

} // namespace icepath::machine
