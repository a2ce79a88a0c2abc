// SPDX-License-Identifier: Apache-2.0
#pragma once
// Containers as an accident or a stranger makes them, for tests that read them.
#include <random>
#include <string>

namespace icepath::rundir {

// Makes each whole chunk's checksum fit.
void mend_checksums(std::string &bytes);

// A whole container with no chunk packed: a change of a byte is one of what it says.
std::string unpacked(const std::string &bytes);

// `bytes` with one to four random changes, and checksums that fit: most changes would stop at the checksum otherwise, and nothing behind it
// would be tried.
std::string damaged(const std::string &bytes, std::mt19937 &random);

} // namespace icepath::rundir
