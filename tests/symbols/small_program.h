// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's file made by hand.
#include <cstdint>
#include <string>

namespace icepath::symbols {

// One segment, whose first byte is at kProgramAddress in memory and at kProgramOffset in the file, with the functions
// first() of 0x20 bytes at its begin, `int second(int)` of 0x10 bytes 0x40 after it, and one without a name, which only
// the unwinding table has, 0x80 after it.
inline constexpr uint64_t kProgramAddress = 0x401000, kProgramOffset = 0x1000;
std::string small_program();

} // namespace icepath::symbols
