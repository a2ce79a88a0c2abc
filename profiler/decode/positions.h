// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the bytes of each call are in the stream of their direction: by the capture, which counts at the socket itself,
// or else by counting them here.
//
// TCP's positions are modulo 2^32. Each is taken for the one nearest to that of the call before.
//
// A pipe holds bytes when it is first seen, and the capture can't tell how many. So a pipe's positions are used only of
// what was given after it was empty. If they differ then, twice by the same number of bytes, that is what it had held;
// once, a record may be missing.
//
// Counting here takes an instant at which a stream was empty: a taking call slept or found nothing, while no call was
// giving. All that was given by then has been taken. Another such instant shows whether a record was lost meanwhile.
// Until the first one nothing is placed.
#include <cstdint>
#include <map>
#include <optional>

#include "profiler/decode/log.h"
#include "profiler/decode/objects.h"
#include "profiler/model/attached.h"

namespace icepath::decode {

// A call, in any decoding of its record.
inline CallKey key_of(const Thread &thread, const Call &call) { return {thread.tid, call.begin_ns}; }

// Which object the bytes that are given to an object come out of.
class Peers {
public:
	explicit Peers(Objects &objects) : objects_(objects) {}
	void know(const model::Connection &connection);
	// From a giving call's own announcement, and from packets that were queued at one socket and announced at another.
	void learn(const SocketEvents &events, const Observations &seen);
	// 0: not known.
	uint64_t comes_out_of(uint64_t given_to) const;

private:
	void join(uint64_t one, uint64_t other);

	Objects &objects_;
};

// The bytes [end - bytes, end) of a stream.
struct Place {
	uint64_t end = 0;
	bool counted = false; // here
	// Several threads had given, or had taken, by the end of this call, and only the order in which their calls ended
	// says whose bytes came first: of pipes, and of what is counted here. That order isn't the bytes' own.
	bool in_order_of_calls = false;
};

// Keeps its counts from one window to the next.
class Positions {
public:
	explicit Positions(Objects &objects) : objects_(objects) {}
	// Counts the calls that ended after the last count and until `until_ns`, each once. Later ones are placed as far as
	// they are known now, and counted next time.
	void count(const Observations &seen, const Peers &peers, uint64_t until_ns);
	std::optional<Place> given(const Thread &thread, const Call &call) const;
	std::optional<Place> taken(const Thread &thread, const Call &call) const;
	// When the stream that comes out of an object last turned out to hold another number of bytes than was counted, or
	// may have come to.
	std::optional<uint64_t> contradicted_ns(uint64_t object) const;
	void forget_before(uint64_t at_ns);

private:
	struct Own {
		uint64_t object = 0, total = 0, end_ns = 0;
		bool counted = true;
	};
	// Where the bytes of the stream's next call are. Nothing: the capture doesn't tell, as it does of other calls.
	static std::optional<Own> next(StreamCount::Totals &totals, const Call &call, uint64_t object);
	void count_step(const Thread &thread, const Call &call, uint64_t object);
	void was_empty(uint64_t object, uint64_t at_ns);
	void lost(uint64_t at_ns);

	Objects &objects_;
	uint64_t until_ns_ = 0;
	std::map<CallKey, Own> places_; // of calls without a whole position
};

} // namespace icepath::decode
