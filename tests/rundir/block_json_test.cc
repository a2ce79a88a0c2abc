// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/block_json.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "tests/rundir/example_run.h"

namespace icepath::rundir {
namespace {

TEST(BlockJson, EachFieldOfUsageHasItsOwnNameAndPlace)
{
	Usage usage;
	std::set<std::string> names;
	uint64_t n = 0;
	for (const UsageField &field : kUsageFields) {
		usage.*field.value = ++n;
		names.insert(field.key);
	}
	EXPECT_EQ(names.size(), 16u) << "those of getrusage(2)";
	for (const UsageField &field : kUsageFields)
		EXPECT_GT(usage.*field.value, 0u) << field.key;
	Block block = example_block(0, false);
	block.sides[1].usage = usage;
	const Block back = block_from_json(to_json(block), 2).block;
	EXPECT_EQ(std::memcmp(&back.sides[1].usage, &usage, sizeof usage), 0);
}

// What icepath wrote before it kept all 16.
TEST(BlockJson, AnOlderRunHasSixFieldsOfUsage)
{
	nlohmann::ordered_json json = to_json(example_block(0, false));
	json["sides"][0]["usage"] = {
		{"user_ns", 1u},      {"system_ns", 2u},   {"voluntary_switches", 3u}, {"involuntary_switches", 4u},
		{"minor_faults", 5u}, {"major_faults", 6u}};
	const Usage usage = block_from_json(json, 2).block.sides[0].usage;
	EXPECT_EQ(usage.user_ns, 1u);
	EXPECT_EQ(usage.major_faults, 6u);
	EXPECT_EQ(usage.max_rss_kib, 0u);
	EXPECT_EQ(usage.signals, 0u);
	json["sides"][0]["usage"]["max_rss_kib"] = -1;
	EXPECT_THROW(block_from_json(json, 2), std::runtime_error);
	json["sides"][0]["usage"].erase("max_rss_kib");
	json["sides"][0]["usage"].erase("minor_faults");
	EXPECT_THROW(block_from_json(json, 2), std::runtime_error);
}

TEST(BlockJson, AnOlderBlockHasNoRateAndNoneHasAnImpossibleOne)
{
	Block block = example_block(0, false);
	block.rate_hz = 10'507.5;
	nlohmann::ordered_json json = to_json(block);
	EXPECT_EQ(block_from_json(json, 2).block.rate_hz, 10'507.5);
	for (const auto &bad : {nlohmann::ordered_json(0.5), nlohmann::ordered_json(-1), nlohmann::ordered_json(2e9),
							nlohmann::ordered_json("fast")}) {
		json["rate_hz"] = bad;
		EXPECT_THROW(block_from_json(json, 2), std::runtime_error) << bad;
	}
	json.erase("rate_hz");
	EXPECT_FALSE(block_from_json(json, 2).block.rate_hz);
}

} // namespace
} // namespace icepath::rundir
