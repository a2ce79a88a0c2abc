// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many bytes a UDP socket can buffer.
#include <sys/socket.h>

#include <climits>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// What a socket gets that asks for more than /proc/sys/net/core/rmem_max, a file that not every kernel shows in a
// network namespace. The kernel doubles the limit, and charges its own overhead to it.
inline uint64_t receive_buffer()
{
	constexpr uint64_t kDefault = 212'992;
	const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int room = INT_MAX / 2;
	socklen_t bytes = sizeof(room);
	const bool told = probe >= 0 && setsockopt(probe, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0 &&
					  getsockopt(probe, SOL_SOCKET, SO_RCVBUF, &room, &bytes) == 0;
	plugin_kit::close_all({probe});
	return told ? static_cast<uint64_t>(room) / 2 : kDefault;
}

} // namespace icepath::plugin_kit
