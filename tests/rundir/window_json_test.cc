// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/window_json.h"

#include <gtest/gtest.h>

#include "profiler/rundir/limits.h"
#include "tests/rundir/example_run.h"

namespace icepath::rundir {
namespace {

TEST(WindowJson, RefusesTimesOfSkippedProgramsThatCannotBe)
{
	const nlohmann::ordered_json sound = to_json(*example_block(0, false).window, 1);
	EXPECT_EQ(window_from_json(sound).window.skipped.size(), 2u);
	const auto refused = [&](const nlohmann::ordered_json &skipped) {
		nlohmann::ordered_json json = sound;
		json["skipped"] = skipped;
		EXPECT_THROW(window_from_json(json), std::runtime_error) << skipped;
	};
	refused(7);
	refused({{{"begin_ns", 2u}, {"end_ns", 1u}, {"count", 9u}}});
	refused({{{"begin_ns", 2u}, {"end_ns", 3u}}});
	nlohmann::ordered_json many = nlohmann::ordered_json::array();
	for (size_t i = 0; i <= kMaxSkipped; i++)
		many.push_back({{"begin_ns", 2u}, {"end_ns", 3u}, {"count", 1u}});
	refused(many);
}

TEST(WindowJson, RefusesASlotThatCannotBe)
{
	// Parsed as from a file: 5 is unsigned.
	const auto sound = nlohmann::ordered_json::parse(to_json(*example_block(0, true).window, 1).dump());
	EXPECT_NO_THROW(window_from_json(sound));
	for (const auto &[key, value] : {std::pair{"records", 3u}, {"first", 8u}, {"first", 6u}, {"capacity", 1u}}) {
		nlohmann::ordered_json json = sound;
		json["slots"][0][key] = value;
		EXPECT_THROW(window_from_json(json), std::runtime_error) << key;
	}
	nlohmann::ordered_json json = sound;
	json["blocks"] = kMaxBlocks + 1;
	EXPECT_THROW(window_from_json(json), std::runtime_error);
}

TEST(WindowJson, KeepsWhatRanOfOtherCells)
{
	EXPECT_FALSE(to_json(*example_block(0, false).window, 1).contains("others"));
	const auto sound = nlohmann::ordered_json::parse(to_json(*example_block(0, true).window, 1).dump());
	const std::vector<model::WindowOther> others = window_from_json(sound).window.others;
	ASSERT_EQ(others.size(), 2u);
	EXPECT_EQ(others[0].tid, 77u);
	EXPECT_EQ(others[0].whose, "nng/ipc's nng:task");
	EXPECT_EQ(others[1].cells, (std::vector<uint32_t>{1, 2}));
	nlohmann::ordered_json json = sound;
	json["others"][0]["cells"][0] = kMaxCells;
	EXPECT_THROW(window_from_json(json), std::runtime_error);
	json = sound;
	for (size_t i = 0; i < kMaxOthers; i++)
		json["others"].push_back(sound["others"][0]);
	EXPECT_THROW(window_from_json(json), std::runtime_error);
}

TEST(WindowJson, KeepsSampledStacks)
{
	const auto sound = nlohmann::ordered_json::parse(to_json(*example_block(0, true).window, 1).dump());
	const model::Window window = window_from_json(sound).window;
	EXPECT_TRUE(window.is_sampled());
	EXPECT_EQ(window.functions, (std::vector<std::string>{"entry_SYSCALL_64", "tcp_sendmsg", "libc.so.6!send"}));
	EXPECT_EQ(window.stacks, (std::vector<std::vector<uint32_t>>{{0, 1}, {2}}));
	EXPECT_FALSE(to_json(*example_block(0, false).window, 1).contains("samples"));
}

TEST(WindowJson, RefusesStacksThatCannotBe)
{
	const auto sound = nlohmann::ordered_json::parse(to_json(*example_block(0, true).window, 1).dump());
	const auto refused = [&](const char *key, const std::string &value) {
		nlohmann::ordered_json json = sound;
		json["samples"][key] = nlohmann::ordered_json::parse(value);
		EXPECT_THROW(window_from_json(json), std::runtime_error) << key << value;
	};
	refused("period_ns", "0");
	refused("functions", "[7]");
	refused("stacks", "[[3]]");
	refused("stacks", "[[-1]]");
	refused("stacks", "[[]]");
	refused("stacks", "[0]");
	refused("stacks", nlohmann::ordered_json::array({std::vector<int>(kMaxStackDepth + 1, 0)}).dump());
	nlohmann::ordered_json unprobed = sound;
	unprobed["probed"] = false;
	EXPECT_THROW(window_from_json(unprobed), std::runtime_error);
}

} // namespace
} // namespace icepath::rundir
