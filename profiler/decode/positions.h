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
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/model/attached.h"

namespace icepath::decode {

// A call, in any decoding of its record: a thread makes one at a time.
using CallKey = std::pair<uint32_t, uint64_t>; // tid, begin_ns
inline CallKey key_of(const Thread &thread, const Call &call) { return {thread.tid, call.begin_ns}; }

// Which object the bytes that are given to an object come out of.
class Peers {
public:
	void know(const model::Connection &connection);
	// From a giving call's own announcement, and from packets that were queued at one socket and announced at another.
	void learn(const SocketEvents &events, const Observations &seen);
	// 0: not known.
	uint64_t comes_out_of(uint64_t given_to) const;
	// Whether the capture tells its positions modulo 2^32, as TCP's.
	bool wraps(uint64_t object) const { return wraps_.contains(object); }

private:
	std::set<uint64_t> wraps_;
	std::map<uint64_t, uint64_t> other_end_;
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
	// Counts the calls that ended after the last count and until `until_ns`, each once. Later ones are placed as far as
	// they are known now, and counted next time.
	void count(const Observations &seen, const Peers &peers, uint64_t until_ns);
	std::optional<Place> given(const Thread &thread, const Call &call) const;
	std::optional<Place> taken(const Thread &thread, const Call &call) const;
	// Instants at which a stream turned out to hold another number of bytes than was counted, or may have come to: by
	// object, in order.
	const std::map<uint64_t, std::vector<uint64_t>> &contradictions() const { return contradictions_; }
	void forget_before(uint64_t at_ns);

private:
	struct Counted {
		uint64_t end_ns = 0, total = 0; // of the stream, after the call
	};
	struct Threads {
		uint32_t first = 0; // that moved bytes; 0: none yet
		uint64_t several_ns = UINT64_MAX; // since when another one has, too
	};
	// As of the last call.
	struct Totals {
		uint64_t given = 0, taken = 0;
		uint64_t last = 0; // position whose modulus is undone; 0: none yet
		bool by_capture = false; // given and taken are positions of the capture
	};
	struct Counter {
		std::deque<Counted> given, taken; // by end_ns
		Totals totals;
		Threads givers, takers;
		std::optional<uint64_t> taken_less_given; // as the stream was empty, modulo 2^64
		// A difference between these that only one empty instant showed, and the totals then.
		std::optional<uint64_t> suspected;
		uint64_t given_then = 0, taken_then = 0;
	};
	struct Own {
		uint64_t object = 0, total = 0, end_ns = 0;
		bool counted = true;
	};
	// Where the bytes of the stream's next call are. Nothing: the capture doesn't tell, as it does of other calls.
	static std::optional<Own> next(Totals &totals, const Call &call, uint64_t object);
	void count_step(const Thread &thread, const Call &call, uint64_t object);
	void was_empty(uint64_t object, uint64_t at_ns);
	void lost(uint64_t at_ns);

	uint64_t until_ns_ = 0;
	std::map<uint64_t, Counter> counters_; // by the object that bytes come out of
	std::map<CallKey, Own> places_; // of calls without a whole position
	std::set<uint64_t> without_whole_; // objects of such calls that nevertheless have a position
	std::map<uint64_t, std::vector<uint64_t>> contradictions_;
};

} // namespace icepath::decode
