// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages that the receiver hasn't taken yet, copied because a callback's memory ends with it. If the receiver already
// waits, a message is copied straight to its buffer; otherwise it is kept here, as in any program that waits for
// messages in its own thread.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace icepath::plugin_kit {

class Arrivals {
public:
	enum class Waiting { Came, Overflowed, Over };

	// Room for `messages`. `may_lose`: a message without room is lost; otherwise that is an error.
	void keep(uint64_t messages, uint64_t payload_bytes, bool may_lose)
	{
		payload_bytes_ = payload_bytes;
		may_lose_ = may_lose;
		lengths_.resize(messages);
		slots_.resize(messages * payload_bytes);
	}

	// Called by a library thread.
	void put(const void *data, uint64_t bytes)
	{
		{
			const std::lock_guard lock(mutex_);
			bytes = std::min(bytes, payload_bytes_);
			if (wanted_) {
				std::memcpy(wanted_, data, bytes);
				wanted_bytes_ = bytes;
				wanted_ = nullptr;
			} else if (came_ - taken_ == lengths_.size()) {
				overflowed_ = !may_lose_;
				return;
			} else {
				const uint64_t slot = came_++ % lengths_.size();
				lengths_[slot] = bytes;
				std::memcpy(&slots_[slot * payload_bytes_], data, bytes);
			}
		}
		changed_.notify_one();
	}

	// Called by the receiver, whose buffer holds a payload. Sleeps until a message comes.
	Waiting take(void *data, uint64_t &bytes)
	{
		std::unique_lock lock(mutex_);
		if (came_ != taken_) {
			const uint64_t slot = taken_ % lengths_.size();
			lock.unlock(); // this thread owns the slot until it counts it as taken
			bytes = lengths_[slot];
			std::memcpy(data, &slots_[slot * payload_bytes_], bytes);
			lock.lock();
			taken_++;
			return Waiting::Came;
		}
		if (overflowed_)
			return Waiting::Overflowed;
		wanted_ = data;
		changed_.wait(lock, [this] { return !wanted_ || is_over_; });
		if (wanted_) {
			wanted_ = nullptr;
			return Waiting::Over;
		}
		bytes = wanted_bytes_;
		return Waiting::Came;
	}

	// Any thread: ends take(), now and later.
	void end()
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
		changed_.notify_all();
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	uint64_t payload_bytes_ = 0;
	std::vector<uint64_t> lengths_;
	std::vector<uint8_t> slots_;
	uint64_t came_ = 0, taken_ = 0;
	void *wanted_ = nullptr;
	uint64_t wanted_bytes_ = 0;
	bool may_lose_ = false, overflowed_ = false, is_over_ = false;
};

} // namespace icepath::plugin_kit
