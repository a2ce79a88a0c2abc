// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPU time that the hypervisor and icepath itself took during a block.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/window.h"

namespace icepath::run {

// Counts from its construction to add_to(). If the helper has ended, icepath's own CPU time is unknown.
class BlockCost {
public:
	BlockCost(const std::vector<uint32_t> &cpus, pid_t helper);
	void add_to(model::Window &window) const; // steal_ns, own_cpu_ns

private:
	std::optional<uint64_t> own_cpu_ns() const; // of icepath and its helper, since they started

	const std::vector<uint32_t> &cpus_;
	const pid_t helper_;
	const std::optional<uint64_t> steal_before_ns_, own_before_ns_;
};

} // namespace icepath::run
