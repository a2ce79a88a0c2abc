// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts calls by which programs talk, or may, and whose messages aren't followed. Pure.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ebpf/records.h"
#include "profiler/model/attached.h"

namespace icepath::attach {

class Unfollowed {
public:
	void add(const icepath_record &record); // of any type
	std::vector<model::UnfollowedCalls> all(size_t most) const;

private:
	std::map<uint32_t, std::string> names_; // by thread, of what has run
	std::map<std::pair<std::string, std::string>, uint64_t> calls_; // by what, and by name
};

} // namespace icepath::attach
