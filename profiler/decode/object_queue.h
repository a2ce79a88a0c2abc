// SPDX-License-Identifier: Apache-2.0
#pragma once
// What went into one object and came out of it, in order: which givings a taking has its bytes from. takings.h says what is known of objects.
#include <cstdint>
#include <deque>
#include <vector>

#include "profiler/decode/takings.h"

namespace icepath::decode {

// What happened to one object. Of several at one time givings come first: their call has begun by then.
struct Happening {
	enum class Kind : uint8_t { Give, Take, Empty, Unknown };
	uint64_t at_ns = 0;
	Kind kind = Kind::Give;
	uint32_t tid = 0;
	const Call *call = nullptr; // Give, Take
	uint64_t bytes = 0;
	uint64_t in_ns = 0; // Give: by when it was in
};

// The bytes, or where sizes aren't told the messages, of one object in their order.
class ObjectQueue {
public:
	enum class Counts : uint8_t { Bytes, Messages, All };

	// `may_fly`: what was given may not have arrived when its call has come back. `out` is the caller's, and gets the takings.
	ObjectQueue(Counts counts, bool may_fly, std::vector<Taking> &out) : counts_(counts), may_fly_(may_fly), out_(out)
	{}

	// All that happened, in order. Once.
	void run(const std::vector<Happening> &all);

	// When the last of it was taken.
	const std::vector<uint64_t> &emptied_ns() const { return emptied_ns_; }

private:
	struct Given {
		uint32_t tid = 0;
		const Call *call = nullptr; // nullptr: not known, from before the first record
		uint64_t left = 0; // bytes of it that nobody has taken
	};
	using At = std::vector<Happening>::const_iterator;

	uint64_t amount(const Happening &one) const { return counts_ == Counts::Messages ? 1 : one.bytes; }
	// What was given until then has been taken, or flies still.
	void was_empty(uint64_t at_ns);
	// Of what flew the last bytes, as many as were taken although nothing else had been given. Returns how many are missing then.
	uint64_t land(uint64_t missing);
	// Between two instants at which it is known anew.
	void between(At begin, At end);
	// By how much more was taken than was there.
	uint64_t missing(At begin, At end) const;
	void take(const Happening &taken, bool contradicts);

	const Counts counts_;
	const bool may_fly_;
	std::vector<Taking> &out_;
	std::deque<Given> waiting_;
	std::vector<Given> flying_; // of what was given before it was last seen to be empty
	std::vector<uint64_t> emptied_ns_;
	bool begins_empty_ = false;
};

} // namespace icepath::decode
