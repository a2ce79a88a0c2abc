// SPDX-License-Identifier: Apache-2.0
#pragma once
// rtnetlink(7), as far as the selftest configures its own network namespaces: each returns false with errno set.
#include <cstdint>

namespace icepath::selftest {

// A pair of virtual Ethernet devices: one in this network namespace, the other in that of the descriptor.
bool make_veth(const char *here, const char *there, int there_fd, uint32_t mtu);
// Of an interface of this namespace: its IPv4 address, in a network of two.
bool raise_with_address(const char *name, uint32_t address);
// Its queue: at most `burst` bytes at once, and so many a second.
bool limit_queue(const char *name, uint32_t bytes_per_s, uint32_t burst);

} // namespace icepath::selftest
