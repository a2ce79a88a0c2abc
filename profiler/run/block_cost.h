// SPDX-License-Identifier: Apache-2.0
#pragma once
// What others took while a block went on: the hypervisor, and icepath itself.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/window.h"

namespace icepath::run {

// From when it is made to tell(). A helper that has ended leaves its part, and so the sum, unknown.
class BlockCost {
public:
	BlockCost(const std::vector<uint32_t> &cpus, pid_t helper);
	void add_to(model::Window &window) const; // steal_ns, own_cpu_ns

private:
	std::optional<uint64_t> own_cpu_ns() const; // so far

	const std::vector<uint32_t> &cpus_;
	const pid_t helper_;
	const std::optional<uint64_t> steal_before_ns_, own_before_ns_;
};

} // namespace icepath::run
