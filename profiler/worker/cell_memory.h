// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's mapping of the memory that the cell's workers share with icepath.
#include <cstdint>

#include "profiler/channel.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {

class CellMap {
public:
	// Maps the memory with every page present, so that the message loop has no page fault. Throws Failure(Internal) if
	// it is too small for `max_messages`.
	CellMap(const Fd &memory, uint32_t max_messages, uint32_t channels);
	~CellMap();
	CellMap(const CellMap &) = delete;
	CellMap &operator=(const CellMap &) = delete;

	CellMemory &head() { return *head_; }
	uint32_t capacity() const { return capacity_; }
	// capacity() stamps of one end of a channel.
	model::SendStamp *sends(uint32_t channel, uint32_t side);
	model::RecvStamp *recvs(uint32_t channel, uint32_t side);

private:
	uint32_t capacity_, channels_;
	CellMemory *head_ = nullptr;
};

} // namespace icepath::worker
