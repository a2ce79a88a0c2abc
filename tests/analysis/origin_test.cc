// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/origin.h"

#include <gtest/gtest.h>

#include "ebpf/contexts.h"

namespace icepath::analysis {
namespace {

using path::Culprit;
using Kind = Culprit::Kind;
using Work = Culprit::Work;

constexpr uint32_t kSide = 10, kHelper = 11, kOtherCells = 30, kKernelThread = 50, kOtherDaemon = 60, kForeign = 99;

path::Observations known_threads()
{
	path::Observations seen;
	seen.threads[kSide].process = kSide;
	seen.threads[kHelper].process = kSide;
	seen.threads[kOtherCells].of_another_cell = true;
	seen.threads[kOtherCells + 1].process = kOtherCells;
	seen.threads[kOtherDaemon + 1].process = kOtherDaemon;
	seen.of_other_cells = {kOtherDaemon};
	seen.helpers = {kKernelThread};
	return seen;
}

Origin of_task(uint32_t tid) { return origin_of({Kind::Task, tid, 0}, false, known_threads()); }

Origin of_interrupt(uint8_t kind, uint32_t vector, bool slept = false, Work work = Work::NotTold)
{
	return origin_of({Kind::Interrupt, vector, kind, work}, slept, known_threads());
}

TEST(Origins, OfTasksAreByWhoStartedThem)
{
	EXPECT_EQ(of_task(kHelper), Origin::OwnThread) << "whether messages pass it or not";
	EXPECT_EQ(of_task(kKernelThread), Origin::OwnThread);
	EXPECT_EQ(of_task(kOtherCells), Origin::OtherTarget);
	EXPECT_EQ(of_task(kOtherCells + 1), Origin::OtherTarget) << "of that one's process";
	EXPECT_EQ(of_task(kOtherDaemon), Origin::OtherTarget);
	EXPECT_EQ(of_task(kOtherDaemon + 1), Origin::OtherTarget) << "followed for another cell of the window";
	EXPECT_EQ(of_task(kForeign), Origin::OthersTask);
}

TEST(Origins, TheTickTakesTimeAndWakesNobody)
{
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_TIMER, 0), Origin::Tick);
	for (const uint32_t vector : {1u, 7u, 9u}) // TIMER, SCHED, RCU
		EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_SOFTIRQ, vector), Origin::Tick) << vector;
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_SOFTIRQ, 8), Origin::OthersInterrupt) << "HRTIMER";
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_SOFTIRQ, 3), Origin::OthersInterrupt) << "NET_RX";
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_SOFTIRQ, 7, true), Origin::OthersInterrupt) << "it ended a sleep";
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_DEVICE, 24), Origin::OthersInterrupt);
}

TEST(Origins, OfInterruptsAreByTheirWork)
{
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_SOFTIRQ, 3, false, Work::OwnPackets), Origin::OwnWork);
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_TIMER, 0, false, Work::OwnTimer), Origin::OwnTimer);
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_TIMER, 0, true, Work::OwnTimer), Origin::OwnTimer);
	EXPECT_EQ(of_interrupt(ICEPATH_INTERRUPT_TIMER, 0, false, Work::OtherTimer), Origin::OthersInterrupt);
}

TEST(Origins, OfOwnThreadsHaveAnOwner)
{
	path::Observations seen = known_threads();
	seen.threads[kHelper].followed = true;
	seen.threads[kOtherCells].followed = true;
	constexpr uint32_t kDaemon = 70;
	seen.threads[kDaemon].process = kDaemon;
	seen.threads[kDaemon].followed = true;
	EXPECT_EQ(owner_of(kSide, seen), Owner::Side);
	EXPECT_EQ(owner_of(kHelper, seen), Owner::Library) << "of a side's process";
	EXPECT_EQ(owner_of(kDaemon, seen), Owner::Daemon) << "no side is in that process";
	EXPECT_EQ(owner_of(kKernelThread, seen), Owner::Kernel);
	EXPECT_EQ(owner_of(kOtherCells, seen), Owner::None);
	EXPECT_EQ(owner_of(kForeign, seen), Owner::None);
}

TEST(Origins, ThatAreNobodys)
{
	const path::Observations seen = known_threads();
	EXPECT_EQ(origin_of({Kind::Throttled, 0, 0}, false, seen), Origin::Limit);
	EXPECT_EQ(origin_of({Kind::IdleCpu, 0, 0}, false, seen), Origin::IdleCpu);
	EXPECT_EQ(origin_of({Kind::Unknown, 0, 0}, false, seen), Origin::Unknown);
}

TEST(Names, WithoutNumbers)
{
	EXPECT_EQ(without_numbers("x-123"), "x-*");
	EXPECT_EQ(without_numbers("kworker/1:2"), "kworker/*:*");
	EXPECT_EQ(without_numbers("recvUC"), "recvUC");
	EXPECT_EQ(without_numbers(""), "");
}

} // namespace
} // namespace icepath::analysis
