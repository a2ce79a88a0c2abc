// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/two_sides.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cpuset/affinity.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "tests/bench/shared_memory.h"

namespace icepath::bench {
namespace {

constexpr int kMostMs = 20000;

// A process that does one thing.
class Side {
public:
	Side(uint32_t cpu, const std::function<void()> &work)
	{
		const pid_t parent = getpid();
		pid_ = fork();
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent || cpuset::pin(0, cpu))
				_exit(1);
			work();
			_exit(0);
		}
		if (pid_ < 0)
			throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork: {}", std::strerror(errno)));
		pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
	}
	~Side()
	{
		if (pid_ < 0)
			return;
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Side(const Side &) = delete;
	Side &operator=(const Side &) = delete;

	void await_end()
	{
		pollfd ended{pidfd_.get(), POLLIN, 0};
		int status = 0;
		if (poll(&ended, 1, kMostMs) != 1 || waitpid(pid_, &status, 0) != pid_)
			throw Failure(ExitCode::Invalid, fmt::format("a bare ping-pong took more than {} ms", kMostMs));
		pid_ = -1;
		if (status != 0)
			throw Failure(ExitCode::Invalid, "a side of a bare ping-pong couldn't be pinned, or failed");
	}

private:
	pid_t pid_ = -1;
	Fd pidfd_;
};

} // namespace

std::vector<double> run_two_sides(CpuPair cpus, size_t room, const std::function<void(double *values)> &initiate,
								  const std::function<void()> &respond)
{
	SharedMemory memory(room * sizeof(double));
	auto *values = static_cast<double *>(memory.data());
	Side responder(cpus.responder, respond);
	Side initiator(cpus.initiator, [&] { initiate(values); });
	initiator.await_end();
	responder.await_end();
	return {values, values + room};
}

} // namespace icepath::bench
