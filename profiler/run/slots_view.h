// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/block.h"

namespace icepath::run {

// The slots of the capture, as icepath maps them: read only, and nothing in them is believed.
class SlotsView {
public:
	SlotsView() = default;
	SlotsView(Fd map, uint32_t slot_bytes, uint32_t slot_count, const std::vector<uint32_t> &cpus);
	~SlotsView();
	SlotsView(SlotsView &&other) noexcept;
	SlotsView &operator=(SlotsView &&other) noexcept;
	std::vector<model::SlotCapture> copy() const;
	bool mapped() const { return memory_ != nullptr; }
	int fd() const { return map_.get(); }
	uint32_t slot_bytes() const { return slot_bytes_; }
	uint32_t slot_count() const { return slot_count_; }

private:
	Fd map_;
	const uint8_t *memory_ = nullptr;
	uint32_t slot_bytes_ = 0, slot_count_ = 0;
	std::vector<int32_t> cpus_;
};

} // namespace icepath::run
