// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Where this build and its source are. One file is compiled with it, so that all others are the same in every checkout,
// and the compiler's cache has them.
namespace icepath::test {

std::string in_build(const std::string &path); // "bin/icepath"
std::string in_source(const std::string &path); // "docs/run-schema.json"

} // namespace icepath::test
