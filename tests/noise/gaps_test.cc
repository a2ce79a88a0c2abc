// SPDX-License-Identifier: Apache-2.0
// A gap's time is that of what records show in it, and the rest has no name.
#include "profiler/noise/gaps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "ebpf/contexts.h"
#include "profiler/noise/cpu_noise.h"

namespace icepath::noise {
namespace {

constexpr uint32_t kThread = 1, kHog = 9;

// A task preempts the thread from 10'000 to 50'000, with an interrupt of 2'000 on top of it; another interrupt comes at
// 100'000 for 6'000.
path::Observations observed()
{
	path::Observations seen;
	path::Thread &thread = seen.threads[kThread];
	thread.tid = kThread;
	path::OffCpu off;
	off.out_ns = 10'000;
	off.in_ns = 50'000;
	off.preempted = true;
	thread.off = {off};
	seen.cpus[0].runs = {{10'000, 50'000, kHog, 0, false}};
	seen.cpus[0].interrupts = {{20'000, 22'000, ICEPATH_INTERRUPT_TIMER, 0, 1, {}, kHog, false},
							   {100'000, 106'000, ICEPATH_INTERRUPT_TIMER, 0, 2, {}, kThread, false}};
	seen.task_names[kHog] = "hog";
	return seen;
}

TEST(Sources, AreTasksOrNot)
{
	for (const char *task : {"bash", "cc1plus", "ksoftirqd/2", "task 17", "icepath (process 7, not own)"})
		EXPECT_TRUE(is_task(task)) << task;
	for (const char *other : {kTick, "timer interrupt (woke a task)", "interrupt 36", "SCHED softirq", "softirq 11",
							  "NMI", "reschedule interrupt", "unknown", "throttled", "idle CPU"})
		EXPECT_FALSE(is_task(other)) << other;
}

TEST(Sources, OfIcepathAreOwnOrNot)
{
	const auto own = static_cast<uint32_t>(getpid()), parents = static_cast<uint32_t>(getppid());
	EXPECT_EQ(named_as_own_or_not("icepath", own), "icepath (own)");
	const pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	EXPECT_EQ(named_as_own_or_not("icepath-noise", static_cast<uint32_t>(child)), "icepath-noise (own)");
	kill(child, SIGKILL);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(named_as_own_or_not("icepath-worker", parents),
			  fmt::format("icepath-worker (process {}, not own)", parents));
	EXPECT_EQ(named_as_own_or_not("icepath", static_cast<uint32_t>(child)),
			  fmt::format("icepath (process {}, not own)", child))
		<< "it has ended";
	EXPECT_EQ(named_as_own_or_not("bash", own), "bash");
	int ends[2];
	ASSERT_EQ(pipe(ends), 0);
	const pid_t space = fork();
	if (space == 0) {
		const pid_t worker = fork();
		if (worker == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
		}
		(void)!write(ends[1], &worker, sizeof worker);
		pause();
		_exit(0);
	}
	pid_t worker = 0;
	ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
	EXPECT_EQ(named_as_own_or_not("icepath-worker", static_cast<uint32_t>(worker)), "icepath-worker (own)")
		<< "one that a child has started, as icepath-space does";
	kill(worker, SIGKILL);
	kill(space, SIGKILL);
	waitpid(space, nullptr, 0);
	close(ends[0]);
	close(ends[1]);
}

Spun spun_over(const std::vector<Gap> &gaps)
{
	Spun spun{.begin_ns = 0, .end_ns = 1'000'000};
	for (const Gap &gap : gaps) {
		spun.gaps++;
		spun.ns += gap.ns();
		spun.longest_ns = std::max(spun.longest_ns, gap.ns());
	}
	return spun;
}

TEST(Gaps, AreDividedAmongWhatTookThem)
{
	const std::vector<Gap> gaps = {{9'000, 51'000}, {99'500, 107'000}, {200'000, 230'000}};
	const path::Observations seen = observed();
	model::CpuNoise noise;
	add(spun_over(gaps), gaps, &seen, kThread, noise);
	EXPECT_EQ(noise, (model::CpuNoise{0,
									  1'000'000,
									  3,
									  42'000 + 7'500 + 30'000,
									  42'000,
									  {{"hog", 1, 38'000, 38'000},
									   {"unknown", 1, 2'000 + 1'500 + 30'000, 30'000},
									   {"timer interrupt", 1, 2'000 + 6'000, 6'000}},
									  "hog"}));
}

TEST(Gaps, BesideALostRecordHaveNoName)
{
	path::Observations seen = observed();
	seen.lost = {{105'000, 120'000, 1}};
	const std::vector<Gap> gaps = {{99'500, 107'000}};
	model::CpuNoise noise;
	add(spun_over(gaps), gaps, &seen, kThread, noise);
	ASSERT_EQ(noise.sources.size(), 1u);
	EXPECT_EQ(noise.sources[0].name, "unknown");
}

// As of a hypervisor, or a quota of the process's own: what little is known of it isn't to blame.
TEST(Gaps, WhoseTimeIsMostlyUnknownHaveNoName)
{
	const std::vector<Gap> gaps = {{9'000, 451'000}};
	const path::Observations seen = observed();
	model::CpuNoise noise;
	add(spun_over(gaps), gaps, &seen, kThread, noise);
	EXPECT_EQ(noise.longest_source, "unknown");
	ASSERT_EQ(noise.sources[0].name, "unknown");
	EXPECT_EQ(noise.sources[0].gaps, 1u);
	EXPECT_EQ(noise.sources[0].ns, 442'000u - 38'000 - 2'000 - 6'000);
	ASSERT_EQ(noise.sources[1].name, "hog");
	EXPECT_EQ(noise.sources[1].gaps, 0u) << "it had a tenth";
}

// The longest part of any gap is the task's, and the longest gap another one's.
TEST(Gaps, NameTheCauseOfTheLongestOne)
{
	path::Observations seen = observed();
	seen.cpus[0].interrupts.push_back({200'000, 230'000, ICEPATH_INTERRUPT_DEVICE, 7, 3, {}, kThread, false});
	model::CpuNoise noise;
	const std::vector<Gap> gaps = {{9'000, 51'000}, {199'000, 243'000}};
	add(spun_over(gaps), gaps, &seen, kThread, noise);
	EXPECT_EQ(noise.longest_source, "interrupt 7");
	const std::vector<Gap> shorter = {{99'500, 107'000}};
	add(spun_over(shorter), shorter, &seen, kThread, noise);
	EXPECT_EQ(noise.longest_source, "interrupt 7");
	Spun longer = spun_over(shorter); // one for which there was no room
	longer.gaps++;
	longer.longest_ns = 100'000;
	add(longer, shorter, &seen, kThread, noise);
	EXPECT_EQ(noise.longest_source, "unknown");
}

TEST(Gaps, ForWhichThereWasNoRoomCountAsUnknown)
{
	const std::vector<Gap> gaps = {{99'500, 107'000}};
	Spun spun = spun_over(gaps);
	spun.gaps += 10;
	spun.ns += 20'000;
	const path::Observations seen = observed();
	model::CpuNoise noise;
	add(spun, gaps, &seen, kThread, noise);
	ASSERT_EQ(noise.sources.size(), 2u);
	EXPECT_EQ(noise.sources[0], (model::NoiseSource{"unknown", 10, 20'000 + 1'500, 7'500}));
}

TEST(Gaps, AddUpOverWindowsAndWithoutACapture)
{
	const std::vector<Gap> gaps = {{99'500, 107'000}};
	model::CpuNoise noise;
	add(spun_over(gaps), gaps, nullptr, kThread, noise);
	add(spun_over(gaps), gaps, nullptr, kThread, noise);
	EXPECT_EQ(noise, (model::CpuNoise{0, 2'000'000, 2, 15'000, 7'500, {}, ""}));
}

TEST(Spinning, FindsTheTimeInWhichItDidNotRun)
{
	std::array<Gap, 4> room;
	constexpr uint64_t kNs = 20'000'000;
	const Spun spun = spin(kNs, room);
	EXPECT_GE(spun.end_ns - spun.begin_ns, kNs);
	EXPECT_LE(spun.ns, spun.end_ns - spun.begin_ns);
	uint64_t last_ns = spun.begin_ns;
	for (size_t i = 0; i < std::min<size_t>(spun.gaps, room.size()); i++) {
		EXPECT_GT(room[i].ns(), kLeastGapNs);
		EXPECT_GE(room[i].begin_ns, last_ns);
		last_ns = room[i].end_ns;
	}
}

} // namespace
} // namespace icepath::noise
