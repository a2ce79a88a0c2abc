// SPDX-License-Identifier: Apache-2.0
// Who is connected to whom, and which end was accepted.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

using model::EndRole;
using model::StreamKind;

class ConnectionsOf : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

// Without the pipes that tests inherit.
std::vector<model::Connection> of_sockets(const Watched &watched)
{
	std::vector<model::Connection> connections;
	std::ranges::copy_if(watched.detached.connections, std::back_inserter(connections),
						 [](const model::Connection &connection) {
							 return connection.kind == StreamKind::UnixStream || connection.kind == StreamKind::Tcp;
						 });
	return connections;
}

// A server and a client: two processes of one program, or two programs.
int listen_at(int family, sockaddr_storage &address, socklen_t &size)
{
	const int listener = socket(family, SOCK_STREAM, 0);
	if (family == AF_UNIX) {
		auto &local = reinterpret_cast<sockaddr_un &>(address);
		local.sun_family = AF_UNIX; // an abstract address
		const std::string name = fmt::format("icepath-attach-test-{}", getpid());
		std::memcpy(local.sun_path + 1, name.data(), name.size());
		size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
	} else if (family == AF_INET) {
		auto &local = reinterpret_cast<sockaddr_in &>(address);
		local.sin_family = AF_INET;
		local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		size = sizeof(sockaddr_in);
	} else {
		auto &local = reinterpret_cast<sockaddr_in6 &>(address);
		local.sin6_family = AF_INET6;
		local.sin6_addr = in6addr_loopback;
		size = sizeof(sockaddr_in6);
	}
	auto *at = reinterpret_cast<sockaddr *>(&address);
	if (bind(listener, at, size) || listen(listener, 4) || (family != AF_UNIX && getsockname(listener, at, &size)))
		_exit(1);
	return listener;
}

void server_and_client(int family, Shared &shared)
{
	sockaddr_storage address{};
	socklen_t size = 0;
	const int listener = listen_at(family, address, size);
	char byte = 0;
	if (fork() == 0) {
		close(listener);
		const int own = socket(family, SOCK_STREAM, 0);
		if (connect(own, reinterpret_cast<sockaddr *>(&address), size))
			_exit(1);
		shared.tids[0] = static_cast<uint32_t>(getpid());
		shared.is_ready = 1;
		await(shared.goes);
		if (write(own, &byte, 1) != 1)
			_exit(1);
		pause();
	}
	const int accepted = accept(listener, nullptr, nullptr);
	(void)!read(accepted, &byte, 1);
	pause();
}

class StreamFamilies : public ConnectionsOf, public testing::WithParamInterface<int> {};

TEST_P(StreamFamilies, HaveBothEndsWithTheirRoles)
{
	Program program([](Shared &shared) { server_and_client(GetParam(), shared); });
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 0.5, [&] { program.shared().goes = 1; });
	const std::vector<model::Connection> connections = of_sockets(watched);
	ASSERT_EQ(connections.size(), 1u);
	const model::Connection &connection = connections[0];
	EXPECT_EQ(connection.kind, GetParam() == AF_UNIX ? StreamKind::UnixStream : StreamKind::Tcp);
	EXPECT_FALSE(connection.leaves_machine);
	const size_t client = connection.ends[0].role == EndRole::Connected ? 0 : 1;
	EXPECT_EQ(connection.ends[client].role, EndRole::Connected);
	EXPECT_EQ(connection.ends[client].process, program.shared().tids[0]);
	EXPECT_EQ(connection.ends[1 - client].role, EndRole::Accepted);
	EXPECT_EQ(connection.ends[1 - client].process, static_cast<uint32_t>(program.pid()));
	// Objects are those of calls.
	for (const icepath_record &record : watched.calls) {
		const bool clients = record.call.kind == ICEPATH_CALL_GIVE && record.tid == program.shared().tids[0];
		if (clients && record.call.object_kind != ICEPATH_OBJECT_UNKNOWN) {
			EXPECT_EQ(record.call.object, connection.ends[client].object);
		}
	}
}

INSTANTIATE_TEST_SUITE_P(All, StreamFamilies, testing::Values(AF_UNIX, AF_INET, AF_INET6));

// A client with a port of its own and a server, in a network namespace of their own. The client may have another
// address.
void talk_in_a_namespace(Shared &shared, size_t number, const char *clients_address = nullptr)
{
	const int control = unshare(CLONE_NEWNET) == 0 ? socket(AF_INET, SOCK_DGRAM, 0) : -1;
	ifreq loopback{};
	std::strcpy(loopback.ifr_name, "lo");
	loopback.ifr_flags = IFF_UP;
	if (control < 0 || ioctl(control, SIOCSIFFLAGS, &loopback))
		_exit(1);
	const int listener = socket(AF_INET, SOCK_STREAM, 0), connected = socket(AF_INET, SOCK_STREAM, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	auto *at = reinterpret_cast<sockaddr *>(&address);
	address.sin_port = htons(5001);
	if (clients_address) {
		ifreq another{};
		std::strcpy(another.ifr_name, "lo:1");
		inet_pton(AF_INET, clients_address, &address.sin_addr);
		std::memcpy(&another.ifr_addr, at, sizeof(address));
		another.ifr_addr.sa_family = AF_INET;
		if (ioctl(control, SIOCSIFADDR, &another))
			_exit(1);
	}
	if (bind(connected, at, sizeof(address)))
		_exit(1);
	address.sin_port = htons(5000);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, at, sizeof(address)) || listen(listener, 1) || connect(connected, at, sizeof(address)) ||
		accept(listener, nullptr, nullptr) < 0)
		_exit(1);
	shared.tids[number] = static_cast<uint32_t>(getpid());
	pause();
}

TEST_F(ConnectionsOf, NamespacesWithTheSameAddressesAreTheirOwn)
{
	Program program([](Shared &shared) {
		for (size_t i = 0; i < 2; i++)
			if (fork() == 0)
				talk_in_a_namespace(shared, i);
		while (shared.tids[0] == 0 || shared.tids[1] == 0)
			usleep(1000);
		shared.is_ready = 1;
		pause();
	});
	program.await_ready();
	const std::vector<model::Connection> connections = of_sockets(watch_programs({program.pid()}, 0.5, [] {}));
	ASSERT_EQ(connections.size(), 2u);
	for (const model::Connection &one : connections) {
		EXPECT_NE(one.ends[0].process, 0u);
		EXPECT_EQ(one.ends[0].process, one.ends[1].process);
		EXPECT_NE(one.ends[0].role, one.ends[1].role);
	}
	EXPECT_NE(connections[0].ends[0].process, connections[1].ends[0].process);
}

sockaddr_in6 ipv6_address(const char *text, uint16_t port)
{
	sockaddr_in6 address{};
	address.sin6_family = AF_INET6;
	address.sin6_port = htons(port);
	inet_pton(AF_INET6, text, &address.sin6_addr);
	return address;
}

// The kernel keeps 127.0.0.6 as the IPv4 form of each of them (LOOPBACK4_IPV6).
TEST_F(ConnectionsOf, AddressesOfIpv6ThatAreNotTheLoopbacksLeaveTheMachine)
{
	Program program([](Shared &shared) {
		const int control = unshare(CLONE_NEWNET) == 0 ? socket(AF_INET6, SOCK_DGRAM, 0) : -1;
		ifreq loopback{};
		std::strcpy(loopback.ifr_name, "lo");
		loopback.ifr_flags = IFF_UP;
		if (control < 0 || ioctl(control, SIOCSIFFLAGS, &loopback))
			_exit(1);
		const sockaddr_in6 clients = ipv6_address("2001:db8::1", 5001), servers = ipv6_address("2001:db8::2", 5000);
		for (const sockaddr_in6 &one : {clients, servers}) {
			struct { // linux/ipv6.h: in6_ifreq
				in6_addr address;
				uint32_t prefix;
				int interface;
			} added{one.sin6_addr, 128, static_cast<int>(if_nametoindex("lo"))};
			if (ioctl(control, SIOCSIFADDR, &added))
				_exit(1);
		}
		const int listener = socket(AF_INET6, SOCK_STREAM, 0), connected = socket(AF_INET6, SOCK_STREAM, 0);
		const auto *from = reinterpret_cast<const sockaddr *>(&clients),
				   *to = reinterpret_cast<const sockaddr *>(&servers);
		if (bind(connected, from, sizeof(clients)) || bind(listener, to, sizeof(servers)) || listen(listener, 1) ||
			connect(connected, to, sizeof(servers)) || accept(listener, nullptr, nullptr) < 0)
			_exit(1);
		shared.is_ready = 1;
		pause();
	});
	program.await_ready();
	const std::vector<model::Connection> connections = of_sockets(watch_programs({program.pid()}, 0.5, [] {}));
	ASSERT_EQ(connections.size(), 1u) << "both ends are paired";
	EXPECT_NE(connections[0].ends[1].object, 0u);
	EXPECT_TRUE(connections[0].leaves_machine);
}

// The server's end then has an address that isn't of the loopback network as its other one.
TEST_F(ConnectionsOf, AClientWithAnotherAddressOfTheMachineIsItsServers)
{
	Program program([](Shared &shared) {
		if (fork() == 0)
			talk_in_a_namespace(shared, 0, "192.0.2.1");
		while (shared.tids[0] == 0)
			usleep(1000);
		shared.is_ready = 1;
		pause();
	});
	program.await_ready();
	const std::vector<model::Connection> connections = of_sockets(watch_programs({program.pid()}, 0.5, [] {}));
	ASSERT_EQ(connections.size(), 1u);
	EXPECT_FALSE(connections[0].leaves_machine);
	EXPECT_NE(connections[0].ends[0].role, connections[0].ends[1].role);
}

TEST_F(ConnectionsOf, PipesHaveAWriterAndAReader)
{
	Program program([](Shared &shared) {
		int ends[2];
		if (pipe(ends))
			_exit(1);
		if (fork() == 0) {
			close(ends[0]);
			shared.tids[0] = static_cast<uint32_t>(getpid());
			shared.is_ready = 1;
			pause();
		}
		close(ends[1]);
		pause();
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 0.5, [] {});
	const auto pipe_of = std::ranges::find_if(watched.detached.connections, [&](const model::Connection &connection) {
		return connection.ends[0].process == program.shared().tids[0];
	});
	ASSERT_NE(pipe_of, watched.detached.connections.end());
	EXPECT_EQ(pipe_of->kind, StreamKind::Pipe);
	EXPECT_EQ(pipe_of->ends[1].process, static_cast<uint32_t>(program.pid()));
	EXPECT_EQ(pipe_of->ends[0].object, pipe_of->ends[1].object);
}

// Of a process that isn't watched nothing is told.
TEST_F(ConnectionsOf, OthersAreNotTold)
{
	Program server([](Shared &shared) {
		sockaddr_storage address{};
		socklen_t size = 0;
		const int listener = listen_at(AF_INET, address, size);
		shared.tids[0] = ntohs(reinterpret_cast<sockaddr_in &>(address).sin_port);
		shared.is_ready = 1;
		(void)accept(listener, nullptr, nullptr);
		pause();
	});
	server.await_ready();
	const auto port = static_cast<uint16_t>(server.shared().tids[0]);
	Program client([&](Shared &shared) {
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address.sin_port = htons(port);
		const int own = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(own, reinterpret_cast<sockaddr *>(&address), sizeof(address)))
			_exit(1);
		shared.is_ready = 1;
		pause();
	});
	client.await_ready();
	const Watched watched = watch_programs({client.pid()}, 0.5, [] {});
	const std::vector<model::Connection> connections = of_sockets(watched);
	ASSERT_EQ(connections.size(), 1u);
	const auto &ends = connections[0].ends;
	EXPECT_EQ(ends[0].process, static_cast<uint32_t>(client.pid()));
	EXPECT_EQ(ends[0].role, EndRole::Connected);
	EXPECT_EQ(ends[1], model::ConnectionEnd{});
}

TEST_F(ConnectionsOf, WhatIsntFollowedIsCounted)
{
	Program program([](Shared &shared) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
			_exit(1);
		shared.is_ready = 1;
		await(shared.goes);
		char byte = 0;
		for (int i = 0; i < 10; i++)
			if (write(ends[0], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1)
				_exit(1);
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	const auto datagrams =
		std::ranges::find(watched.detached.unfollowed, "UNIX datagrams", &model::UnfollowedCalls::what);
	ASSERT_NE(datagrams, watched.detached.unfollowed.end());
	EXPECT_EQ(datagrams->calls, 20u);
}

} // namespace
} // namespace icepath::attach
