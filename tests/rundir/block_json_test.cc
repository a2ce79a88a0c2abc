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
	const Block back = block_from_json(to_json(block), example_head().cells).block;
	EXPECT_EQ(std::memcmp(&back.sides[1].usage, &usage, sizeof usage), 0);
}

TEST(BlockJson, TakesNoOtherUsageThanItWrites)
{
	nlohmann::ordered_json json = to_json(example_block(0, false));
	json["sides"][0]["usage"]["max_rss_kib"] = -1;
	EXPECT_THROW(block_from_json(json, example_head().cells), std::runtime_error);
	json["sides"][0]["usage"].erase("max_rss_kib");
	EXPECT_THROW(block_from_json(json, example_head().cells), std::runtime_error);
}

} // namespace
} // namespace icepath::rundir
