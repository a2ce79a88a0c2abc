// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which system calls hand bytes on, and which sleep until there are some.
#include <array>
#include <cstdint>

namespace icepath::capture {

// An icepath_call_kind for each system call number of this machine. futex has FUTEX_WAIT: its operation decides.
using CallKinds = std::array<uint8_t, 512>;
CallKinds call_kinds();

// The numbers of the calls that make an eventfd, the second one twice where there is only that.
using EventfdCalls = std::array<uint32_t, 2>;
EventfdCalls eventfd_calls();

} // namespace icepath::capture
