// SPDX-License-Identifier: Apache-2.0
#pragma once
// Containers as an accident or a stranger makes them, for tests that read them.
#include <random>
#include <string>

namespace icepath::rundir {

// `bytes` with one to four random changes, and each whole chunk's checksum made to fit again: most changes would stop at
// the checksum otherwise, and nothing behind it would be tried.
std::string damaged(const std::string &bytes, std::mt19937 &random);

} // namespace icepath::rundir
