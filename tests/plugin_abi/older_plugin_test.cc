// SPDX-License-Identifier: Apache-2.0
// A plug-in that was built with the header of an older minor version is loaded, and carries messages.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "profiler/worker/plugin_abi.h"
#include "profiler/worker/plugin_loader.h"

extern "C" { // of sizes.c
extern const uint32_t older_plugin_size, older_target_size, older_daemon_size, older_recv_size;
}

namespace icepath::worker {
namespace {

TEST(PluginAbi, LoadsItsOwnMajorNumberUpToItsOwnMinorNumber)
{
	EXPECT_EQ(abi_of(8), (Abi{8, 0})); // before there were minor numbers
	EXPECT_EQ(abi_of(ICEPATH_PLUGIN_ABI), (Abi{ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR}));
	EXPECT_TRUE(can_load({9, 0}, {9, 1}));
	EXPECT_TRUE(can_load({9, 1}, {9, 1}));
	EXPECT_FALSE(can_load({9, 2}, {9, 1}));
	EXPECT_FALSE(can_load({8, 0}, {9, 1}));
	EXPECT_FALSE(can_load({10, 0}, {9, 1}));
}

TEST(PluginAbi, KnowsTheSizesOfTheFirstMinorVersion)
{
	EXPECT_EQ(kSmallestPlugin, older_plugin_size);
	EXPECT_EQ(kSmallestTarget, older_target_size);
	EXPECT_EQ(kSmallestDaemon, older_daemon_size);
	EXPECT_EQ(kSmallestRecv, older_recv_size);
}

// Otherwise a new member could lie where an older plug-in has padding, which may hold anything.
TEST(PluginAbi, EndsNoStructWithPadding)
{
	EXPECT_EQ(offsetof(icepath_plugin, version) + sizeof(icepath_plugin::version), sizeof(icepath_plugin));
	EXPECT_EQ(offsetof(icepath_target, fanin_max_bytes) + sizeof(uint64_t), sizeof(icepath_target));
	EXPECT_EQ(offsetof(icepath_daemon, ready) + sizeof(char *), sizeof(icepath_daemon));
	EXPECT_EQ(offsetof(icepath_recv, observe_ns) + sizeof(uint64_t), sizeof(icepath_recv));
	EXPECT_EQ(offsetof(icepath_send, flags) + sizeof(uint32_t), sizeof(icepath_send));
	EXPECT_EQ(offsetof(icepath_open, handler) + sizeof(icepath_handler), sizeof(icepath_open));
}

TEST(PluginAbi, TakesWhatAnOlderPluginHasNotAsZero)
{
	const Plugin plugin(OLDER_PLUGIN);
	EXPECT_EQ(abi_of(plugin.calls().abi), (Abi{9, 0}));
	EXPECT_EQ(plugin.calls().size, older_plugin_size);
	EXPECT_EQ(plugin.calls().version, nullptr);
	ASSERT_TRUE(plugin.target(0));
	EXPECT_STREQ(plugin.target(0)->name, "raw");
}

// As the other end gets it, which takes ownership of the descriptors.
icepath_address for_the_peer(icepath_address address)
{
	for (uint32_t i = 0; i < address.fds_used; i++)
		address.fds[i] = dup(address.fds[i]);
	return address;
}

TEST(PluginAbi, AnOlderPluginCarriesMessages)
{
	const Plugin plugin(OLDER_PLUGIN);
	std::array<icepath_address, 2> addresses{};
	icepath_open how{};
	how.size = sizeof(how);
	how.target = "raw";
	how.name = "older";
	how.wait = ICEPATH_WAIT_BLOCK;
	how.payload_bytes = 5;
	how.peers = how.sends = 1;
	Endpoint sender(plugin, how, addresses[0]);
	how.side = how.receives = 1;
	how.sends = 0;
	Endpoint receiver(plugin, how, addresses[1]);
	receiver.connect(for_the_peer(addresses[0]));
	sender.connect(for_the_peer(addresses[1]));

	icepath_send out{};
	out.data = "hello";
	out.bytes = 5;
	ASSERT_EQ(sender.send(out), ICEPATH_OK) << sender.error();
	std::array<char, 5> buffer{};
	icepath_recv in{};
	in.size = sizeof(in);
	in.data = buffer.data();
	in.capacity = buffer.size();
	ASSERT_EQ(receiver.recv(in), ICEPATH_OK) << receiver.error();
	EXPECT_EQ(std::string(buffer.data(), in.bytes), "hello");
}

} // namespace
} // namespace icepath::worker
