// SPDX-License-Identifier: Apache-2.0
// `--sched` during a run, seen from outside: the policy of every thread of the workers, and of icepath itself.
#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Policies = std::set<std::pair<int, int>>; // with the priority

Policies policies_of(pid_t pid)
{
	Policies policies;
	std::error_code gone;
	for (const auto &task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
		const pid_t tid = std::stoi(task.path().filename());
		sched_param parameters{};
		const int policy = sched_getscheduler(tid);
		if (policy >= 0 && sched_getparam(tid, &parameters) == 0)
			policies.insert({policy, parameters.sched_priority});
	}
	return policies;
}

// Root may give users the right to SCHED_FIFO if it has CAP_SYS_RESOURCE, which containers often take away.
bool users_can_have_it()
{
	rlimit before{};
	getrlimit(RLIMIT_RTPRIO, &before);
	const rlimit one{1, 1};
	const bool may = setrlimit(RLIMIT_RTPRIO, &one) == 0;
	setrlimit(RLIMIT_RTPRIO, &before);
	return may;
}

TEST(Sched, IsAUsersWhereRootCanGiveIt)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const passwd *nobody = getpwnam("nobody");
	ASSERT_NE(nobody, nullptr);
	const Folder folder;
	std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
	const Outcome outcome =
		run({icepath_program(), "run", "-t", "uds-stream", "-s", "64", "--sched", "fifo", "-d", "4", "-o", "out"},
			folder.path(), 60s,
			{{"SUDO_UID", std::to_string(nobody->pw_uid)}, {"SUDO_GID", std::to_string(nobody->pw_gid)}});
	if (users_can_have_it()) {
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		return;
	}
	EXPECT_EQ(outcome.exit_code, 3);
	EXPECT_NE(outcome.err.find("--sched: no process may run under SCHED_FIFO with priority 1 here"), std::string::npos)
		<< outcome.err;
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(Sched, IsThatOfTheSidesAlone)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	// zeromq has threads of its own.
	Running running({icepath_program(), "run", "-t", "uds-stream,zeromq/ipc", "-s", "64", "--patterns", "pingpong",
					 "--sched", "other,fifo:7", "-d", "5", "-o", "out"},
					folder.path());
	Outcome outcome;
	std::atomic<bool> is_over{false};
	std::thread ended([&] {
		outcome = running.wait(60s);
		is_over = true;
	});
	Policies sides, itself;
	size_t threads_under_fifo = 0;
	while (!is_over) {
		for (const char *name : {"initiator", "responder"})
			for (const pid_t pid : children_named(running.pid(), name)) {
				Policies policies = policies_of(pid);
				itself.merge(policies_of(running.pid())); // before there are workers, it tries whether it may
				const bool under_fifo = policies == Policies{{SCHED_FIFO, 7}, {SCHED_FIFO, 8}}; // 8: its watchdog
				std::error_code gone;
				if (under_fifo)
					threads_under_fifo =
						std::max(threads_under_fifo,
								 static_cast<size_t>(std::distance(std::filesystem::directory_iterator(
																	   "/proc/" + std::to_string(pid) + "/task", gone),
																   std::filesystem::directory_iterator())));
				sides.merge(policies);
			}
		std::this_thread::sleep_for(2ms);
	}
	ended.join();
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_EQ(sides, (Policies{{SCHED_OTHER, 0}, {SCHED_FIFO, 7}, {SCHED_FIFO, 8}}));
	EXPECT_EQ(itself, (Policies{{SCHED_OTHER, 0}}));
	const nlohmann::json run = read_json(folder.path() / "out/run.json");
	if (users_can_have_it())
		EXPECT_GT(threads_under_fifo, 2u) << "the library's threads have the policy of their side";
	else // in its user namespace, root is a user
		EXPECT_NE(run["notices"].dump().find("a worker can't run under SCHED_FIFO with priority 7"), std::string::npos)
			<< run["notices"].dump();
	std::set<uint64_t> priorities;
	for (const auto &cell : run["cells"]) {
		priorities.insert(cell["factors"]["fifo_priority"].get<uint64_t>());
		EXPECT_GE(cell["messages"]["complete"].get<double>(), 0.99 * cell["messages"]["probed"].get<double>()) << cell;
	}
	EXPECT_EQ(priorities, (std::set<uint64_t>{0, 7}));
}

} // namespace
} // namespace icepath::end_to_end
