// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory that icepath shares with the capture and with its workers. Nothing in it is trusted.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/block.h"
#include "profiler/model/stamps.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/worker/cell_memory.h"

namespace icepath::run {

// The slots of the capture, mapped read-only.
class SlotsView {
public:
	SlotsView() = default;
	// Takes the maps. `cpus`: the CPU of each slot; one more slot is for all other CPUs.
	SlotsView(privilege::Helper::Loaded &loaded, const std::vector<uint32_t> &cpus);
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

// The memory that a cell's workers share with icepath: their stamps, and a few words of control. Workers may write
// anything there at any time, so what is copied out of it is checked afterwards.
class StampMemory {
public:
	// `capacity`: stamps of each kind at each end of each channel. `title`: the cell's. Throws WorkerFailed.
	StampMemory(const std::string &title, uint32_t channels, uint32_t capacity);
	~StampMemory();
	StampMemory(const StampMemory &) = delete;
	StampMemory &operator=(const StampMemory &) = delete;

	int fd() const { return fd_.get(); } // sealed: no worker can resize it
	uint32_t capacity() const { return capacity_; }
	worker::CellMemory &control() const { return *memory_; }
	// The first `count` at that end of the channel, at most capacity().
	std::vector<model::SendStamp> sends(uint32_t channel, uint32_t end, uint64_t count) const;
	std::vector<model::RecvStamp> recvs(uint32_t channel, uint32_t end, uint64_t count) const;

private:
	const uint8_t *stamps_at(uint32_t channel, uint32_t end) const;

	const uint32_t capacity_;
	const size_t bytes_;
	Fd fd_;
	worker::CellMemory *memory_ = nullptr;
};

} // namespace icepath::run
