// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches how full the capture's slots are (ebpf/records.h), so that a block ends before records are lost.
#include <cstddef>
#include <cstdint>

#include "profiler/channel.h"

struct icepath_fill;

namespace icepath::worker {

class SlotsWatch {
public:
	SlotsWatch() = default;
	explicit SlotsWatch(Fd map) : map_(std::move(map)) {}
	~SlotsWatch();
	SlotsWatch(const SlotsWatch &) = delete;
	SlotsWatch &operator=(const SlotsWatch &) = delete;

	// `capacity`: records of a slot. `slots` 0: nothing is watched. Throws Failure if the map can't be mapped.
	void begin_block(uint32_t slots, uint32_t capacity);
	// Whether one of the slots is three quarters full.
	bool nearly_full() const;

private:
	Fd map_;
	const icepath_fill *fills_ = nullptr;
	size_t mapped_bytes_ = 0;
	uint32_t slots_ = 0, enough_ = 0;
};

} // namespace icepath::worker
