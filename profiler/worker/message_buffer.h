// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace icepath::worker {

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

} // namespace icepath::worker
