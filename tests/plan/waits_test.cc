// SPDX-License-Identifier: Apache-2.0
// From wishes to cells: a cell never claims what its target doesn't do, and each difference has one notice.
#include "profiler/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"

namespace icepath::plan {
namespace {

using model::Pattern;
using model::Wait;

Target target(const std::string &name, targets::Waits waits, model::Traits traits = {})
{
	Target made;
	made.plugin = "/lib/icepath-" + name + ".so";
	made.name = name;
	made.waits = waits;
	made.traits = traits;
	made.max_payload_bytes = 65536;
	made.max_payload_why = "a test's";
	return made;
}

const std::vector<Target> kTargets = {
	target("pipe", {model::Wait::Block, model::Wait::Poll, model::Wait::Epoll}),
	target("mqueue", {model::Wait::Block, model::Wait::Poll}),
	target("shm-ring", {model::Wait::Block, model::Wait::Spin}),
	target("null", {model::Wait::Spin}, {model::Trait::NotIpc}),
	[] {
		Target library = target("iceoryx", {model::Wait::Spin});
		library.library_version = "iceoryx 2";
		return library;
	}(),
};

Plan plan_of(std::vector<std::string> names, std::vector<Wait> waits,
			 std::vector<Pattern> patterns = {Pattern::PingPong, Pattern::OneWay})
{
	Wishes wishes;
	wishes.targets = std::move(names);
	wishes.waits = std::move(waits);
	wishes.patterns = std::move(patterns);
	wishes.sizes = {64};
	return make(wishes, kTargets, {0, 1});
}

std::vector<Wait> waits_of(const Plan &plan, const std::string &name)
{
	std::vector<Wait> waits;
	for (const model::Cell &cell : plan.cells)
		if (cell.target == name)
			waits.push_back(cell.wait);
	return waits;
}

int64_t told(const Plan &plan, const std::string &what)
{
	return std::count_if(plan.notices.begin(), plan.notices.end(),
						 [&](const std::string &notice) { return notice.find(what) != std::string::npos; });
}

// On one CPU, the first that spins would never let the other run.
TEST(Waits, SidesThatNeverSleepHaveNoFifoOnOneCpu)
{
	Wishes wishes;
	wishes.targets = {"pipe", "shm-ring"};
	wishes.waits = {Wait::Block, Wait::Poll, Wait::Spin};
	wishes.patterns = {Pattern::PingPong};
	wishes.sizes = {64};
	wishes.levels[&model::Levels::fifo_priority] = {0, 5};
	const auto titles_of = [&](const Plan &plan) {
		std::vector<std::string> titles;
		for (const model::Cell &cell : plan.cells)
			titles.push_back(title(cell));
		return titles;
	};
	const Plan two = make(wishes, kTargets, {0, 1}), one = make(wishes, kTargets, {1, 1});
	EXPECT_EQ(titles_of(two).size(), 8u);
	EXPECT_EQ(told(two, "SCHED_FIFO"), 0);
	EXPECT_EQ(titles_of(one),
			  (std::vector<std::string>{"pipe 64 B pingpong block", "pipe 64 B pingpong block fifo:5",
										"shm-ring 64 B pingpong block", "shm-ring 64 B pingpong block fifo:5",
										"pipe 64 B pingpong poll", "shm-ring 64 B pingpong spin"}));
	EXPECT_EQ(told(one, "under SCHED_FIFO, sides that never sleep (poll) and share a CPU"), 1);
	EXPECT_EQ(told(one, "under SCHED_FIFO, sides that never sleep (spin) and share a CPU"), 1);
	wishes.waits = {Wait::Block};
	for (const auto &[patterns, rate_hz, cells] : {std::tuple(std::vector{Pattern::MaxRate}, 2000.0, 2u),
												   {{Pattern::OneWay}, 2000.0, 4u},
												   {{Pattern::OneWay}, 20'000.0, 2u}}) {
		wishes.patterns = patterns;
		wishes.rate_hz = rate_hz;
		EXPECT_EQ(make(wishes, kTargets, {1, 1}).cells.size(), cells) << name(patterns[0]) << rate_hz;
		EXPECT_EQ(make(wishes, kTargets, {0, 1}).cells.size(), 4u) << name(patterns[0]) << rate_hz;
	}
}

TEST(Waits, NoCellHasAWaitThatItsTargetLacks)
{
	const std::vector<std::vector<Wait>> wishes = {
		{Wait::Block}, {Wait::Poll}, {Wait::Epoll}, {Wait::Block, Wait::Epoll}, {Wait::Epoll, Wait::Poll, Wait::Block},
		{Wait::Spin}};
	for (const auto &waits : wishes)
		for (const model::Cell &cell : plan_of({"all"}, waits).cells)
			for (const Target &one : kTargets)
				if (one.name == cell.target) {
					EXPECT_TRUE(one.waits.has(cell.wait)) << title(cell);
				}
}

TEST(Targets, ANameBeforeTheStrokeStandsForAllOfThem)
{
	Wishes wishes;
	wishes.targets = {"zeromq", "pipe"};
	wishes.patterns = {Pattern::PingPong};
	std::vector<Target> targets = kTargets;
	for (const char *name : {"zeromq/ipc", "zeromq/tcp", "zeromqish/ipc"})
		targets.push_back(target(name, {model::Wait::Block}));
	targets.push_back(target("zeromq/absent", {model::Wait::Block}));
	targets.back().why_not = "it isn't here";
	const Plan plan = make(wishes, targets, {0, 1});
	std::vector<std::string> chosen;
	for (const model::Cell &cell : plan.cells)
		if (std::ranges::find(chosen, cell.target) == chosen.end())
			chosen.push_back(cell.target);
	EXPECT_EQ(chosen, (std::vector<std::string>{"zeromq/ipc", "zeromq/tcp", "pipe"}));
	EXPECT_NE(std::ranges::find(plan.notices, "zeromq/absent left out: it isn't here"), plan.notices.end());
	wishes.targets = {"zero"};
	EXPECT_THROW(make(wishes, targets, {0, 1}), Failure);
}

TEST(Waits, TheFloorOfTheStampsIsMeasuredWithItsOwnAndThatIsTold)
{
	const Plan plan = plan_of({"null"}, {Wait::Block}, {Pattern::PingPong});
	EXPECT_EQ(waits_of(plan, "null"), std::vector{Wait::Spin});
	EXPECT_EQ(plan.notices, std::vector<std::string>{
								"null can't wait by block: measured with spin instead, as the floor under the others"});
}

TEST(Waits, TheFloorIsntMeasuredTwiceWhereItsOwnWaitIsAskedForAsWell)
{
	const Plan plan = plan_of({"null", "shm-ring"}, {Wait::Block, Wait::Spin}, {Pattern::PingPong});
	EXPECT_EQ(waits_of(plan, "null"), std::vector{Wait::Spin});
	EXPECT_EQ(told(plan, "null can't wait by block: left out there"), 1);
	EXPECT_EQ(waits_of(plan, "shm-ring"), (std::vector{Wait::Block, Wait::Spin}));
}

TEST(Waits, OnlyTheFirstWaitOfSeveralThatTheFloorLacksIsReplaced)
{
	const Plan plan = plan_of({"null"}, {Wait::Block, Wait::Epoll}, {Pattern::OneWay});
	EXPECT_EQ(waits_of(plan, "null"), std::vector{Wait::Spin});
	EXPECT_EQ(plan.notices.size(), 2u) << "both are named";
}

TEST(Waits, WhoSpinsStandsForAPollerUnlessSpinIsAskedForAsWell)
{
	const Plan polled = plan_of({"pipe", "shm-ring"}, {Wait::Poll});
	EXPECT_EQ(waits_of(polled, "shm-ring").front(), Wait::Spin);
	EXPECT_EQ(waits_of(polled, "pipe").front(), Wait::Poll);
	EXPECT_EQ(told(polled, "shm-ring has no call to repeat: measured with spin"), 1);

	const Plan both = plan_of({"pipe", "shm-ring"}, {Wait::Poll, Wait::Spin}, {Pattern::PingPong});
	EXPECT_EQ(waits_of(both, "shm-ring"), std::vector{Wait::Spin});
	EXPECT_EQ(told(both, "shm-ring can't wait by poll: left out there"), 1);
	EXPECT_EQ(told(both, "pipe can't wait by spin: left out there"), 1);
}

TEST(Waits, WhatATargetLacksIsToldOnceForAllPatterns)
{
	const Plan plan = plan_of({"pipe", "mqueue"}, {Wait::Epoll});
	EXPECT_EQ(plan.notices, std::vector<std::string>{"mqueue can't wait by epoll: left out there"});
	EXPECT_TRUE(waits_of(plan, "mqueue").empty());
}

TEST(Waits, NothingLeftIsRefused)
{
	try {
		plan_of({"mqueue"}, {Wait::Epoll});
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_STREQ(failure.what(), "nothing is left to measure: mqueue can't wait by epoll: left out there");
	}
}

TEST(Wishes, WhatIsAskedForTwiceIsMeasuredOnce)
{
	Wishes wishes;
	wishes.targets = {"pipe", "pipe"};
	wishes.waits = {Wait::Block, Wait::Block};
	wishes.patterns = {Pattern::OneWay, Pattern::OneWay};
	wishes.sizes = {64, 64, 128};
	EXPECT_EQ(make(wishes, kTargets, {0, 1}).cells.size(), 2u);
}

TEST(Wishes, ASizeThatDoesntFitIsToldOnceForAllPatternsAndWaits)
{
	Wishes wishes;
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	wishes.waits = {Wait::Block, Wait::Poll};
	wishes.sizes = {64, 100'000};
	EXPECT_EQ(told(make(wishes, kTargets, {0, 1}), "pipe can't carry 100000 bytes"), 1);
}

TEST(Waits, ALibraryHasItsOwnWhereItIsAskedForNoneOfThem)
{
	Plan plan = plan_of({"iceoryx"}, {Wait::Block});
	EXPECT_EQ(waits_of(plan, "iceoryx"), (std::vector{Wait::Spin, Wait::Spin})) << "of both patterns";
	EXPECT_EQ(told(plan, "iceoryx can't wait by block: measured with spin instead"), 1);
	plan = plan_of({"all-installed"}, {Wait::Spin});
	ASSERT_EQ(plan.cells.size(), 2u) << "of middleware alone";
	EXPECT_EQ(plan.cells[0].kind, model::kAdapter);
	EXPECT_EQ(plan.cells[0].library, "iceoryx 2");
	plan = plan_of({"all-transports"}, {Wait::Block});
	EXPECT_EQ(std::ranges::count(plan.cells, model::kAdapter, &model::Cell::kind), 0);
	const size_t transports = plan.cells.size();
	EXPECT_GT(transports, 2u);
	EXPECT_EQ(plan_of({"all-transports", "iceoryx", "iceoryx"}, {Wait::Block}).cells.size(), transports + 2);
	EXPECT_EQ(plan_of({"iceoryx", "all"}, {Wait::Block}).cells.size(), transports + 2);
	plan = plan_of({"pipe"}, {Wait::Block});
	EXPECT_EQ(plan.cells[0].kind, model::kTransport);
	EXPECT_TRUE(plan.cells[0].library.empty());
}

// A library's threads belong to a side only where each side has a process of its own.
TEST(Waits, ACallbackNeedsAProcessForEachSide)
{
	Target library = target("cyclonedds/udp", {Wait::Epoll, Wait::Callback});
	library.library_version = "Cyclone DDS";
	Wishes wishes;
	wishes.targets = {library.name};
	wishes.waits = {Wait::Epoll, Wait::Callback};
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	wishes.sizes = {64};
	wishes.between = {model::Between::Processes, model::Between::Threads, model::Between::OneThread};
	const Plan plan = make(wishes, {library}, {0, 1});
	size_t by_callback = 0;
	for (const model::Cell &cell : plan.cells) {
		by_callback += cell.wait == Wait::Callback;
		EXPECT_TRUE(cell.wait != Wait::Callback || model::between(cell) == model::Between::Processes);
	}
	EXPECT_EQ(by_callback, 2u);
	EXPECT_EQ(plan.cells.size(), 8u);
	EXPECT_EQ(told(plan, "by callback, messages are handled by threads of the library"), 2) << "threads, one-thread";
}

TEST(Waits, ATransportHasNoCallback)
{
	EXPECT_EQ(waits_of(plan_of({"null", "pipe"}, {Wait::Block, Wait::Callback}), "pipe"),
			  (std::vector{Wait::Block, Wait::Block}));
}

} // namespace
} // namespace icepath::plan
