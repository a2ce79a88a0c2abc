// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the givings that each taking of one object got its bytes from, by their order. takings.h explains objects.
#include <cstdint>
#include <deque>
#include <vector>

#include "profiler/decode/takings.h"

namespace icepath::decode {

// An event at one object. Among simultaneous ones givings come first: their call has begun by then.
struct Happening {
	enum class Kind : uint8_t {
		Give,
		Foreign, // a datagram was announced that no known call gave: as a rule, of a process that isn't watched
		Take,
		Empty,
		Unknown,
	};
	uint64_t at_ns = 0;
	Kind kind = Kind::Give;
	uint32_t tid = 0;
	const Call *call = nullptr; // Give, Take
	uint64_t bytes = 0;
	uint64_t in_ns = 0; // Give: it was in the queue by then
};

// The bytes of one object in order, or its messages where sizes aren't known.
class ObjectQueue {
public:
	enum class Counts : uint8_t { Bytes, Messages, All };

	// `may_fly`: what was given may arrive after its call has returned. Appends the takings to `out`, which the caller
	// owns.
	ObjectQueue(Counts counts, bool may_fly, std::vector<Taking> &out) : counts_(counts), may_fly_(may_fly), out_(out)
	{}

	// Runs through all events, in order. Call it once.
	void run(const std::vector<Happening> &all);

	// Instants at which the queue became empty by a taking.
	const std::vector<uint64_t> &emptied_ns() const { return emptied_ns_; }

private:
	struct Given {
		uint32_t tid = 0;
		const Call *call = nullptr; // nullptr: not known, before the first record
		uint64_t left = 0; // bytes that aren't taken yet
		uint64_t in_ns = 0; // see Happening
	};
	using At = std::vector<Happening>::const_iterator;

	uint64_t amount(const Happening &one) const { return counts_ == Counts::Messages ? 1 : one.bytes; }
	// Everything given before `at_ns` has been taken or is still in flight.
	void was_empty(uint64_t at_ns);
	// Takes the newest in-flight bytes first, as many as were taken without having been given since. Returns how many
	// remain missing.
	uint64_t land(uint64_t missing);
	// Between two instants at which the queue's content is known. `empty_ns`: it is empty at the second; 0: not known.
	void between(At begin, At end, uint64_t empty_ns);
	// Where foreign datagrams were announced: tells them from the given ones, whose order is known, by their sizes.
	// False unless all that was announced and given was taken, and there is exactly one way to tell them apart.
	bool by_datagram(At begin, At end, uint64_t empty_ns);
	// Bytes taken beyond those present.
	uint64_t missing(At begin, At end) const;
	void take(const Happening &taken, bool contradicts);

	const Counts counts_;
	const bool may_fly_;
	std::vector<Taking> &out_;
	std::deque<Given> waiting_;
	std::vector<Given> flying_; // given before the queue was last seen empty
	std::vector<uint64_t> emptied_ns_;
	bool begins_empty_ = false;
};

} // namespace icepath::decode
