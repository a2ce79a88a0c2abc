// SPDX-License-Identifier: Apache-2.0
// A channel's DDS domain follows from the process that named it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

#include "plugin_kit/discovery.h"

namespace icepath::plugin_kit {
namespace {

TEST(DdsDomain, IsThatOfTheProcessThatNamedTheChannel)
{
	EXPECT_EQ(dds_domain_of(new_channel()), dds_domain_of(std::to_string(getpid()) + "-0"));
	EXPECT_NE(dds_domain_of(new_channel()), dds_domain_of(std::to_string(getpid() + 1) + "-0"));
}

TEST(DdsDomain, IsAnotherForEachOfAHundredProcessesAndHasNoEphemeralPorts)
{
	constexpr uint32_t kFirstEphemeralPort = 32768; // ip_local_port_range
	std::set<uint32_t> domains;
	for (int process = 4'194'000; process < 4'194'101; process++)
		domains.insert(dds_domain_of(std::to_string(process) + "-123456789"));
	EXPECT_EQ(domains.size(), 101u);
	EXPECT_LT(7400 + 250 * *domains.rbegin(), kFirstEphemeralPort);
}

} // namespace
} // namespace icepath::plugin_kit
