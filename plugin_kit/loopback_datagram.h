// SPDX-License-Identifier: Apache-2.0
#pragma once
// The longest message over UDP on loopback: one datagram, or as many as the receive buffer can be made to hold, because
// a part that finds it full is lost, and with it the message.
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/socket_channel.h"

namespace icepath::plugin_kit {

// 65535 bytes of an IPv4 packet less the headers of IP and UDP.
inline constexpr uint64_t kLargestDatagram = 65507;
inline constexpr uint64_t kDefaultReceiveBuffer = 212992;

inline uint64_t receive_buffer_limit() { return kernel_limit("/proc/sys/net/core/rmem_max", kDefaultReceiveBuffer); }

// Each datagram is charged twice its size (allocations are powers of two), and the limit is doubled too (SO_RCVBUF).
inline void limit_to_datagrams(icepath_target &target)
{
	static char why[160];
	const uint64_t parts = std::max<uint64_t>(1, receive_buffer_limit() / 65536);
	target.max_part_bytes = parts == 1 ? 0 : kLargestDatagram - sizeof(PartHead);
	target.max_payload_bytes = parts == 1 ? kLargestDatagram : parts * target.max_part_bytes;
	std::snprintf(why, sizeof(why), "/proc/sys/net/core/rmem_max lets the receive buffer hold %llu datagram%s",
				  static_cast<unsigned long long>(parts), parts == 1 ? "" : "s");
	target.max_payload_why = why;
}

// Keeps the default buffer if the message fits.
inline int make_room_for_parts(icepath_endpoint &end)
{
	end.heads = true;
	if (end.in_parts())
		end.overhang.resize(end.part_bytes);
	const int room = static_cast<int>(receive_buffer_limit());
	if (end.in_parts() && setsockopt(end.socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)))
		return end.failed("setsockopt(SO_RCVBUF)");
	return ICEPATH_OK;
}

} // namespace icepath::plugin_kit
