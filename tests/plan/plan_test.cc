// SPDX-License-Identifier: Apache-2.0
// Which cells follow from wishes, in which order, and what is refused or left out, always with a message that names it.
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/plan/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "tests/plan/wishes_of_tests.h"

namespace icepath::plan {
namespace {

TEST(Plan, RequestsHaveEachNumberOfResponses)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::ReqRep, Pattern::PingPong};
	wishes.sizes = {64};
	wishes.levels[&model::Levels::responses] = {1, 7};
	const Plan plan = make(wishes, {target("a")}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 3u);
	EXPECT_EQ(plan.cells[0].levels.responses, 1u);
	EXPECT_EQ(plan.cells[1].levels.responses, 7u);
	EXPECT_EQ(model::title(plan.cells[1]), "a 64 B reqrep block 1:7");
	EXPECT_EQ(plan.cells[2].levels.responses, 1u) << "a ping has one pong";
}

TEST(Plan, IdleChannelsAreOfEveryCell)
{
	Wishes wishes = wish({"a"});
	wishes.levels[&model::Levels::idle_channels] = {3};
	for (const model::Cell &cell : make(wishes, {target("a")}, {0, 1}).cells) {
		EXPECT_EQ(cell.levels.idle_channels, 3u);
		EXPECT_NE(model::title(cell).find(" +3 idle"), std::string::npos);
		EXPECT_EQ(cell.graph.flows.size(), is_answered(cell.pattern) ? 2u : 1u) << "they carry nothing";
	}
}

TEST(Plan, KeepsCpusAwakeInAllCellsButSparseOnes)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::PingPong, Pattern::Sparse, Pattern::OneWay, Pattern::MaxRate};
	for (const bool kept_awake : {true, false}) {
		wishes.kept_awake = kept_awake;
		const Plan plan = make(wishes, {target("a")}, {0, 1});
		EXPECT_GE(plan.cells.size(), 4u);
		for (const model::Cell &cell : plan.cells)
			EXPECT_EQ(cell.idle_states == model::IdleStates::Held, kept_awake && cell.pattern != Pattern::Sparse)
				<< model::title(cell);
	}
}

TEST(Plan, OneOfEachKindIsMeasuredInOtherPatternsThanPingPong)
{
	Wishes wishes = wish();
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	const std::vector<Target> targets = {target("uds-stream"), target("uds-dgram"), target("tcp")};
	EXPECT_EQ(make(wishes, targets, {0, 1}).cells.size(), 6u);
	wishes.one_of_each_kind = true;
	EXPECT_EQ(texts_of(make(wishes, targets, {0, 1})),
			  (std::vector<std::string>{"uds-stream pp 64 block", "uds-dgram pp 64 block", "tcp pp 64 block",
										"uds-stream ow 64 block", "tcp ow 64 block"}));
	EXPECT_EQ(make(wishes, {target("a"), target("b")}, {0, 1}).cells.size(), 4u) << "none is known to stand for others";
}

TEST(Plan, IsEveryCombination)
{
	Wishes wishes = wish({"a", "b"});
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	wishes.sizes = {1, 64, 4096};
	wishes.waits = {Wait::Block, Wait::Poll};
	const Plan plan = make(wishes, {target("a"), target("b"), target("c")}, {0, 1});
	const std::vector<std::string> texts = texts_of(plan);
	EXPECT_EQ(texts.size(), 2u * 2 * 3 * 2);
	EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), texts.size());
	EXPECT_NE(std::ranges::find(texts, "b ow 4096 poll"), texts.end());
	EXPECT_TRUE(std::ranges::none_of(texts, [](const auto &text) { return text[0] == 'c'; }));
	EXPECT_TRUE(plan.notices.empty());
}

TEST(Plan, GivesEachCellWhatItsTargetTold)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	wishes.rate_hz = 1234;
	Target told = target("a");
	told.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice};
	told.traits = {model::Trait::Lossy};
	const Plan plan = make(wishes, {told}, {5, 7});
	ASSERT_EQ(plan.cells.size(), 2u);
	ASSERT_EQ(plan.plugin_of_cell.size(), 2u);
	for (size_t i = 0; i < 2; i++) {
		EXPECT_EQ(plan.plugin_of_cell[i], told.plugin);
		EXPECT_EQ(plan.cells[i].mechanisms, told.mechanisms);
		EXPECT_EQ(plan.cells[i].traits, told.traits);
		EXPECT_EQ(model::cpus_by_side(plan.cells[i]), (std::vector<uint32_t>{5, 7}));
		EXPECT_FALSE(model::injects(plan.cells[i].levels));
	}
	EXPECT_FALSE(plan.cells[0].rate_hz) << "a ping-pong has no rate";
	EXPECT_EQ(plan.cells[1].rate_hz, 1234);
}

TEST(Plan, HasUsualSizesForEachPattern)
{
	Wishes wishes = wish({"a"});
	wishes.patterns = {Pattern::PingPong, Pattern::OneWay};
	wishes.sizes.clear();
	EXPECT_EQ(texts_of(make(wishes, {target("a")}, {0, 1})),
			  (std::vector<std::string>{"a pp 64 block", "a pp 4096 block", "a ow 64 block"}));
}

TEST(Plan, MeasuresInjectedWorkBesideTheSameCellWithoutIt)
{
	Wishes wishes = wish({"a"});
	wishes.levels[&model::Levels::receiver_busy_ns] = {20'000};
	const Plan plan = make(wishes, {target("a")}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 2u);
	EXPECT_FALSE(model::injects(plan.cells[0].levels));
	EXPECT_EQ(plan.cells[1].levels.receiver_busy_ns, 20'000u);
	EXPECT_EQ(plan.plugin_of_cell.size(), 2u);
}

TEST(Plan, WithoutNamesTakesTheUsualTargets)
{
	std::vector<Target> targets(3);
	const char *names[] = {"pipe", "signal", "null"};
	for (size_t i = 0; i < 3; i++) {
		targets[i].name = names[i];
		targets[i].waits = {model::Wait::Block};
		targets[i].max_payload_bytes = 4096;
	}
	Wishes wishes;
	wishes.patterns = {model::Pattern::OneWay};
	EXPECT_EQ(make(wishes, targets, {0, 1}).cells.size(), 2u);
	wishes.targets = {"all"};
	EXPECT_EQ(make(wishes, targets, {0, 1}).cells.size(), 3u);
	// A folder with a user's own plug-ins has none of the usual names.
	wishes.targets = {};
	targets.erase(targets.begin());
	targets.erase(targets.begin() + 1);
	EXPECT_EQ(make(wishes, targets, {0, 1}).cells.size(), 1u);
}

TEST(Plan, OfAllLeavesOutWhatDoesNotWork)
{
	for (const auto &names : {std::vector<std::string>{}, std::vector<std::string>{"all"}}) {
		const Plan plan = make(wish(names), {target("a"), missing_target()}, {0, 1});
		EXPECT_EQ(texts_of(plan), (std::vector<std::string>{"a pp 64 block"}));
		EXPECT_TRUE(tells(plan, "gone"));
		EXPECT_TRUE(tells(plan, "its library isn't there"));
	}
}

TEST(Plan, LeavesOutATargetThatWasNamedAndDoesNotWorkBesideOthers)
{
	const Plan plan = make(wish({"gone", "a"}), {target("a"), missing_target()}, {0, 1});
	EXPECT_EQ(texts_of(plan), (std::vector<std::string>{"a pp 64 block"}));
	EXPECT_EQ(plan.missing, std::vector<std::string>{"gone"});
	EXPECT_TRUE(tells(plan, "gone doesn't work here, and is left out: its library isn't there"));
}

TEST(Plan, RefusesATargetThatWasNamedAloneAndDoesNotWork)
{
	expect_refused(wish({"gone"}), {target("a"), missing_target()}, ExitCode::MachineCannot,
				   {"gone", "its library isn't there"});
}

TEST(Plan, RefusesATargetThatNobodyKnowsAndListsThoseThatAreThereIfTheyAreFew)
{
	for (const char *name : {"carrier-pigeon", "", "a ", "A", "all,a"})
		expect_refused(wish({name}), {target("a"), target("b")}, ExitCode::Usage,
					   {fmt::format("\"{}\"", name), "a, b"});
}

TEST(Plan, RefusesASizeThatANamedTargetCannotCarry)
{
	Wishes wishes = wish({"a", "small"});
	wishes.sizes = {64, 8193};
	expect_refused(wishes, {target("a"), target("small", kEveryWait, 8192)}, ExitCode::Usage,
				   {"small", "8193", "8192", "the limit of small"});
	wishes.sizes = {64, 8192};
	EXPECT_EQ(make(wishes, {target("a"), target("small", kEveryWait, 8192)}, {0, 1}).cells.size(), 4u);
}

TEST(Plan, OfAllLeavesOutASizeThatATargetCannotCarry)
{
	Wishes wishes = wish();
	wishes.sizes = {64, 65536};
	const Plan plan = make(wishes, {target("a"), target("small", kEveryWait, 8192)}, {0, 1});
	EXPECT_EQ(texts_of(plan), (std::vector<std::string>{"a pp 64 block", "a pp 65536 block", "small pp 64 block"}));
	EXPECT_TRUE(tells(plan, "small can't carry 65536 bytes"));
	EXPECT_TRUE(tells(plan, "the limit of small"));
}

TEST(Plan, RefusesAnEmptyMessageOfAnyTarget)
{
	Wishes wishes = wish();
	wishes.sizes = {64, 0};
	expect_refused(wishes, {target("a")}, ExitCode::Usage, {"0 bytes"});
}

TEST(Plan, MeasuresBurstsAtEveryDemandWithEveryRecovery)
{
	Wishes wishes = wish();
	wishes.patterns = {Pattern::Burst, Pattern::Throughput, Pattern::OneWay};
	wishes.levels[&model::Levels::demand] = {5, 50, 5};
	wishes.levels[&model::Levels::recovery_ns] = {1'000'000, 4'000'000};
	const Plan plan = make(wishes, {target("a")}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 6u);
	EXPECT_EQ(plan.cells[0].levels.demand, 5u);
	EXPECT_EQ(plan.cells[0].levels.recovery_ns, 1'000'000u);
	EXPECT_EQ(plan.cells[3].levels.demand, 50u);
	EXPECT_EQ(plan.cells[3].levels.recovery_ns, 4'000'000u);
	EXPECT_EQ(due_hz(plan.cells[3]), 12'500);
	EXPECT_EQ(due_hz(plan.cells[4]), std::nullopt) << "as fast as it goes";
	EXPECT_EQ(due_hz(plan.cells[5]), wishes.rate_hz);
}

TEST(Plan, HasSparseMessagesAtTheirPeriodAndNoFloorUnderThem)
{
	Wishes wishes = wish({"a", "floor"});
	wishes.patterns = {Pattern::Sparse, Pattern::OneWay};
	wishes.sparse_period_ns = 50'000'000;
	Target floor = target("floor");
	floor.traits.add(model::Trait::NotIpc);
	const Plan plan = make(wishes, {target("a"), floor}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 3u);
	EXPECT_EQ(plan.cells[0].pattern, Pattern::Sparse);
	EXPECT_EQ(plan.cells[0].rate_hz, 20);
	EXPECT_EQ(plan.cells[0].payload_bytes, 64u);
	EXPECT_EQ(plan.cells[2].target, "floor");
	wishes.targets = {"floor"};
	EXPECT_EQ(make(wishes, {target("a"), floor}, {0, 1}).cells.size(), 2u) << "alone it is what was asked for";
}

TEST(Plan, OnlyASearchForARateHasLimits)
{
	Wishes wishes = wish();
	wishes.patterns = {Pattern::MaxRate, Pattern::OneWay};
	wishes.limits = {0.01, 300'000};
	const Plan plan = make(wishes, {target("a")}, {0, 1});
	ASSERT_EQ(plan.cells.size(), 2u);
	EXPECT_EQ(plan.cells[0].limits, wishes.limits);
	EXPECT_EQ(plan.cells[0].payload_bytes, 64u);
	EXPECT_FALSE(plan.cells[0].rate_hz) << "its blocks have one each";
	EXPECT_EQ(due_hz(plan.cells[0]), std::nullopt);
	EXPECT_TRUE(is_paced(plan.cells[0]));
	EXPECT_FALSE(plan.cells[1].limits);
}

TEST(Plan, LeavesOutAWaitThatATargetDoesNotHave)
{
	Wishes wishes = wish();
	wishes.waits = {Wait::Block, Wait::Epoll};
	const Plan plan = make(wishes, {target("a"), target("blocks", {model::Wait::Block})}, {0, 1});
	EXPECT_EQ(texts_of(plan), (std::vector<std::string>{"a pp 64 block", "blocks pp 64 block", "a pp 64 epoll"}));
	EXPECT_TRUE(tells(plan, "blocks can't wait by epoll"));
}

// The floor has one wait, and appears once, however the others wait.
TEST(Plan, KeepsTheFloorBesideEveryWait)
{
	Wishes wishes = wish();
	wishes.targets = {"all"};
	wishes.waits = {Wait::Block, Wait::Epoll};
	EXPECT_EQ(texts_of(make(wishes, {floor_target(), target("a")}, {0, 1})),
			  (std::vector<std::string>{"null pp 64 spin", "a pp 64 block", "a pp 64 epoll"}));
	wishes.waits = {Wait::Poll};
	EXPECT_EQ(texts_of(make(wishes, {floor_target(), target("a")}, {0, 1})),
			  (std::vector<std::string>{"null pp 64 spin", "a pp 64 poll"}));
}

TEST(Plan, RefusesToMeasureNothing)
{
	Wishes wishes = wish();
	wishes.waits = {Wait::Epoll};
	expect_refused(wishes, {target("blocks", {model::Wait::Block})}, ExitCode::Usage,
				   {"nothing is left", "blocks can't wait by epoll"});
	expect_refused(wish(), {missing_target()}, ExitCode::Usage, {"nothing is left", "its library isn't there"});
	expect_refused(wish(), {}, ExitCode::Usage, {"nothing is left"});
	wishes = wish();
	wishes.patterns.clear();
	expect_refused(wishes, {target("a")}, ExitCode::Usage, {"nothing is left"});
}

} // namespace
} // namespace icepath::plan
