// SPDX-License-Identifier: Apache-2.0
#pragma once
// icepath's view of the slots that its root helper's capture writes.
#include <cstdint>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/window.h"
#include "profiler/privilege/root_helper.h"

namespace icepath::privilege {

// Mapped read-only. Nothing in them is trusted.
class SlotsView {
public:
	SlotsView() = default;
	// Takes the maps. `cpus`: the CPU of each slot; one more slot is for all other CPUs.
	SlotsView(Helper::Loaded &loaded, const std::vector<uint32_t> &cpus);
	~SlotsView();
	SlotsView(SlotsView &&other) noexcept;
	SlotsView &operator=(SlotsView &&other) noexcept;
	std::vector<model::SlotCapture> copy() const;
	bool mapped() const { return memory_ != nullptr; }
	int fills_fd() const { return fills_.get(); } // workers map it
	uint32_t slot_records() const { return slot_records_; }
	uint32_t slot_count() const { return slot_count_; }

private:
	Fd map_, fills_;
	const uint8_t *memory_ = nullptr;
	uint32_t slot_bytes_ = 0, slot_count_ = 0, slot_records_ = 0;
	std::vector<int32_t> cpus_;
};

} // namespace icepath::privilege
