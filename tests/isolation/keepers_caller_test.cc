// SPDX-License-Identifier: Apache-2.0
// The keeper isn't in the hands of who called icepath: what it has inherited, what it refuses, and what it tells of
// what that user still has. callers_hands_test.cc tries what freezes or starves.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "cpuset/affinity.h"
#include "cpuset/cpulist.h"
#include "profiler/failure.h"
#include "profiler/isolation/keeper.h"
#include "profiler/isolation/tune.h"
#include "tests/isolation/keeper_fixture.h"
#include "tests/isolation/raw_keeper.h"

namespace icepath::isolation {
namespace {

namespace fs = std::filesystem;
using Kind = KeeperRequest::Kind;

class KeepersCaller : public KeeperTest {};

// What a process inherits, and by what its caller could end, stop or starve it.
struct Inherited {
	std::set<std::string> groups;
	std::map<std::string, std::string> limits, status;
	std::string session, policy, nice, oom_score_adj, standard_descriptors;
};

std::string first_line_of(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	std::getline(file, line);
	return line;
}

Inherited inherited_by(pid_t process)
{
	const std::string folder = fmt::format("/proc/{}/", process);
	Inherited all;
	std::ifstream groups(folder + "cgroup"), limits(folder + "limits"), status(folder + "status");
	for (std::string line; std::getline(groups, line);)
		all.groups.insert(line.substr(line.rfind(':') + 1));
	constexpr size_t kName = 26; // "%-25s %-20s %-20s", proc_pid_limits() of fs/proc/base.c
	for (std::string line; std::getline(limits, line);)
		all.limits[line.substr(0, line.find("  "))] = line.substr(kName, line.find(' ', kName) - kName);
	for (std::string line; std::getline(status, line);)
		all.status[line.substr(0, line.find(':'))] = line.substr(line.find(':') + 2);
	std::istringstream stat(first_line_of(folder + "stat").substr(first_line_of(folder + "stat").rfind(')') + 2));
	std::vector<std::string> fields(std::istream_iterator<std::string>(stat), {}); // from the third on
	all.session = fields.at(6 - 3);
	all.nice = fields.at(19 - 3);
	all.policy = fields.at(41 - 3);
	all.oom_score_adj = first_line_of(folder + "oom_score_adj");
	for (const char *number : {"0", "1", "2"})
		all.standard_descriptors += fs::read_symlink(folder + "fd/" + number).string() + " ";
	return all;
}

TEST_F(KeepersCaller, HasNothingByWhichItsCallerCouldHoldIt)
{
	int told[2];
	ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
	const pid_t icepath = fork();
	if (icepath == 0) {
		for (const auto &[resource, soft] : {std::pair{RLIMIT_CPU, 1000},
											 {RLIMIT_FSIZE, 1 << 20},
											 {RLIMIT_AS, 1 << 30},
											 {RLIMIT_DATA, 1 << 30},
											 {RLIMIT_STACK, 1 << 20},
											 {RLIMIT_NOFILE, 128}}) {
			rlimit limit{};
			getrlimit(resource, &limit);
			limit.rlim_cur = static_cast<rlim_t>(soft);
			setrlimit(resource, &limit);
		}
		umask(0777);
		setpriority(PRIO_PROCESS, 0, 19);
		const sched_param none{};
		sched_setscheduler(0, SCHED_IDLE, &none);
		(void)cpuset::confine_process({cpu});
		std::ofstream("/proc/self/oom_score_adj") << "1000" << std::flush;
		auto *keeper = new RawKeeper; // ends with this process
		const pid_t number = keeper->ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code == 0 ? keeper->pid() : -1;
		(void)!write(told[1], &number, sizeof(number));
		for (;;)
			pause();
	}
	pid_t keeper = -1;
	ASSERT_EQ(read(told[0], &keeper, sizeof(keeper)), static_cast<ssize_t>(sizeof(keeper)));
	ASSERT_GT(keeper, 0);
	const Inherited all = inherited_by(keeper);
	EXPECT_EQ(all.groups, std::set<std::string>{"/"});
	for (const char *name :
		 {"Max cpu time", "Max file size", "Max address space", "Max data size", "Max realtime timeout"})
		EXPECT_EQ(all.limits.at(name), "unlimited") << name;
	EXPECT_NE(all.limits.at("Max open files"), "128");
	EXPECT_NE(all.limits.at("Max stack size"), std::to_string(1 << 20));
	EXPECT_EQ(all.session, std::to_string(keeper));
	EXPECT_EQ(all.policy, std::to_string(SCHED_OTHER));
	EXPECT_EQ(all.nice, "0");
	EXPECT_EQ(all.standard_descriptors, "/dev/null /dev/null /dev/null ");
	EXPECT_EQ(all.status.at("Umask"), "0022");
	const auto may_run_on = cpuset::parse_cpulist(all.status.at("Cpus_allowed_list"));
	EXPECT_TRUE(may_run_on && !cpuset::contains(*may_run_on, cpu)) << "it is isolated now";
	EXPECT_TRUE(all.oom_score_adj == "-1000" || all.oom_score_adj == "0") << all.oom_score_adj;
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	EXPECT_EQ(knobs_after(before), before);
	close(told[0]);
	close(told[1]);
}

// As where root lacks CAP_SYS_RESOURCE: it can raise no limit beyond what its caller has left.
TEST_F(KeepersCaller, ChangesNothingIfItCannotLeaveItsCaller)
{
	const pid_t icepath = fork();
	if (icepath == 0) {
		const rlimit limit{1 << 20, 1 << 20};
		__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
		std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
		syscall(SYS_capget, &header, sets.data());
		sets[0].effective &= ~(1u << CAP_SYS_RESOURCE);
		sets[0].permitted &= ~(1u << CAP_SYS_RESOURCE);
		if (syscall(SYS_capset, &header, sets.data()) || setrlimit(RLIMIT_FSIZE, &limit))
			_exit(2);
		RawKeeper keeper;
		for (KeeperRequest request : {request_of(Kind::Isolate, {cpu}), request_of(Kind::Tune)}) {
			request.tunings[0] = {0, 0, kMostSocketBytes};
			request.tuning_count = request.kind == Kind::Tune ? 1 : 0;
			const auto replies = keeper.ask(request);
			if (replies.empty() || replies[0].exit_code != static_cast<int>(ExitCode::MachineCannot) ||
				replies[0].text.data() !=
					std::string("this machine isn't changed, since whoever calls icepath could end or stop the process "
								"that restores it: file size (ulimit -Hf): Operation not permitted"))
				_exit(1);
		}
		_exit(0);
	}
	int status = -1;
	waitpid(icepath, &status, 0);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(knobs_of_this_machine(), before);
}

// In a terminal's session the user may make any of its process groups the one in the foreground, which gets Ctrl-\.
TEST_F(KeepersCaller, IsNotInTheTerminalsSession)
{
	const Fd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	ASSERT_TRUE(terminal && grantpt(terminal.get()) == 0 && unlockpt(terminal.get()) == 0);
	int told[2];
	ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
	const pid_t icepath = fork();
	if (icepath == 0) {
		setsid();
		const Fd side(open(ptsname(terminal.get()), O_RDWR | O_CLOEXEC)); // becomes this session's terminal
		signal(SIGTTOU, SIG_IGN);
		auto *keeper = new RawKeeper;
		keeper->ask(request_of(Kind::Isolate, {cpu}));
		tcsetpgrp(side.get(), getpgid(keeper->pid()));
		const pid_t number = keeper->pid();
		(void)!write(told[1], &number, sizeof(number));
		for (;;)
			pause();
	}
	pid_t keeper = -1;
	ASSERT_EQ(read(told[0], &keeper, sizeof(keeper)), static_cast<ssize_t>(sizeof(keeper)));
	EXPECT_NE(knobs_of_this_machine(), before);
	ASSERT_EQ(write(terminal.get(), "\x1c\x1a", 2), 2); // Ctrl-\ and Ctrl-Z
	poll(nullptr, 0, 100); // both have come by then
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	EXPECT_EQ(knobs_after(before), before);
	EXPECT_FALSE(journal_is_left(tree));
	close(told[0]);
	close(told[1]);
}

TEST_F(KeepersCaller, TellsOfHugePagesThatAreStillInUse)
{
	constexpr size_t kPage = 2 << 20;
	if (first_line_of("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages") != before["proc/sys/vm/nr_hugepages"])
		GTEST_SKIP() << "huge pages have another size";
	const auto limit = static_cast<uint32_t>(
		std::ranges::find(kLimits, std::string_view("vm.nr_hugepages"), &Limit::name) - std::begin(kLimits));
	const auto surplus = [] { return first_line_of("/sys/kernel/mm/hugepages/hugepages-2048kB/surplus_hugepages"); };
	const std::string old_surplus = surplus();
	Keeper keeper(nobody());
	const uint64_t wanted = std::stoull(before["proc/sys/vm/nr_hugepages"]) + 3;
	ASSERT_EQ(keeper.tune({{limit, 0, wanted}}).at(0).state, cpuset::StepState::Done);
	// All that are free, so that some of the run's are among them.
	const size_t length =
		std::stoull(first_line_of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")) * kPage;
	void *pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	ASSERT_NE(pages, MAP_FAILED);
	std::memset(pages, 1, length);
	const auto told = keeper.put_back();
	EXPECT_EQ(std::stoull(surplus()), std::stoull(old_surplus) + 3);
	ASSERT_EQ(told.size(), 1u);
	EXPECT_EQ(told[0], "3 huge pages (6144 KiB) that were added for the run are still in use, and go once the programs "
					   "that have mapped them end (HugePages_Surp in /proc/meminfo)");
	munmap(pages, length);
	EXPECT_EQ(surplus(), old_surplus);
	EXPECT_EQ(knobs_of_this_machine(), before);
}

} // namespace
} // namespace icepath::isolation
