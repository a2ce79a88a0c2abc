// SPDX-License-Identifier: Apache-2.0
// Cells with several receivers or senders: the CPU of each side, and what isn't possible.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "tests/plan/wishes_of_tests.h"

namespace icepath::plan {
namespace {

TEST(Plan, FanOutGivesReceiversTheirCpusInTurn)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::FanOut};
	wishes.levels[&model::Levels::receivers] = {2, 3};
	wishes.rate_hz = 500;
	const Plan plan = make(wishes, {target("a")}, {5, 7, 8});
	ASSERT_EQ(plan.cells.size(), 2u);
	EXPECT_EQ(model::cpus_by_side(plan.cells[0]), (std::vector<uint32_t>{5, 7, 8}));
	EXPECT_EQ(model::cpus_by_side(plan.cells[1]), (std::vector<uint32_t>{5, 7, 8, 7}));
	EXPECT_EQ(plan.cells[1].rate_hz, 500);
	EXPECT_EQ(model::title(plan.cells[1]), "a 64 B fanout block to 3");
	EXPECT_TRUE(plan.notices.empty());
	wishes.patterns = {Pattern::OneWay};
	EXPECT_EQ(model::cpus_by_side(make(wishes, {target("a")}, {5, 7, 8}).cells.at(0)), (std::vector<uint32_t>{5, 7}));
}

TEST(Plan, ReceiversThatNeverSleepAndShareACpuAreTold)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::FanOut};
	wishes.levels[&model::Levels::receivers] = {2, 3};
	wishes.waits = {Wait::Poll};
	const Plan plan = make(wishes, {target("a")}, {5, 7, 8});
	EXPECT_EQ(plan.cells.size(), 2u);
	ASSERT_EQ(plan.notices.size(), 1u);
	EXPECT_TRUE(tells(plan, "3 receivers that never sleep (wait poll) share"));
}

TEST(Plan, AFloorWhoseReceiversShareACpuIsNone)
{
	Wishes wishes = wish({"all"});
	wishes.patterns = {Pattern::FanOut};
	const Plan plan = make(wishes, {floor_target(), target("a")}, {0, 1});
	EXPECT_EQ(texts_of(plan), std::vector<std::string>{"a ow 64 block"});
	EXPECT_TRUE(tells(plan, "is left out"));
}

Target queue_of_many(const std::string &name, targets::Waits waits = kEveryWait)
{
	Target one = target(name);
	one.traits.add(model::Trait::FanIn);
	one.fanin_waits = waits;
	return one;
}

TEST(Plan, FanInGivesTheReceiverTheSecondCpuAndSendersTheOthersInTurn)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::FanIn};
	wishes.levels[&model::Levels::senders] = {2, 3, 1};
	wishes.rate_hz = 500;
	const Plan plan = make(wishes, {queue_of_many("a")}, {5, 7, 8});
	ASSERT_EQ(plan.cells.size(), 3u);
	EXPECT_EQ(model::cpus_by_side(plan.cells[0]), (std::vector<uint32_t>{5, 8, 7}));
	EXPECT_EQ(model::cpus_by_side(plan.cells[1]), (std::vector<uint32_t>{5, 8, 5, 7}));
	EXPECT_EQ(model::cpus_by_side(plan.cells[2]), (std::vector<uint32_t>{5, 7}));
	EXPECT_EQ(plan.cells[1].rate_hz, 500);
	EXPECT_EQ(model::title(plan.cells[1]), "a 64 B fanin block from 3");
	EXPECT_TRUE(plan.notices.empty());
	EXPECT_EQ(model::cpus_by_side(make(wishes, {queue_of_many("a")}, {5, 7}).cells.at(1)),
			  (std::vector<uint32_t>{5, 5, 5, 7}));
}

TEST(Plan, WhatCannotFanInIsLeftOutThere)
{
	Wishes wishes = wish({"all"});
	wishes.patterns = {Pattern::OneWay, Pattern::FanIn};
	wishes.waits = {Wait::Block, Wait::Epoll};
	const Plan plan = make(wishes, {target("a"), queue_of_many("b", {model::Wait::Epoll})}, {0, 1});
	EXPECT_EQ(std::ranges::count(plan.cells, Pattern::OneWay, &model::Cell::pattern), 4);
	ASSERT_EQ(std::ranges::count(plan.cells, Pattern::FanIn, &model::Cell::pattern), 1);
	EXPECT_EQ(plan.cells.back().target, "b");
	EXPECT_EQ(plan.cells.back().wait, Wait::Epoll);
	EXPECT_TRUE(tells(plan, "a can't receive from several senders: left out of fanin"));
	EXPECT_TRUE(tells(plan, "b can't wait by block for several senders"));
	EXPECT_EQ(plan.notices.size(), 2u);
}

TEST(Plan, MessagesOfAFanInAreWholeAndSayWhoSentThem)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::FanIn};
	Target parts = queue_of_many("a");
	parts.max_part_bytes = 4096;
	wishes.sizes = {4097};
	expect_refused(wishes, {parts}, ExitCode::Usage, {"4097", "in fanin", "4096"});
	parts.fanin_max_bytes = 8192;
	EXPECT_EQ(make(wishes, {parts}, {0, 1}).cells.at(0).parts, 2u) << "each sender's parts come by a way of their own";
	wishes.sizes = {15};
	expect_refused(wishes, {parts}, ExitCode::Usage, {"--sizes", "15 bytes", "16 or more"});
	wishes.sizes = {16};
	EXPECT_EQ(make(wishes, {parts}, {0, 1}).cells.size(), 1u);
}

} // namespace
} // namespace icepath::plan
