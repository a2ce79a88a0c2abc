// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of what limits.h allows in sum a run has taken: the same for who writes it and for who reads it.
#include <cstdint>

namespace icepath::rundir {

class Room {
public:
	// A window, then each of its blocks. Throw std::runtime_error with the reason where there is no room for it: before memory is taken.
	void take_window(uint64_t records, uint64_t blocks);
	void take_block(uint64_t stamps);

	// There may be no room for a window more.
	bool is_full() const;

private:
	void take(uint64_t bytes);

	uint64_t window_bytes_ = 0, run_bytes_ = 0;
};

} // namespace icepath::rundir
