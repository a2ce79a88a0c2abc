// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of the sums allowed by limits.h a run has used, for both writing and reading.
#include <cstdint>

namespace icepath::rundir {

class Room {
public:
	// Take a window, then each of its blocks. Throw std::runtime_error with the reason if there is no room. To be
	// called before allocating.
	void take_window(uint64_t records, uint64_t blocks);
	void take_block(uint64_t stamps);

	// Whether another window may not fit.
	bool is_full() const;

private:
	void take(uint64_t bytes);

	uint64_t window_bytes_ = 0, run_bytes_ = 0;
};

} // namespace icepath::rundir
