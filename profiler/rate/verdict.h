// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether one block kept the limits at its rate. By its stamps alone, without the warm-up.
#include <cstdint>
#include <optional>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::rate {

struct Verdict {
	bool held = false;
	uint64_t sent = 0, lost = 0;
	// From when each message was due to its reception; missing where too few came to tell (stats::supported()).
	std::optional<uint64_t> p99_ns;
};

// Nothing of a block that steers no search: a probed one, one without a rate, one that was ended early or has too few
// messages. A block that its deadline ended didn't hold: its sender was that far behind.
std::optional<Verdict> judge(const model::Block &block, const model::Cell &cell);

} // namespace icepath::rate
