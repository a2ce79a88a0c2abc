// SPDX-License-Identifier: Apache-2.0
#pragma once
// A block's messages: a PayloadHead, truncated if the message is shorter, then bytes that depend on block, direction
// and seq. Verifying each byte proves that the target moved it. Prepared and verified outside the timed interval.
#include <cstdint>
#include <vector>

namespace icepath::worker {

// Over a lossy target the sender closes a block with a message that has this seq.
inline constexpr uint64_t kClosingSeq = UINT64_MAX;

class Payloads {
public:
	explicit Payloads(uint64_t bytes);

	// `sender`: number of this sender in a fan-in from `senders`; see PayloadHead. A receiver passes 0.
	void begin_block(uint64_t block, uint32_t sender = 0, uint32_t senders = 1);

	// Fills all bytes() of `message`. `direction`: the sending side.
	void prepare(void *message, uint64_t seq, uint32_t direction) const;

	enum class Verdict {
		Intact,
		Damaged, // differs from the bytes sent
		OtherBlock, // undamaged, but from another block or an unknown sender
		Closing, // kClosingSeq
	};
	struct Checked {
		// As the message has it. If it is shorter than 8 bytes: the first seq at or after `expected` that fits.
		uint64_t seq;
		Verdict verdict;
		uint32_t sender = 0; // as the message has it
	};
	// `closing`: a closing message is due, so n < 8 bytes with all bits set are that one instead of seq 2^(8n) - 1.
	Checked verify(const void *message, uint64_t received_bytes, uint64_t expected, uint32_t direction,
				   bool closing = false) const;

	uint64_t bytes() const { return bytes_; }

private:
	const uint8_t *body(uint64_t seq, uint64_t block, uint32_t direction) const;

	uint64_t bytes_, block_ = 0; // block_: the sender is in its upper bits
	uint32_t senders_ = 1;
	std::vector<uint8_t> pattern_; // a message's body is a part of it; its offset depends on block, direction and seq
};

} // namespace icepath::worker
