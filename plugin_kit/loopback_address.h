// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports of 127.0.0.1 that the kernel chooses, and their form in an icepath_address.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "icepath/plugin.h"
#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

inline sockaddr_in loopback()
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

// False with errno set.
inline bool bind_to_loopback(int socket, icepath_address &given)
{
	sockaddr_in address = loopback();
	socklen_t size = sizeof(address);
	if (bind(socket, reinterpret_cast<const sockaddr *>(&address), size) ||
		getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size))
		return false;
	std::memcpy(given.bytes, &address, sizeof(address));
	given.bytes_used = sizeof(address);
	return true;
}

inline bool read_address(const icepath_address &given, sockaddr_in &address)
{
	if (given.bytes_used != sizeof(address))
		return false;
	std::memcpy(&address, given.bytes, sizeof(address));
	return address.sin_family == AF_INET && address.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

inline bool is_same(const sockaddr_in &one, const sockaddr_in &other)
{
	return one.sin_port == other.sin_port && one.sin_addr.s_addr == other.sin_addr.s_addr;
}

// NULL, or why IPv4 loopback can't be used: in a fresh network namespace, the device is down and has no address.
inline const char *loopback_missing()
{
	const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return "the kernel has no IPv4";
	icepath_address unused{};
	const bool works = bind_to_loopback(probe, unused);
	close(probe);
	return works ? nullptr : "127.0.0.1 has no device: ip link set lo up";
}

// How many bytes a UDP socket can buffer.
//
// The buffer of a socket that asks for more than /proc/sys/net/core/rmem_max: not every kernel shows that file in a
// network namespace. The kernel doubles the limit, and charges its own overhead to it.
inline uint64_t receive_buffer()
{
	constexpr uint64_t kDefault = 212'992;
	const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int room = INT_MAX / 2;
	socklen_t bytes = sizeof(room);
	const bool known = probe >= 0 && setsockopt(probe, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0 &&
					   getsockopt(probe, SOL_SOCKET, SO_RCVBUF, &room, &bytes) == 0;
	plugin_kit::close_all({probe});
	return known ? static_cast<uint64_t>(room) / 2 : kDefault;
}

} // namespace icepath::plugin_kit
