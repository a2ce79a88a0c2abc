// SPDX-License-Identifier: Apache-2.0
// Cells between processes, between threads, and in one thread: which are made, and the notices about others.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/plan/plan.h"

namespace icepath::plan {
namespace {

using model::Between;
using model::Pattern;

Target target(const std::string &name, model::Traits traits = {})
{
	Target one;
	one.name = name;
	one.waits = {model::Wait::Block};
	one.traits = traits;
	one.max_payload_bytes = 4096;
	return one;
}

Wishes wish(std::vector<Between> between, std::vector<Pattern> patterns = {Pattern::PingPong})
{
	Wishes wishes;
	wishes.targets = {"all"};
	wishes.patterns = std::move(patterns);
	wishes.sizes = {64};
	wishes.levels[&model::Levels::receivers] = {2};
	wishes.between = std::move(between);
	return wishes;
}

std::vector<std::string> titles_of(const Plan &plan)
{
	std::vector<std::string> titles;
	for (const model::Cell &cell : plan.cells)
		titles.push_back(model::title(cell));
	return titles;
}

using Texts = std::vector<std::string>;

TEST(Between, IsProcessesWhereNothingIsSaid)
{
	Wishes wishes = wish({});
	wishes.between = Wishes().between;
	EXPECT_EQ(make(wishes, {target("a")}, {0, 1}).cells.at(0).graph.sides.at(1).process, 1u);
}

TEST(Between, IsAFactorLikeOthersAndMeasuredOnce)
{
	const Plan plan = make(wish({Between::Threads, Between::Processes, Between::OneThread, Between::Threads}),
						   {target("a"), target("b")}, {5, 7});
	EXPECT_EQ(titles_of(plan),
			  (Texts{"a 64 B pingpong block threads", "a 64 B pingpong block", "a 64 B pingpong block one-thread",
					 "b 64 B pingpong block threads", "b 64 B pingpong block", "b 64 B pingpong block one-thread"}));
	EXPECT_EQ(plan.plugin_of_cell.size(), plan.cells.size());
	EXPECT_TRUE(plan.notices.empty());
	EXPECT_EQ(model::cpus_by_side(plan.cells[0]), (std::vector<uint32_t>{5, 7}));
	EXPECT_EQ(model::cpus_by_side(plan.cells[2]), (std::vector<uint32_t>{5, 5})) << "one thread has one CPU";
}

TEST(Between, ThreadsHaveEveryPattern)
{
	const std::vector<Pattern> all = {Pattern::PingPong, Pattern::OneWay,  Pattern::Throughput, Pattern::Burst,
									  Pattern::FanOut,   Pattern::MaxRate, Pattern::ReqRep,     Pattern::Sparse};
	const Plan processes = make(wish({Between::Processes}, all), {target("a")}, {0, 1});
	const Plan threads = make(wish({Between::Threads}, all), {target("a")}, {0, 1});
	EXPECT_EQ(threads.cells.size(), processes.cells.size());
	EXPECT_TRUE(threads.notices.empty());
}

TEST(Between, OneThreadHasPatternsWithOneMessageInFlight)
{
	const Plan plan =
		make(wish({Between::OneThread, Between::Threads}, {Pattern::OneWay, Pattern::Throughput, Pattern::FanOut}),
			 {target("a"), target("b")}, {0, 1});
	EXPECT_EQ(titles_of(plan), (Texts{"a 64 B oneway block one-thread", "a 64 B oneway block threads",
									  "b 64 B oneway block one-thread", "b 64 B oneway block threads",
									  "a 64 B throughput block threads", "b 64 B throughput block threads",
									  "a 64 B fanout block threads to 2", "b 64 B fanout block threads to 2"}));
	EXPECT_EQ(plan.notices, (Texts{"throughput needs a sender and a receiver at the same time: left out in one thread",
								   "fanout needs a sender and a receiver at the same time: left out in one thread"}));
}

TEST(Between, OneThreadHasSparseMessages)
{
	const Plan plan = make(wish({Between::OneThread}, {Pattern::Sparse}), {target("a")}, {0, 1});
	EXPECT_EQ(titles_of(plan), (Texts{"a 64 B sparse block one-thread"}));
	EXPECT_TRUE(plan.notices.empty());
}

TEST(Between, OneThreadCannotWaitForItself)
{
	const Plan plan = make(wish({Between::OneThread, Between::Threads}),
						   {target("a"), target("meeting", {model::Trait::Rendezvous})}, {0, 1});
	EXPECT_EQ(titles_of(plan), (Texts{"a 64 B pingpong block one-thread", "a 64 B pingpong block threads",
									  "meeting 64 B pingpong block threads"}));
	EXPECT_EQ(plan.notices, (Texts{"meeting has its sender wait until the message is taken, at once or before the next "
								   "one: left out in one thread, where nobody takes it meanwhile"}));
}

TEST(Between, OneThreadTakesTurnsByAnswersOnly)
{
	const Plan plan = make(wish({Between::OneThread}, {Pattern::PingPong, Pattern::OneWay, Pattern::Sparse}),
						   {target("turns", {model::Trait::Turns})}, {0, 1});
	EXPECT_EQ(titles_of(plan), (Texts{"turns 64 B pingpong block one-thread"}));
	EXPECT_EQ(plan.notices, (Texts{"turns has its sender wait for an answer, or until the next message is asked for: "
								   "left out of oneway in one thread, where nobody asks meanwhile",
								   "turns has its sender wait for an answer, or until the next message is asked for: "
								   "left out of sparse in one thread, where nobody asks meanwhile"}));
}

TEST(Between, ProcessesHaveNothingThatGoesOnlyWithinOne)
{
	const std::vector<Target> targets = {target("a"), target("inside", {model::Trait::WithinProcess})};
	const Texts notices = {
		"inside has both ends in one process: left out between processes (--between threads measures "
		"it)"};
	const Plan plan = make(wish({Between::Processes, Between::Threads, Between::OneThread}), targets, {0, 1});
	EXPECT_EQ(titles_of(plan),
			  (Texts{"a 64 B pingpong block", "a 64 B pingpong block threads", "a 64 B pingpong block one-thread",
					 "inside 64 B pingpong block threads", "inside 64 B pingpong block one-thread"}));
	EXPECT_EQ(plan.notices, notices);
	Wishes wishes = wish({Between::Processes});
	wishes.targets = {"inside"};
	try {
		make(wishes, targets, {0, 1});
		ADD_FAILURE() << "there was something to measure";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find(notices[0]), std::string::npos) << failure.what();
	}
}

TEST(Between, SomeGoBetweenProcessesOnly)
{
	const Plan plan = make(wish({Between::Processes, Between::Threads, Between::OneThread}),
						   {target("outside", {model::Trait::BetweenProcesses})}, {0, 1});
	EXPECT_EQ(titles_of(plan), (Texts{"outside 64 B pingpong block"}));
	EXPECT_EQ(plan.notices, (Texts{"outside is for two processes: left out within one"}));
}

TEST(Between, ThreadsThatCannotBeToldApartAreLeftOut)
{
	Wishes wishes = wish({Between::Processes, Between::Threads, Between::OneThread});
	wishes.no_threads = "needs Linux 6.9";
	const Plan plan = make(wishes, {target("a"), target("b")}, {0, 1});
	EXPECT_EQ(plan.cells.size(), 4u);
	for (const model::Cell &cell : plan.cells)
		EXPECT_NE(model::between(cell), Between::Threads);
	EXPECT_EQ(plan.notices, Texts{"cells between threads are left out: needs Linux 6.9"});
	wishes.between = {Between::Threads};
	try {
		make(wishes, {target("a")}, {0, 1});
		ADD_FAILURE() << "there was something to measure";
	} catch (const Failure &failure) {
		EXPECT_NE(std::string(failure.what()).find("needs Linux 6.9"), std::string::npos) << failure.what();
	}
}

} // namespace
} // namespace icepath::plan
