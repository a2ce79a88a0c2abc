// SPDX-License-Identifier: Apache-2.0
// Windows follow one another without a gap, and what comes too fast for a ring is lost where that is said.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

class Rings : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

void expect_without_gaps(const Watched &watched)
{
	std::map<int32_t, uint32_t> next;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots) {
			EXPECT_EQ(slot.first, next[slot.cpu]) << window.round;
			for (const icepath_record &record : slot.records)
				ASSERT_EQ(record.seq, next[slot.cpu]++) << "window " << window.round << ", CPU " << slot.cpu;
			EXPECT_EQ(slot.position, next[slot.cpu]) << window.round;
		}
	for (size_t i = 0; i < watched.windows.size(); i++) {
		const model::Window &window = watched.windows[i];
		EXPECT_EQ(window.begins_midway, i > 0);
		EXPECT_EQ(window.ends_midway, i + 1 < watched.windows.size());
		if (i > 0) {
			EXPECT_EQ(window.begin.monotonic_ns, watched.windows[i - 1].finish.monotonic_ns);
		}
	}
}

TEST_F(Rings, AreTakenWithoutAGap)
{
	constexpr uint64_t kSeconds = 3;
	Program program([](Shared &shared) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			_exit(1);
		shared.is_ready = 1;
		await(shared.goes);
		char byte = 0;
		for (uint64_t i = 0; shared.goes == 1; i++) {
			if (write(ends[0], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1)
				_exit(1);
			shared.counts[0] = i + 1;
			if (i % 100 == 0)
				usleep(1000);
		}
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, kSeconds, [&] { program.shared().goes = 1; });
	EXPECT_EQ(watched.outcome.lost, 0u);
	EXPECT_EQ(watched.windows.size(), kSeconds);
	expect_without_gaps(watched);
	// Each give is followed by its take, over the ends of windows as well.
	uint64_t given = 0, taken = 0;
	for (const icepath_record &record : watched.calls)
		if (record.call.object_kind == ICEPATH_OBJECT_UNIX_STREAM) {
			(record.call.kind == ICEPATH_CALL_GIVE ? given : taken)++;
			ASSERT_TRUE(given == taken || given == taken + 1) << given << ", " << taken;
		}
	EXPECT_GT(given, 1000u);
}

Watched watch_flood(uint64_t calls)
{
	Program program([calls](Shared &shared) {
		shared.is_ready = 1;
		await(shared.goes);
		for (uint64_t i = 0; i < calls; i++)
			(void)syscall(SYS_getppid);
	});
	program.await_ready();
	constexpr uint32_t kSmall = 4096;
	return watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; }, kSmall);
}

TEST_F(Rings, SayWhatTheyLost)
{
	constexpr uint64_t kCalls = 1'000'000;
	const Watched watched = watch_flood(kCalls);
	expect_without_gaps(watched);
	EXPECT_GT(watched.outcome.lost, 0u);
	uint64_t said = 0;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots) {
			uint64_t before_ns = 0;
			for (const icepath_record &record : slot.records) {
				if (record.type == ICEPATH_RECORD_LOSS) {
					said += record.loss.count;
					EXPECT_GT(record.loss.count, 0u);
					EXPECT_LE(record.loss.begin_ns, record.end_ns);
					if (slot.cpu >= 0) {
						EXPECT_GE(record.loss.begin_ns, before_ns); // nothing of that time was kept
					}
				}
				if (record.type == ICEPATH_RECORD_CALL)
					before_ns = std::max(before_ns, record.end_ns);
			}
		}
	EXPECT_EQ(said, watched.outcome.lost);
	EXPECT_LT(watched.calls.size(), kCalls);
	EXPECT_GE(watched.calls.size() + said, kCalls); // nothing is lost in silence
}

// A CPU tells its losses with its next record. After the last flood none may come.
TEST_F(Rings, SayWhatTheyLostLast)
{
	constexpr uint64_t kCalls = 10'000;
	for (int i = 0; i < 10; i++) {
		const Watched watched = watch_flood(kCalls);
		EXPECT_GE(watched.calls.size() + watched.outcome.lost, kCalls);
	}
}

// Its name is one of the records that have no room as it begins. Without it, all others would count as lost.
TEST_F(Rings, TellAThreadsNameOnceThereIsRoom)
{
	constexpr size_t kThreads = 20;
	constexpr int kCallsOfEach = 100;
	Program program([](Shared &shared) {
		shared.is_ready = 1;
		await(shared.goes);
		std::vector<std::thread> floods, begun;
		std::atomic<bool> is_flooded{true};
		for (unsigned i = 0; i < std::thread::hardware_concurrency(); i++)
			floods.emplace_back([&] {
				while (is_flooded)
					(void)syscall(SYS_getppid);
			});
		for (size_t i = 0; i < kThreads; i++) {
			begun.emplace_back([&] {
				while (is_flooded)
					usleep(1000);
				usleep(300'000); // rings are taken
				for (int j = 0; j < kCallsOfEach; j++)
					(void)syscall(SYS_getpgrp);
			});
			usleep(20'000);
		}
		is_flooded = false;
		for (auto *threads : {&floods, &begun})
			for (std::thread &one : *threads)
				one.join();
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 60, [&] { program.shared().goes = 1; }, 4096);
	EXPECT_GT(watched.outcome.lost, 0u);
	std::set<uint32_t> named, calling;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records) {
				if (record.type == ICEPATH_RECORD_THREAD)
					named.insert(record.tid);
				if (record.type == ICEPATH_RECORD_CALL && record.call.number == SYS_getpgrp)
					calling.insert(record.tid);
			}
	EXPECT_EQ(calling.size(), kThreads);
	for (const uint32_t tid : calling)
		EXPECT_TRUE(named.contains(tid)) << tid;
}

// A thread's name that has no room is lost once, however often the thread is seen before there is some.
TEST_F(Rings, LoseANameOnce)
{
	constexpr uint64_t kThreads = 100, kCallsOfEach = 5000;
	Program program([](Shared &shared) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(0, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		const auto flood = [] {
			for (uint64_t i = 0; i < kCallsOfEach; i++)
				(void)syscall(SYS_getppid);
		};
		shared.is_ready = 1;
		await(shared.goes);
		for (uint64_t i = 0; i < kThreads; i++) {
			flood();
			std::thread(flood).join(); // begins while the ring is full
		}
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 60, [&] { program.shared().goes = 1; }, 512);
	uint64_t kept = 0;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots)
			kept += slot.records.size();
	constexpr uint64_t kCalls = 2 * kThreads * kCallsOfEach;
	EXPECT_GT(watched.outcome.lost, kCalls / 2);
	EXPECT_LT(kept + watched.outcome.lost, kCalls + kCalls / 20); // with those of switches and interrupts
}

} // namespace
} // namespace icepath::attach
