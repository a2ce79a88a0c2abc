// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is connected to whom, from lists of what the watched processes have open. Pure.
//
// The name of a TCP connection is that of its addresses and ports, which come again: in another connection later, and
// in another network namespace at the same time. So its ends are one connection only if one list has both, they are
// opposite ends, and no third one has that name.
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "ebpf/ends.h"
#include "profiler/model/attached.h"

namespace icepath::attach {

class Connections {
public:
	// Tells at most so many, and keeps no more of those that are over.
	explicit Connections(size_t most) : most_(most) {}
	// A list of all ends at one time. What was in the list before and isn't in this one is over.
	void add(std::span<const icepath_end> ends);
	// The end of a process that isn't watched has no object.
	std::vector<model::Connection> open() const;
	// These, and the latest that are over.
	std::vector<model::Connection> all() const;

private:
	struct Pair {
		uint8_t kind = 0;
		std::map<uint64_t, icepath_end> ends; // by object; of a pipe both, by role
	};
	static bool goes_on(const Pair &earlier, const Pair &listed);
	void end(const Pair &pair);

	const size_t most_;
	std::map<uint64_t, Pair> pairs_; // of the last list
	std::set<uint64_t> listening_; // places, likewise
	std::deque<model::Connection> over_; // in the order of their ends
};

} // namespace icepath::attach
