// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of rtnetlink(7) that configures the selftest's network namespaces. Each returns false with errno set.
#include <cstdint>

namespace icepath::selftest {

// A pair of virtual Ethernet devices: one in this network namespace, the other in that of the descriptor.
bool make_veth(const char *here, const char *there, int there_fd, uint32_t mtu);
// Sets the IPv4 address of an interface of this namespace, in a network of two.
bool raise_with_address(const char *name, uint32_t address);
// Limits its queue to `bytes_per_s`, with at most `burst` bytes at once.
bool limit_queue(const char *name, uint32_t bytes_per_s, uint32_t burst);

} // namespace icepath::selftest
