// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/window_json.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>

#include "tests/rundir/example_run.h"

namespace icepath::rundir {
namespace {

TEST(BlockJson, EachFieldOfUsageHasItsOwnNameAndPlace)
{
	model::Usage usage;
	std::set<std::string> names;
	uint64_t n = 0;
	for (const model::UsageField &field : model::kUsageFields) {
		usage.*field.value = ++n;
		names.insert(field.key);
	}
	EXPECT_EQ(names.size(), 16u) << "those of getrusage(2)";
	for (const model::UsageField &field : model::kUsageFields)
		EXPECT_GT(usage.*field.value, 0u) << field.key;
	model::Block block = example_block(0, false);
	block.sides[1].usage = usage;
	const model::Block back = block_from_json(to_json(block), example_head().cells).block;
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

TEST(BlockJson, EachCounterHasItsOwnNameAndPlace)
{
	model::Counters counters;
	uint64_t n = 100;
	for (const model::CounterField &field : model::kCounterFields) {
		counters.*field.count = {0, n, field.hardware ? n + 2 : 0, field.hardware ? n + 1 : 0};
		n += 10;
	}
	counters.user_only = 1;
	model::Block block = example_block(0, false);
	block.sides[1].counters = counters;
	EXPECT_TRUE(is_counted(block));
	const model::Counters back = block_from_json(to_json(block), example_head().cells).block.sides[1].counters;
	for (const model::CounterField &field : model::kCounterFields) {
		const model::Count &count = back.*field.count, &wanted = counters.*field.count;
		EXPECT_EQ(std::tie(count.error, count.counted, count.enabled_ns, count.running_ns),
				  std::tie(wanted.error, wanted.counted, wanted.enabled_ns, wanted.running_ns))
			<< field.key;
	}
	EXPECT_EQ(back.user_only, 1u);
}

TEST(BlockJson, ACounterIsAnErrnoWhereItWasRefusedAndNothingWhereItWasNotAskedFor)
{
	const nlohmann::ordered_json json = to_json(example_block(0, false));
	EXPECT_EQ(json["sides"][0]["counters"]["cycles"], 2);
	EXPECT_FALSE(json["sides"][0]["counters"].contains("instructions"));
	const model::Counters back = block_from_json(json, example_head().cells).block.sides[0].counters;
	EXPECT_EQ(back.cycles.error, 2);
	EXPECT_EQ(back.instructions.error, model::kNotAsked);
	EXPECT_FALSE(is_counted(block_from_json(json, example_head().cells).block));
}

TEST(BlockJson, RefusesCountersThatCannotBe)
{
	using Json = nlohmann::ordered_json;
	const Json sound = to_json(example_block(0, false));
	const auto refused = [&](const char *key, const Json &value) {
		Json json = sound;
		json["sides"][1]["counters"] = {{"user_only", false}};
		json["sides"][1]["counters"][key] = value;
		try {
			block_from_json(Json::parse(json.dump()), example_head().cells); // parsed as from a file: 5 is unsigned
			return false;
		} catch (const std::runtime_error &) {
			return true;
		}
	};
	EXPECT_FALSE(refused("cycles", {5, 9, 7})) << "the check of the check";
	EXPECT_FALSE(refused("cycles", 2));
	for (const Json &value :
		 {Json{5, 7, 9}, Json{5, 9}, Json{5, 9, -1}, Json{5, 9, 7, 1}, Json{UINT64_MAX, 9, 7}, Json{1, UINT64_MAX, 7},
		  Json{1.5, 9, 7}, Json(0), Json(-1), Json(4096), Json(UINT64_MAX), Json("2"), Json(nullptr), Json::object()})
		EXPECT_TRUE(refused("cycles", value)) << value;
	EXPECT_TRUE(refused("migrations", {1, 9, 9})) << "they are never multiplexed";
	Json json = sound;
	json["sides"][1]["counters"] = {{"cycles", {5u, 9u, 7u}}};
	EXPECT_THROW(block_from_json(json, example_head().cells), std::runtime_error) << "of which mode?";
	json["sides"][1]["counters"] = 7;
	EXPECT_THROW(block_from_json(json, example_head().cells), std::runtime_error);
}

TEST(BlockJson, NoBlockHasAnImpossibleRate)
{
	model::Block block = example_block(0, false);
	block.rate_hz = 10'507.5;
	nlohmann::ordered_json json = to_json(block);
	EXPECT_EQ(block_from_json(json, example_head().cells).block.rate_hz, 10'507.5);
	for (const auto &bad : {nlohmann::ordered_json(0.5), nlohmann::ordered_json(-1), nlohmann::ordered_json(2e9),
							nlohmann::ordered_json("fast")}) {
		json["rate_hz"] = bad;
		EXPECT_THROW(block_from_json(json, example_head().cells), std::runtime_error) << bad;
	}
	json["rate_hz"] = nullptr;
	EXPECT_FALSE(block_from_json(json, example_head().cells).block.rate_hz);
}

TEST(BlockJson, EachFieldOfSocketsHasItsOwnNameAndPlace)
{
	model::Block block = example_block(0, false);
	model::KernelCounts &counts = *block.sockets->counts;
	uint64_t n = 100;
	for (const model::KernelCountField &field : model::kKernelCountFields)
		counts.*field.count = ++n;
	counts.udp_no_memory = model::kNotCounted;
	const model::BlockSockets back = *block_from_json(to_json(block), example_head().cells).block.sockets;
	ASSERT_EQ(back.groups.size(), 1u);
	const model::SocketGroup &group = back.groups[0], &wanted = block.sockets->groups[0];
	EXPECT_TRUE(group.is_alike(wanted)) << "side, domain, type, protocol, what was set";
	EXPECT_EQ(group.congestion_name(), "bbr");
	EXPECT_EQ(group.no_delay, 1u);
	EXPECT_EQ(std::tie(group.count, group.send_buffer, group.receive_buffer, group.dropped, group.retransmitted),
			  std::tie(wanted.count, wanted.send_buffer, wanted.receive_buffer, wanted.dropped, wanted.retransmitted));
	EXPECT_EQ(back.loopback_mtu, 65'536u);
	for (const model::KernelCountField &field : model::kKernelCountFields)
		EXPECT_EQ((*back.counts).*field.count, counts.*field.count) << field.key;
}

TEST(BlockJson, ABlockWithoutSocketsHasNone)
{
	nlohmann::ordered_json json = to_json(example_block(0, false));
	json.erase("sockets"); // as of a version that didn't look at them
	const model::Block block = block_from_json(json, example_head().cells).block;
	EXPECT_FALSE(block.sockets);
	EXPECT_FALSE(to_json(block).contains("sockets"));
}

TEST(BlockJson, TakesNoSocketsThatCannotBe)
{
	const auto takes = [](const char *key, const nlohmann::ordered_json &value) {
		nlohmann::ordered_json json = to_json(example_block(0, false));
		json["sockets"]["groups"][0][key] = value;
		try {
			block_from_json(json, example_head().cells);
		} catch (const std::runtime_error &) {
			return false;
		}
		return true;
	};
	EXPECT_TRUE(takes("side", 0u));
	EXPECT_FALSE(takes("side", 2u)) << "the cell has two";
	EXPECT_FALSE(takes("count", 0u));
	EXPECT_FALSE(takes("send_buffer_bytes", {2u, 1u}));
	EXPECT_FALSE(takes("send_buffer_bytes", {1u}));
	EXPECT_FALSE(takes("congestion", "\x1b[31m"));
	EXPECT_FALSE(takes("congestion", std::string(16, 'a')));
	EXPECT_FALSE(takes("dropped", UINT64_MAX));
	EXPECT_FALSE(takes("buffers_set", 4u));
}

} // namespace
} // namespace icepath::rundir
