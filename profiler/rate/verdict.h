// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether one block kept the limits at its rate, by its stamps, without the warm-up.
#include <cstdint>
#include <optional>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::rate {

struct Verdict {
	bool held = false;
	uint64_t sent = 0, lost = 0;
	// From the time a message was due to its reception; missing if too few arrived (stats::supported()).
	std::optional<uint64_t> p99_ns;
};

// Nothing for a block that doesn't steer the search: one with probes, without a rate, ended early, or with too few
// messages. A block that its deadline ended didn't hold: its sender lagged that far behind.
std::optional<Verdict> judge(const model::Block &block, const model::Cell &cell);

} // namespace icepath::rate
