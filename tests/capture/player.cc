// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/player.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iterator>
#include <string>
#include <string_view>

#include "cpuset/affinity.h"

namespace icepath::capture {

Player::Player(uint32_t cpu, const std::function<bool(int turn)> &play)
	: start_(eventfd(0, EFD_CLOEXEC)), done_(eventfd(0, EFD_CLOEXEC))
{
	EXPECT_GE(start_, 0);
	EXPECT_GE(done_, 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cpuset::pin(0, cpu))
			_exit(1);
		eventfd_t count = 0;
		for (int turn = 0; eventfd_read(start_, &count) == 0; turn++)
			if (!play(turn) || eventfd_write(done_, 1))
				_exit(2);
		_exit(3);
	}
	pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

Player::~Player()
{
	syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
	waitpid(pid, nullptr, 0);
	for (const int fd : {pidfd, start_, done_})
		close(fd);
}

void Player::go() const { EXPECT_EQ(eventfd_write(start_, 1), 0); }

void Player::await() const
{
	pollfd either[] = {{done_, POLLIN, 0}, {pidfd, POLLIN, 0}}; // it may have ended
	EXPECT_GT(poll(either, std::size(either), -1), 0);
	eventfd_t count = 0;
	EXPECT_TRUE((either[0].revents & POLLIN) != 0 && eventfd_read(done_, &count) == 0) << "it gave up";
}

bool is_asleep(pid_t pid)
{
	std::array<char, 512> stat{};
	const int file = open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
	const ssize_t size = read(file, stat.data(), stat.size() - 1);
	close(file);
	const std::string_view text(stat.data(), size > 0 ? static_cast<size_t>(size) : 0);
	const size_t name_end = text.rfind(')');
	return name_end != std::string_view::npos && text.substr(name_end).starts_with(") S");
}

} // namespace icepath::capture
