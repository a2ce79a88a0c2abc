// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which system calls hand bytes on, and which sleep until there are some.
#include <array>
#include <cstdint>

namespace icepath::capture {

// An icepath_call_kind for each number of this machine's system calls. futex has FUTEX_WAIT: what it is asked to do decides.
using CallKinds = std::array<uint8_t, 512>;
CallKinds call_kinds();

} // namespace icepath::capture
