// SPDX-License-Identifier: Apache-2.0
#pragma once
// Takes records out of the capture's rings while programs write them.
#include <cstdint>
#include <vector>

#include "profiler/model/window.h"
#include "profiler/privilege/root_helper.h"

namespace icepath::attach {

class Drain {
public:
	// Takes the maps of `loaded`. `cpus`: as it was loaded for. Throws Failure(MachineCannot).
	Drain(privilege::Helper::Loaded &loaded, const std::vector<uint32_t> &cpus);
	~Drain();
	Drain(const Drain &) = delete;
	Drain &operator=(const Drain &) = delete;

	// Moves the records that are whole into the window's slots. Call it every few ms: what has no room is lost.
	void take();
	// What was taken since the last time, slot by slot. Each begins where the one before ended.
	std::vector<model::SlotCapture> taken();

private:
	uint32_t take(uint32_t slot, uint32_t position);

	const Fd slots_, taken_;
	const uint32_t slot_bytes_, slot_count_, slot_records_;
	const uint8_t *memory_ = nullptr;
	uint8_t *ends_ = nullptr; // of icepath_taken
	std::vector<model::SlotCapture> window_;
};

} // namespace icepath::attach
