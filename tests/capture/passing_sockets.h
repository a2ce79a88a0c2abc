// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sockets that come and go, so that the kernel gives the address of one to another.
#include <array>
#include <cstddef>

namespace icepath::capture {

struct SocketKind {
	int family, type; // as for socket(2): AF_UNIX, or AF_INET with SOCK_STREAM or SOCK_DGRAM
};

inline constexpr size_t kSocketsOfTurn = 400;
int turns_of_sockets(); // ICEPATH_SOCKET_TURNS; else so many that there are ten thousand sockets

// Uses so many sockets as a library does, so that BPF knows them, and closes them. One in eight stays open until the
// others are closed, so that the kernel keeps the memory in which they were. False: it couldn't.
bool use_and_close(SocketKind kind);

// A connected pair, of one socket by two descriptors for UDP. TCP goes through the listener, and ends at the closing.
std::array<int, 2> connected(SocketKind kind, int listener);

int loopback_listener(); // of TCP, on a port of its own

} // namespace icepath::capture
