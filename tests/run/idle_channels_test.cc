// SPDX-License-Identifier: Apache-2.0
// Idle channels are open too: each has its descriptors in both workers.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>

#include "profiler/run/live_cell.h"
#include "tests/run/alone.h"

namespace icepath::run {
namespace {

constexpr uint32_t kIdle = 5;

size_t descriptors_of(uint32_t tid)
{
	const std::filesystem::directory_iterator all("/proc/" + std::to_string(tid) + "/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Number of open descriptors in each side's worker.
std::array<size_t, 2> descriptors_with(uint32_t idle_channels, model::Between between)
{
	model::Cell cell;
	cell.target = "pipe";
	cell.pattern = model::Pattern::OneWay;
	cell.levels.idle_channels = idle_channels;
	cell.graph = model::star(1, std::vector(2, static_cast<uint32_t>(sched_getcpu())), between, false);
	privilege::Identity user;
	user.uid = getuid();
	user.was_root = true; // claimed: pinning one's own child needs no root
	privilege::Helper helper(user);
	LiveCell live(cell, PIPE_PLUGIN, 0, 20, privilege::SlotsView(), helper);
	const std::array<size_t, 2> open = {descriptors_of(live.tids()[0]), descriptors_of(live.tids()[1])};
	BlockWish wish;
	wish.number = 1;
	wish.warm_up = 0;
	wish.count = 10;
	wish.duration_ns = 50'000'000;
	const model::Block block = run_alone(live, wish, privilege::SlotsView(), nullptr);
	EXPECT_EQ(block.failure, "");
	EXPECT_EQ(block.flows.size(), 1u) << "messages go through one channel only";
	EXPECT_EQ(block.flows[0].recvs.size(), 10u);
	return open;
}

TEST(IdleChannels, AreOpenInBothWorkers)
{
	for (const model::Between between : {model::Between::Processes, model::Between::OneThread}) {
		const auto without = descriptors_with(0, between), with = descriptors_with(kIdle, between);
		for (const size_t side : {0u, 1u}) {
			ASSERT_GT(with[side], without[side]) << model::name(between) << " side " << side;
			EXPECT_EQ((with[side] - without[side]) % kIdle, 0u) << "all have the same ones";
			EXPECT_GE(with[side] - without[side], kIdle * (between == model::Between::OneThread ? 2 : 1))
				<< "an end of its pipe, or both";
		}
	}
}

} // namespace
} // namespace icepath::run
