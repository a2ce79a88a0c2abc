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
	explicit Unfollowed(size_t most) : most_(most) {}
	void add(const icepath_record &record); // of any type
	// At most `most`. The calls of those that came later are "others'".
	std::vector<model::UnfollowedCalls> all() const;

	static constexpr size_t kMostNames = 65536; // of threads: so many of the latest are known, at least

private:
	void name(uint32_t tid, const std::string &name);
	std::string name_of(uint32_t tid);

	const size_t most_;
	std::map<uint32_t, std::string> names_, earlier_names_; // by thread, of what has run
	std::map<std::pair<std::string, std::string>, uint64_t> calls_; // by what, and by name
};

} // namespace icepath::attach
