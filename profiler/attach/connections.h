// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is connected to whom, from lists of what the watched processes have open. Pure.
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "ebpf/ends.h"
#include "profiler/model/attached.h"

namespace icepath::attach {

class Connections {
public:
	// A list of all ends at one time. What was in an earlier list and isn't in this one is kept.
	void add(std::span<const icepath_end> ends);
	// At most `most`. The end of a process that isn't watched has no object.
	std::vector<model::Connection> all(size_t most) const;

private:
	struct Pair {
		uint8_t kind = 0;
		std::map<uint64_t, icepath_end> ends; // by object; of a pipe both, by role
	};
	std::map<uint64_t, Pair> pairs_;
	std::set<uint64_t> listening_; // places
};

} // namespace icepath::attach
