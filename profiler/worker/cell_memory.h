// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory that the workers of a cell share with icepath, as one of the workers sees it.
#include <cstdint>

#include "profiler/channel.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {

class CellMap {
public:
	// Maps the memory with every page present, so that the message loop meets no page fault. Throws Failure(Internal)
	// where it is smaller than `max_messages` demand.
	CellMap(const Fd &memory, uint32_t max_messages, uint32_t channels);
	~CellMap();
	CellMap(const CellMap &) = delete;
	CellMap &operator=(const CellMap &) = delete;

	CellMemory &head() { return *head_; }
	uint32_t capacity() const { return capacity_; }
	// capacity() of them, of one end of a channel.
	model::SendStamp *sends(uint32_t channel, uint32_t side);
	model::RecvStamp *recvs(uint32_t channel, uint32_t side);

private:
	uint32_t capacity_, channels_;
	CellMemory *head_ = nullptr;
};

} // namespace icepath::worker
