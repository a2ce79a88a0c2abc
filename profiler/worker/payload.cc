// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/payload.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "profiler/worker/protocol.h"

namespace icepath::worker {
namespace {

// Prime, so that blocks and messages whose numbers differ by a power of two have different offsets.
constexpr uint64_t kBeginnings = 251;

constexpr unsigned kSenderShift = 64 - kSenderBits;
constexpr uint64_t number_of(uint64_t block) { return block & ((uint64_t{1} << kSenderShift) - 1); }

} // namespace

Payloads::Payloads(uint64_t bytes) : bytes_(bytes), pattern_(bytes + kBeginnings)
{
	uint64_t state = 0x9e3779b97f4a7c15; // xorshift64 (Marsaglia 2003): the same in every worker
	for (uint8_t &byte : pattern_) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		byte = static_cast<uint8_t>(state >> 32);
	}
}

void Payloads::begin_block(uint64_t block, uint32_t sender, uint32_t senders)
{
	senders_ = senders;
	block_ = number_of(block) | (uint64_t{sender} << kSenderShift);
}

const uint8_t *Payloads::body(uint64_t seq, uint64_t block, uint32_t direction) const
{
	return pattern_.data() + (seq % kBeginnings + 31 * (block % kBeginnings) + 127 * direction) % kBeginnings;
}

void Payloads::prepare(void *message, uint64_t seq, uint32_t direction) const
{
	const PayloadHead head{seq, block_};
	const uint64_t head_bytes = std::min<uint64_t>(bytes_, sizeof(head));
	std::memcpy(message, &head, head_bytes);
	std::memcpy(static_cast<uint8_t *>(message) + head_bytes, body(seq, block_, direction), bytes_ - head_bytes);
}

Payloads::Checked Payloads::verify(const void *message, uint64_t received_bytes, uint64_t expected, uint32_t direction,
								   bool closing) const
{
	// Fields that a short message lacks count as correct.
	static_assert(std::endian::native == std::endian::little, "a cut PayloadHead keeps its low bytes");
	PayloadHead head{0, block_};
	const uint64_t head_bytes = std::min<uint64_t>(bytes_, sizeof(head));
	std::memcpy(&head, message, std::min(received_bytes, head_bytes));
	if (bytes_ < sizeof(head.seq)) {
		const uint64_t span = uint64_t{1} << (8 * bytes_);
		if (closing && head.seq == span - 1)
			head.seq = kClosingSeq;
		else if ((head.seq |= expected & ~(span - 1)) < expected)
			head.seq += span;
	}
	const auto sender = static_cast<uint32_t>(head.block >> kSenderShift);
	if (received_bytes != bytes_ || std::memcmp(static_cast<const uint8_t *>(message) + head_bytes,
												body(head.seq, head.block, direction), bytes_ - head_bytes) != 0)
		return {head.seq, Verdict::Damaged, sender};
	if (number_of(head.block) != number_of(block_) || sender >= senders_)
		return {head.seq, Verdict::OtherBlock, sender};
	return {head.seq, head.seq == kClosingSeq ? Verdict::Closing : Verdict::Intact, sender};
}

} // namespace icepath::worker
