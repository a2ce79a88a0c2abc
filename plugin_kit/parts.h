// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages in parts over a lossy target: each part names its place, and a message that lacks one is lost as a whole.
// Targets that lose nothing need no such head: their parts arrive complete and in order.
#include <cstdint>

namespace icepath::plugin_kit {

// Precedes each part.
struct PartHead {
	uint32_t message; // counts the sender's messages, wraps
	uint32_t part; // from 0
};

// The receiver's place in the current message. Parts come in order, or not at all.
class PartOrder {
public:
	enum class Verdict { Next, First, Stray }; // the due part; the first part of another message; neither

	Verdict judge(const PartHead &head)
	{
		const Verdict verdict = head.part == 0                                  ? Verdict::First
								: head.message == message_ && head.part == due_ ? Verdict::Next
																				: Verdict::Stray;
		if (verdict != Verdict::Stray) {
			message_ = head.message;
			due_ = head.part + 1;
		} else {
			due_ = 0; // only a first part fits now
		}
		return verdict;
	}

private:
	uint32_t message_ = 0, due_ = 0;
};

} // namespace icepath::plugin_kit
