// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two network namespaces joined by a pair of virtual Ethernet devices; the queue of the first one's limits its bytes
// per second (sch_tbf). They need only the rights of user namespaces, and last as long as the sockets.
#include <cstdint>
#include <string>

namespace icepath::selftest {

// A datagram of the first socket waits until the device has sent the second one's earlier datagram.
inline constexpr uint32_t kDatagramBytes = 64, kFillingBytes = 100;

struct TwoNetworks {
	int sender = -1, filler = -1; // UDP sockets in the first namespace, connected to the second
	int receiver = -1, sink = -1; // in the second; nobody reads the sink
	std::string why_not; // empty: made
};

// A datagram of kDatagramBytes waits for `wait_ns`.
TwoNetworks make_two_networks(uint64_t wait_ns);

} // namespace icepath::selftest
