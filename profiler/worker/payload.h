// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the messages of a block carry: a PayloadHead, cut where the message is shorter, then bytes that depend on block,
// direction and seq. Prepared and verified outside the timed interval, because a benchmark that moves no bytes wins
// every race.
#include <cstdint>
#include <vector>

namespace icepath::worker {

// After the last message over a lossy target the sender closes the block with one that carries this seq.
inline constexpr uint64_t kClosingSeq = UINT64_MAX;

class Payloads {
public:
	explicit Payloads(uint64_t bytes);

	// `sender`: this one's number in a fan-in from so many; see PayloadHead. Its receiver has 0.
	void begin_block(uint64_t block, uint32_t sender = 0, uint32_t senders = 1);

	// Fills the whole of `message` (bytes() long); `direction` is the sending side.
	void prepare(void *message, uint64_t seq, uint32_t direction) const;

	enum class Verdict {
		Intact,
		Damaged, // not the bytes that were sent
		OtherBlock, // whole, but left over from an earlier block, or of no sender that there is
		Closing, // kClosingSeq
	};
	struct Checked {
		uint64_t
			seq; // as the message says; of a message shorter than 8 bytes, the first at or after `expected` that fits
		Verdict verdict;
		uint32_t sender = 0; // as the message says
	};
	// `closing`: the sender has said that a closing message is due, so that a short one can be told from seq -1.
	Checked verify(const void *message, uint64_t received_bytes, uint64_t expected, uint32_t direction,
				   bool closing = false) const;

	uint64_t bytes() const { return bytes_; }

private:
	const uint8_t *body(uint64_t seq, uint64_t block, uint32_t direction) const;

	uint64_t bytes_, block_ = 0; // with the sender in its upper bits
	uint32_t senders_ = 1;
	std::vector<uint8_t> pattern_; // every message's body is a piece of it that begins elsewhere
};

} // namespace icepath::worker
