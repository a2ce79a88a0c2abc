// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of the machine must stay as it is while a run measures: its clock, that it is awake, and the CPUs that threads are kept to.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/window.h"

namespace icepath::run {

// How long the machine has been asleep since it was started.
uint64_t slept_ns();

// A short wait for its turn between two clocks isn't sleep.
inline constexpr uint64_t kLeastSleepNs = 10'000'000;

class MachineChanges {
public:
	// `root` is put before every path, and `slept` may be another machine's, for tests.
	explicit MachineChanges(std::string root = "", std::function<uint64_t()> slept = slept_ns);

	// What has changed since the last look, each a sentence without its end. What was measured meanwhile isn't to be believed.
	std::vector<std::string> look();

	// Which of the threads may run elsewhere than on the CPU that it was pinned to, and why; nothing: none. Who measured where nobody
	// knows can't go on. Threads that have ended are somebody else's matter.
	std::optional<std::string> lost_pin(const std::vector<model::WindowThread> &threads) const;

private:
	std::string clock_source() const;
	bool is_online(uint32_t cpu) const;

	const std::string root_;
	const std::function<uint64_t()> slept_;
	std::string clock_source_;
	uint64_t slept_ns_;
};

} // namespace icepath::run
