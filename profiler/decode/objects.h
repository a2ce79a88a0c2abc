// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of the objects that watched programs' calls move bytes through: one record for each end of a
// connection, and one for each pipe. An object is named by its lifetime: a closed socket's name never comes back.
//
// Nobody tells when an object is closed. It is over once it isn't listed as open and no record that is kept has been
// about it for kLongestOpenNs. Then all that is known of it goes at once. If it was only silent, it is joined in
// mid-stream once more: what is known of it is learned anew.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/model/attached.h"

namespace icepath::decode {

// Older messages and requests that are still open are given up, which bounds what has to be kept.
inline constexpr uint64_t kLongestOpenNs = 10'000'000'000;

using CallKey = std::pair<uint32_t, uint64_t>; // tid, begin_ns: a thread makes one call at a time

// Of the stream that comes out of an object, as Positions counts it.
struct StreamCount {
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
	std::vector<Counted> given, taken; // by end_ns
	Totals totals;
	Threads givers, takers;
	std::optional<uint64_t> taken_less_given; // as the stream was empty, modulo 2^64
	// A difference between these that only one empty instant showed, and the totals then.
	std::optional<uint64_t> suspected;
	uint64_t given_then = 0, taken_then = 0;
	// When it last turned out to hold another number of bytes than was counted, or may have come to.
	std::optional<uint64_t> contradicted_ns;
};

// Requests and answers at an end that serves, as Pairing pairs them.
struct ServingEnd {
	struct Waiting {
		CallKey request;
		uint64_t send_ns = 0, taken_ns = 0;
		uint32_t server = 0; // tid; 0: another message may be meant
		bool has_giver = true;
	};
	std::vector<Waiting> waiting; // in the order of their taking
	std::vector<uint64_t> owed_ns; // when the requests were taken whose answers can't be told apart
	uint64_t spare_ns = 0; // last time that something was given which no known request had asked for
};

struct Object {
	uint64_t other_end = 0; // what is given here comes out there; 0: not known
	bool wraps = false; // the capture tells its positions modulo 2^32, as TCP's
	bool without_whole = false; // some calls have a position and nevertheless no whole one
	std::optional<bool> serves; // the other end, as its server
	StreamCount count;
	ServingEnd requests;

	uint64_t used_ns = 0, listed = 0; // of Objects
};

class Objects {
public:
	// Lists what is open, in place of what was listed before.
	void list(const std::vector<model::Connection> &open);
	// What is used from now on is used at this instant.
	void advance_to(uint64_t now_ns) { now_ns_ = now_ns; }
	// Its record, new if there is none. Stays where it is until it is over.
	Object &use(uint64_t name);
	// nullptr: nothing is known of it.
	const Object *find(uint64_t name) const;
	// Forgets what is over by now, and tells what that was.
	std::vector<uint64_t> forget();

	auto begin() { return objects_.begin(); }
	auto end() { return objects_.end(); }
	size_t size() const { return objects_.size(); }

private:
	std::unordered_map<uint64_t, Object> objects_;
	uint64_t now_ns_ = 0;
	uint64_t lists_ = 0; // how many there were
};

} // namespace icepath::decode
