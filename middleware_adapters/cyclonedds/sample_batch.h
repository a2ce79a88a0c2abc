// SPDX-License-Identifier: Apache-2.0
#pragma once
// The samples of one dds_take(). Asking for several tells whether more is there: a take that brings fewer has brought
// all, and saves another take before each wait.
#include <algorithm>
#include <vector>

#include "icepath/plugin.h"
#include "message.h"

namespace icepath::plugin_kit {

class SampleBatch {
public:
	explicit SampleBatch(uint64_t payload_bytes)
		: bytes_(payload_bytes), most_(std::clamp<uint64_t>(kRoomBytes / payload_bytes, 1, kMost)),
		  room_(most_ * payload_bytes)
	{}

	static icepath_Message sample_in(void *buffer, uint64_t bytes)
	{
		icepath_Message sample{};
		sample.octets._buffer = static_cast<uint8_t *>(buffer);
		sample.octets._maximum = sample.octets._length = static_cast<uint32_t>(bytes);
		sample.octets._release = false;
		return sample;
	}

	// Takes what is there, as far as there is room for it: the first sample into `first`, of payload_bytes, or, as all
	// others, into the batch's own memory. Fills the stamps of the take. Returns a dds_return_t below 0, or 0.
	dds_return_t take(dds_entity_t reader, void *first, icepath_recv &message)
	{
		void *pointers[kMost];
		for (uint32_t i = 0; i < most_; i++) {
			samples_[i] = sample_in(i == 0 && first ? first : room_.data() + i * bytes_, bytes_);
			pointers[i] = &samples_[i];
		}
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const dds_return_t taken = dds_take(reader, pointers, infos_, most_, static_cast<uint32_t>(most_));
		message.take_return_ns = icepath_now_ns();
		next_ = 0;
		taken_ = taken > 0 ? static_cast<uint32_t>(taken) : 0;
		as_taken_ = message;
		return std::min(taken, 0);
	}

	// Hands out the next sample, with the stamps of its take: at `message.data`, or, if that is null, where it is.
	// False: there is none.
	bool next(icepath_recv &message)
	{
		while (next_ < taken_ && !infos_[next_].valid_data) // it reports its writer
			next_++;
		if (next_ == taken_)
			return false;
		const dds_sequence_octet &octets = samples_[next_++].octets;
		icepath_recv handed = as_taken_;
		handed.data = message.data ? message.data : octets._buffer;
		handed.capacity = message.capacity;
		handed.bytes = octets._length;
		if (handed.data != octets._buffer)
			std::copy_n(octets._buffer, std::min(handed.bytes, handed.capacity), static_cast<uint8_t *>(handed.data));
		message = handed;
		return true;
	}

	bool may_have_left_some() const { return taken_ == most_; }

private:
	static constexpr uint64_t kMost = 8, kRoomBytes = 512 * 1024;

	const uint64_t bytes_, most_;
	std::vector<uint8_t> room_;
	icepath_Message samples_[kMost];
	dds_sample_info_t infos_[kMost];
	uint32_t taken_ = 0, next_ = 0;
	icepath_recv as_taken_{};
};

} // namespace icepath::plugin_kit
