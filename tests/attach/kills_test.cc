// SPDX-License-Identifier: Apache-2.0
// Whenever icepath or its helper is killed: the program goes on, and nothing of icepath is left.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

std::set<uint32_t> bpf_programs()
{
	std::set<uint32_t> numbers;
	bpf_attr next{};
	while (syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &next, sizeof(next)) == 0) {
		numbers.insert(next.next_id);
		next.start_id = next.next_id;
	}
	return numbers;
}

// Whether it has ended, reaped or not.
bool is_gone(pid_t process)
{
	for (int i = 0; i < 1000; i++) {
		std::ifstream stat(fmt::format("/proc/{}/stat", process));
		std::string text;
		std::getline(stat, text);
		if (text.empty() || text.find(") Z") != std::string::npos)
			return true;
		usleep(10'000);
	}
	return false;
}

// Watches until it is killed. Tells in shared.tids[0] who the helper is.
void watch_for_ever(pid_t process, Shared &shared)
{
	const std::vector<OpenTarget> targets = open_targets({process});
	privilege::Helper helper(privilege::invoking_user());
	shared.tids[0] = static_cast<uint32_t>(helper.pid());
	(void)helper.take_target(targets[0].pidfd.get());
	model::Head head;
	head.attached.emplace();
	const std::string directory =
		fmt::format("{}/attach-killed-{}", std::filesystem::temp_directory_path().string(), getppid());
	std::filesystem::remove_all(directory);
	try {
		watch(targets, head, {directory, 0}, helper, [] { return false; });
	} catch (const std::exception &) { // the helper was killed
	}
}

TEST(Kills, LeaveTheProgramAsItIs)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	int ends[2];
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	Program program([&](Shared &shared) {
		shared.is_ready = 1;
		for (uint64_t number = 0; read(ends[1], &number, sizeof(number)) == sizeof(number);) {
			number = number * 3 + 1;
			if (write(ends[1], &number, sizeof(number)) != sizeof(number))
				_exit(1);
		}
	});
	program.await_ready();
	const auto talk = [&](std::mt19937_64 &random) {
		for (int i = 0; i < 200; i++) {
			const uint64_t asked = random();
			uint64_t answer = 0;
			if (write(ends[0], &asked, sizeof(asked)) != sizeof(asked) ||
				read(ends[0], &answer, sizeof(answer)) != sizeof(answer) || answer != asked * 3 + 1)
				return false;
		}
		return true;
	};
	const std::set<uint32_t> before = bpf_programs();
	std::mt19937_64 random(20261128);
	for (int i = 0; i < 20; i++) {
		pid_t helper = 0;
		{
			Program icepath([&](Shared &shared) { watch_for_ever(program.pid(), shared); });
			await(icepath.shared().tids[0]);
			helper = static_cast<pid_t>(icepath.shared().tids[0].load());
			const uint64_t until = 1 + random() % 1'200'000;
			for (uint64_t waited = 0; waited < until; waited += 20'000) {
				ASSERT_TRUE(talk(random)) << i;
				usleep(20'000);
			}
			kill(i % 2 ? helper : icepath.pid(), SIGKILL);
		}
		ASSERT_TRUE(talk(random)) << i;
		ASSERT_TRUE(is_gone(helper)) << i;
	}
	std::set<uint32_t> left;
	for (int tries = 0; tries < 300; tries++) { // the kernel frees them a little later
		left.clear();
		for (const uint32_t number : bpf_programs())
			if (!before.contains(number))
				left.insert(number);
		if (left.empty())
			break;
		usleep(10'000);
	}
	EXPECT_TRUE(left.empty()) << left.size();
	std::filesystem::remove_all(
		fmt::format("{}/attach-killed-{}", std::filesystem::temp_directory_path().string(), getpid()));
	close(ends[0]);
}

} // namespace
} // namespace icepath::attach
