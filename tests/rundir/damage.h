// SPDX-License-Identifier: Apache-2.0
#pragma once
// Containers with accidental or deliberate damage, for tests that read them.
#include <random>
#include <string>

namespace icepath::rundir {

// Corrects each whole chunk's checksum.
void mend_checksums(std::string &bytes);

// A whole container with unpacked chunks, where a changed byte changes the content.
std::string unpacked(const std::string &bytes);

// `bytes` with one to four random changes and correct checksums: otherwise the checksum would catch most changes before
// anything else is tested.
std::string damaged(const std::string &bytes, std::mt19937 &random);

} // namespace icepath::rundir
