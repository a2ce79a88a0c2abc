// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/beside.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <vector>

namespace icepath::selftest {

bool sleep_for(uint64_t ns)
{
	const timespec pause{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
	return ns == 0 || nanosleep(&pause, nullptr) == 0 || errno == EINTR;
}

pid_t start_beside(const char *name, void (*work)(void *with, std::span<const int> kept), void *with,
				   std::span<const int> kept)
{
	const pid_t parent = getpid(), process = fork();
	if (process != 0)
		return process;
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	// A worker's descriptors would hide its end from its peers. The kept ones are moved first, so none collide.
	constexpr int kFirst = STDERR_FILENO + 1;
	std::vector<int> there(kept.begin(), kept.end());
	const int after = kFirst + static_cast<int>(there.size());
	for (int &fd : there)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, after);
	for (int i = 0; i < after - kFirst; i++)
		there[i] = dup3(there[i], kFirst + i, O_CLOEXEC);
	close_range(static_cast<unsigned>(after), ~0u, 0);
	work(with, there);
	_exit(0);
}

void end_beside(pid_t process)
{
	if (process <= 0)
		return;
	kill(process, SIGKILL); // not reaped yet, so the process id is still its own
	waitpid(process, nullptr, 0);
}

} // namespace icepath::selftest
