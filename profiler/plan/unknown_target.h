// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to say of a target's name that nothing has: which plug-in could have had it, and which names are like it.
#include <string>
#include <string_view>
#include <vector>

#include "profiler/targets/target.h"

namespace icepath::plan {

// How many characters are to be inserted, removed or replaced to make one of the other.
size_t changes_between(std::string_view one, std::string_view other);

// "unknown target "mine": icepath-mine.so cannot be loaded: …". `not_loaded`: why plug-ins have no targets.
std::string unknown_target(const std::string &wanted, const std::vector<targets::Target> &targets,
						   const std::vector<std::string> &not_loaded);

} // namespace icepath::plan
