// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/passing_sockets.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace icepath::capture {

int turns_of_sockets()
{
	const char *wish = std::getenv("ICEPATH_SOCKET_TURNS");
	return wish ? std::max(std::atoi(wish), 1) : static_cast<int>(10'000 / kSocketsOfTurn);
}

bool use_and_close(SocketKind kind)
{
	std::array<int, kSocketsOfTurn> all{};
	char byte = 0;
	for (int &one : all) {
		one = socket(kind.family, kind.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (one < 0 || read(one, &byte, 1) >= 0)
			return false;
	}
	for (size_t i = 0; i < all.size(); i++)
		if (i % 8 != 0)
			close(all.at(i));
	for (size_t i = 0; i < all.size(); i += 8)
		close(all.at(i));
	return true;
}

std::array<int, 2> connected(SocketKind kind, int listener)
{
	if (kind.family == AF_UNIX) {
		std::array<int, 2> pair{};
		EXPECT_EQ(socketpair(AF_UNIX, kind.type | SOCK_CLOEXEC, 0, pair.data()), 0);
		return pair;
	}
	sockaddr_in at{};
	socklen_t size = sizeof(at);
	const int one = socket(kind.family, kind.type | SOCK_CLOEXEC, 0);
	if (kind.type == SOCK_DGRAM) {
		at.sin_family = AF_INET;
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(bind(one, reinterpret_cast<sockaddr *>(&at), size), 0);
		EXPECT_EQ(getsockname(one, reinterpret_cast<sockaddr *>(&at), &size), 0);
		EXPECT_EQ(connect(one, reinterpret_cast<sockaddr *>(&at), size), 0);
		return {one, dup(one)};
	}
	EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &size), 0);
	EXPECT_EQ(connect(one, reinterpret_cast<sockaddr *>(&at), size), 0);
	const int other = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
	const linger at_once{1, 0};
	for (const int end : {one, other})
		EXPECT_EQ(setsockopt(end, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
	return {one, other};
}

int loopback_listener()
{
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sockaddr_in at{};
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&at), sizeof(at)), 0);
	EXPECT_EQ(listen(listener, 16), 0);
	return listener;
}

} // namespace icepath::capture
