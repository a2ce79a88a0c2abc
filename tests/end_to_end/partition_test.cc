// SPDX-License-Identifier: Apache-2.0
// `--isolate full` where cgroup v2 has partitions: a busy task for each CPU, pinned nowhere, stays off the run's CPUs.
// Takes four CPUs and minutes of an emulated machine: tests/vm runs it, `make test` doesn't.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <thread>

#include "icepath/plugin.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

constexpr size_t kCpus = 4;
constexpr uint32_t kFirst = 2, kSecond = 3; // the run's

// Busy tasks that note on which CPU their time is spent.
class Hogs {
public:
	using Times = std::array<uint64_t, kCpus>; // ns by CPU

	Hogs()
		: times_(static_cast<Shared *>(
			  mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)))
	{
		for (size_t i = 0; i < kCpus; i++)
			if ((pids_[i] = fork()) == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				spin();
			}
	}
	~Hogs()
	{
		for (const pid_t pid : pids_) {
			kill(pid, SIGKILL);
			waitpid(pid, nullptr, 0);
		}
		munmap(times_, sizeof(Shared));
	}
	Hogs(const Hogs &) = delete;
	Hogs &operator=(const Hogs &) = delete;

	Times times() const
	{
		Times times{};
		for (size_t cpu = 0; cpu < kCpus; cpu++)
			times[cpu] = (*times_)[cpu];
		return times;
	}

private:
	using Shared = std::array<std::atomic<uint64_t>, kCpus>;

	[[noreturn]] void spin()
	{
		// Between two looks that are further apart, the task hadn't the CPU.
		constexpr uint64_t kLongestLookNs = 500'000;
		uint64_t before_ns = icepath_now_ns();
		for (int cpu = sched_getcpu();;) {
			const uint64_t now_ns = icepath_now_ns();
			const int now_on = sched_getcpu();
			if (now_on == cpu && now_ns - before_ns < kLongestLookNs)
				(*times_)[static_cast<size_t>(cpu) % kCpus] += now_ns - before_ns;
			cpu = now_on;
			before_ns = now_ns;
		}
	}

	Shared *times_;
	std::array<pid_t, kCpus> pids_{};
};

bool has_partitions()
{
	utsname kernel{};
	uname(&kernel);
	int major = 0, minor = 0;
	std::sscanf(kernel.release, "%d.%d", &major, &minor);
	return major > 6 || (major == 6 && minor >= 2);
}

// Share of the busy tasks' time on the run's CPUs, from the second round on until they have spent `kEnough` of it, or
// the run is over. An emulated machine may take minutes for a round, so the run has more time than it needs, and is
// interrupted.
double share_under(const std::string &level)
{
	constexpr uint64_t kEnough = 20'000'000'000; // ns
	const auto sum = [](const Hogs::Times &times) { return std::accumulate(times.begin(), times.end(), uint64_t{0}); };
	const Traces before = traces_before();
	const Folder folder;
	Hogs::Times first{}, last{};
	bool admitted = level != "full" || !has_partitions();
	{
		const Hogs hogs;
		Running icepath({icepath_program(), "run", "-t", "uds-stream", "-s", "64", "--patterns", "pingpong", "-d",
						 "600", "-o", "out", "--isolate", level, "--cpus", fmt::format("{},{}", kFirst, kSecond)},
						folder.path());
		for (int i = 0; i < 20000 && icepath.err_so_far().find("round 2") == std::string::npos; i++)
			std::this_thread::sleep_for(10ms);
		first = last = hogs.times();
		while (!children_named(icepath.pid(), "initiator").empty() && sum(last) - sum(first) < kEnough) {
			const Hogs::Times now = hogs.times();
			if (level == "full" && has_partitions()) {
				const std::string kind = first_line("/sys/fs/cgroup/icepath/cpuset.cpus.partition");
				const std::string members = first_line("/sys/fs/cgroup/icepath/run/cgroup.procs");
				if (children_named(icepath.pid(), "initiator").empty())
					break; // it may be over by now
				EXPECT_EQ(kind, "isolated");
				admitted = admitted || !members.empty(); // not while processes start anew
			}
			last = now;
			std::this_thread::sleep_for(50ms);
		}
		icepath.signal(SIGINT);
		const Outcome outcome = icepath.wait(300s);
		EXPECT_EQ(outcome.exit_code, 130) << outcome.err << outcome.out;
	}
	const auto run = read_json(folder.path() / "out/run.json");
	EXPECT_EQ(run.at("machine_state").at("wake_ns").size(), 2u) << "of the run's CPUs, also in a partition";
	const auto steps = run.at("isolation").at("steps");
	std::map<std::string, std::string> states;
	for (const auto &step : steps)
		states[step.at("name")] = step.at("state");
	if (level == "full") {
		EXPECT_EQ(states["partition"], has_partitions() ? "done" : "not_possible") << steps.dump(2);
		for (const char *step : {"interrupts", "workqueues", "statistics"})
			EXPECT_NE(states[step], "not_possible") << steps.dump(2);
	}
	EXPECT_TRUE(admitted) << "the workers were never in the partition";
	EXPECT_EQ(traces_after(before), before);
	Hogs::Times spent{};
	for (size_t cpu = 0; cpu < kCpus; cpu++)
		spent[cpu] = last[cpu] - first[cpu];
	const uint64_t all = sum(spent);
	EXPECT_GT(all, 100'000'000u) << "the busy tasks weren't busy";
	return static_cast<double>(spent[kFirst] + spent[kSecond]) / static_cast<double>(std::max<uint64_t>(all, 1));
}

TEST(Partition, KeepsBusyTasksOffTheRunsCpus)
{
	ASSERT_EQ(geteuid(), 0u);
	ASSERT_GE(std::thread::hardware_concurrency(), kCpus);
	const double without = share_under("none"), with = share_under("full");
	std::printf("busy tasks spend %.3f %% of their time on the run's CPUs with none, %.3f %% with full\n",
				100 * without, 100 * with);
	EXPECT_GT(without, 0.01);
	if (has_partitions()) {
		EXPECT_LT(with, 0.001);
	}
}

} // namespace
} // namespace icepath::end_to_end
