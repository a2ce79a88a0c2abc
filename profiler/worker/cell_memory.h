// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's mapping of the memory that the cell's workers share with icepath.
#include <cstdint>
#include <string>

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

// Page-aligned memory for a message, present, and locked if the limits allow.
class MessageBuffer {
public:
	explicit MessageBuffer(uint64_t bytes); // throws Failure(MachineCannot)
	~MessageBuffer();
	MessageBuffer(const MessageBuffer &) = delete;
	MessageBuffer &operator=(const MessageBuffer &) = delete;
	void *data() const { return data_; }

private:
	uint64_t bytes_;
	void *data_;
};

// Locks all present and future mappings of this process. A page is locked once it is touched (MCL_ONFAULT): middleware
// maps pools of which it uses little. Returns why that failed; empty: it succeeded.
std::string lock_memory();

} // namespace icepath::worker
