// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two network namespaces with a pair of virtual Ethernet devices between them, of which the first one's has a queue that lets
// through so many bytes a second (sch_tbf). They need no rights beside those of user namespaces, and last as long as the sockets.
#include <cstdint>
#include <string>

namespace icepath::selftest {

// A datagram of the first socket waits until the device has sent what the second one sent just before.
inline constexpr uint32_t kDatagramBytes = 64, kFillingBytes = 100;

struct TwoNetworks {
	int sender = -1, filler = -1; // UDP sockets of the first, connected to the other one's
	int receiver = -1, sink = -1; // of the second; nobody reads the sink
	std::string why_not; // empty: there they are
};

// So that a datagram of kDatagramBytes waits for that long.
TwoNetworks make_two_networks(uint64_t wait_ns);

} // namespace icepath::selftest
