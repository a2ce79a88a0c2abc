// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory that icepath shares with its workers. Nothing in it is trusted.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/stamps.h"
#include "profiler/worker/cell_memory.h"

namespace icepath::run {

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
