// SPDX-License-Identifier: Apache-2.0
// Real sockets of this process, and what the kernel counts of them.
#include "profiler/worker/sockets_watch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "profiler/channel.h"
#include "profiler/worker/kernel_counts.h"

namespace icepath::worker {
namespace {

using model::KernelCounts;
using model::SocketGroup;

Fd made(int domain, int type) { return Fd(socket(domain, type | SOCK_CLOEXEC, 0)); }

// A socket bound to a port of 127.0.0.1 that the kernel chose, and its address.
sockaddr_in bound(const Fd &socket)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof(address);
	EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr *>(&address), size), 0);
	EXPECT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address), &size), 0);
	return address;
}

std::vector<SocketGroup> groups_of(const SocketsReply &reply, int domain, int type)
{
	std::vector<SocketGroup> groups;
	for (size_t i = 0; i < reply.groups_used; i++)
		if (reply.groups[i].domain == static_cast<uint32_t>(domain) &&
			reply.groups[i].type == static_cast<uint32_t>(type))
			groups.push_back(reply.groups[i]);
	return groups;
}

TEST(SocketsWatch, CountsWhatAFullReceiveBufferDropped)
{
	SocketsWatch watch({});
	const Fd receiver = made(AF_INET, SOCK_DGRAM), sender = made(AF_INET, SOCK_DGRAM);
	const int asked = 20'000;
	ASSERT_EQ(setsockopt(receiver.get(), SOL_SOCKET, SO_RCVBUF, &asked, sizeof(asked)), 0);
	const sockaddr_in address = bound(receiver);
	const SocketsReply before = watch.look();
	constexpr uint64_t kSent = 200;
	const std::array<char, 1000> message{};
	for (uint64_t i = 0; i < kSent; i++)
		ASSERT_EQ(sendto(sender.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr *>(&address),
						 sizeof(address)),
				  static_cast<ssize_t>(message.size()));
	const SocketsReply after = watch.look();
	uint64_t arrived = 0;
	std::array<char, 1000> in{};
	while (recv(receiver.get(), in.data(), in.size(), MSG_DONTWAIT) > 0)
		arrived++;
	ASSERT_GT(arrived, 0u);
	ASSERT_LT(arrived, kSent);

	const std::vector<SocketGroup> groups = groups_of(after, AF_INET, SOCK_DGRAM);
	const auto set = std::ranges::find(groups, model::kReceiveBufferSet, &SocketGroup::buffers_set);
	ASSERT_NE(set, groups.end());
	EXPECT_EQ(set->dropped, kSent - arrived);
	EXPECT_EQ(set->receive_buffer, (model::BufferSizes{40'000, 40'000})) << "twice what was asked for";
	EXPECT_EQ(model::socket_name(*set), "UDP");
	const KernelCounts counts = model::counts_between(before.counts, after.counts);
	EXPECT_GE(counts.udp_receive_buffer_full, kSent - arrived) << "others may use this namespace, too";
	EXPECT_GT(after.loopback_mtu, 0u);
	for (const SocketGroup &group : groups_of(watch.look(), AF_INET, SOCK_DGRAM))
		EXPECT_EQ(group.dropped, 0u) << "since the look before";
}

TEST(SocketsWatch, TellsCongestionControlAndDelayOfTcp)
{
	const Fd listener = made(AF_INET, SOCK_STREAM), near = made(AF_INET, SOCK_STREAM);
	const sockaddr_in address = bound(listener);
	ASSERT_EQ(listen(listener.get(), 1), 0);
	ASSERT_EQ(connect(near.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	const Fd far(accept(listener.get(), nullptr, nullptr));
	const int on = 1;
	ASSERT_EQ(setsockopt(near.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	ASSERT_EQ(setsockopt(near.get(), IPPROTO_TCP, TCP_CONGESTION, "reno", 4), 0) << "every kernel has it";
	const std::vector<SocketGroup> groups = groups_of(SocketsWatch({}).look(), AF_INET, SOCK_STREAM);
	ASSERT_EQ(groups.size(), 2u) << "without the socket that listens";
	const SocketGroup &delays = groups[groups[0].no_delay ? 1 : 0], &sends_at_once = groups[groups[0].no_delay ? 0 : 1];
	EXPECT_EQ(sends_at_once.congestion_name(), "reno");
	EXPECT_EQ(sends_at_once.no_delay, 1u);
	EXPECT_EQ(delays.no_delay, 0u);
	EXPECT_NE(delays.congestion_name(), "");
	EXPECT_EQ(delays.buffers_set, 0u) << "the kernel chooses them";
}

TEST(SocketsWatch, LeavesOutWhatIcepathControlsAndSocketsOfOneKindAreOneGroup)
{
	const auto [control, far] = channel::open_pair();
	const Fd one = made(AF_UNIX, SOCK_DGRAM), other = made(AF_UNIX, SOCK_DGRAM), again(dup(one.get()));
	const SocketsReply reply = SocketsWatch({control.get(), far.get()}).look();
	EXPECT_TRUE(groups_of(reply, AF_UNIX, SOCK_SEQPACKET).empty());
	const std::vector<SocketGroup> groups = groups_of(reply, AF_UNIX, SOCK_DGRAM);
	ASSERT_EQ(groups.size(), 1u);
	EXPECT_EQ(groups[0].count, 2u) << "two sockets, with three descriptors";
	EXPECT_EQ(groups_of(SocketsWatch({}).look(), AF_UNIX, SOCK_SEQPACKET).at(0).count, 2u);
}

TEST(SocketsWatch, ReadsNoCountsForAProcessWithoutSocketsOfTheInternet)
{
	const Fd one = made(AF_UNIX, SOCK_STREAM);
	EXPECT_EQ(SocketsWatch({}).look().has_counts, 0u);
}

TEST(KernelCountsTest, ThisKernelHasThem)
{
	const KernelCounts counts = kernel_counts();
	for (const model::KernelCountField &field : model::kKernelCountFields)
		EXPECT_NE(counts.*field.count, model::kNotCounted) << field.key;
	const KernelCounts none = kernel_counts("/nonexistent");
	for (const model::KernelCountField &field : model::kKernelCountFields)
		EXPECT_EQ(none.*field.count, model::kNotCounted) << field.key;
}

TEST(KernelCountsTest, ReadsTheFilesOfTheKernel)
{
	const char *const snmp = "Udp: InDatagrams NoPorts InErrors\nUdp: 10 20 30\nUdpLite: InDatagrams NoPorts\n"
							 "UdpLite: 1 2\n";
	EXPECT_EQ(count_in_pairs(snmp, "Udp", "NoPorts"), 20u);
	EXPECT_EQ(count_in_pairs(snmp, "UdpLite", "NoPorts"), 2u);
	EXPECT_EQ(count_in_pairs(snmp, "Udp", "MemErrors"), model::kNotCounted) << "as an older kernel";
	EXPECT_EQ(count_in_pairs("Tcp: A B\nTcp: -1 7\n", "Tcp", "A"), model::kNotCounted);
	EXPECT_EQ(count_in_lines("Udp6InErrors\t3\nUdp6RcvbufErrors   \t 4\n", "Udp6RcvbufErrors"), 4u);
	const char *const dev =
		"Inter-|   Receive                            |  Transmit\n"
		" face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop …\n"
		"  lo: 100 2 0 5 0 0 0 0 100 2 0 6 0 0 0 0\n eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
	EXPECT_EQ(dropped_by_device(dev, "lo"), 11u);
	EXPECT_EQ(dropped_by_device(dev, "wlan0"), model::kNotCounted);
	EXPECT_EQ(dropped_at_backlogs("00000001 0000000a 0\n00000002 00000010 0\n"), 26u);
}

} // namespace
} // namespace icepath::worker
