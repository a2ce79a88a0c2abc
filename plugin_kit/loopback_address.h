// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports of 127.0.0.1 that the kernel chooses, and their form in an icepath_address.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

inline sockaddr_in loopback()
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

// False with errno set.
inline bool bind_to_loopback(int socket, icepath_address &told)
{
	sockaddr_in address = loopback();
	socklen_t size = sizeof(address);
	if (bind(socket, reinterpret_cast<const sockaddr *>(&address), size) ||
		getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size))
		return false;
	std::memcpy(told.bytes, &address, sizeof(address));
	told.bytes_used = sizeof(address);
	return true;
}

inline bool read_address(const icepath_address &told, sockaddr_in &address)
{
	if (told.bytes_used != sizeof(address))
		return false;
	std::memcpy(&address, told.bytes, sizeof(address));
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

} // namespace icepath::plugin_kit
