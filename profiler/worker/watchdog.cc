// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/watchdog.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::worker {
namespace {

constexpr int kInterrupt = SIGUSR2;
// Repeated, because a signal that arrives just before a blocking call interrupts nothing.
constexpr uint64_t kRepeatNs = 10'000'000;

// A side that spins under SCHED_FIFO would keep a thread of its own priority off its CPU, the watchdog included.
void outrank_this_thread(pthread_t watchdog)
{
	// Asks the kernel: pthread_getschedparam() doesn't know what sched_setscheduler() set.
	sched_param parameters{};
	if (sched_getscheduler(0) != SCHED_FIFO || sched_getparam(0, &parameters))
		return;
	parameters.sched_priority = std::min(parameters.sched_priority + 1, sched_get_priority_max(SCHED_FIFO));
	(void)pthread_setschedparam(watchdog, SCHED_FIFO, &parameters); // otherwise icepath ends the worker
}

} // namespace

void interrupt(pid_t tid) { syscall(SYS_tgkill, getpid(), tid, kInterrupt); }

Watchdog::Watchdog()
	: timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)), watched_(static_cast<pid_t>(syscall(SYS_gettid)))
{
	if (!timer_)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot make the watchdog's timer: {}", std::strerror(errno)));
	struct sigaction nothing{};
	nothing.sa_handler = [](int) {};
	sigaction(kInterrupt, &nothing, nullptr); // without SA_RESTART: the call fails with EINTR
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, kInterrupt);
	pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
	thread_ = std::thread([this] { watch(); });
	outrank_this_thread(thread_.native_handle());
}

Watchdog::~Watchdog()
{
	{
		const std::lock_guard lock(mutex_);
		leaving_ = true;
	}
	set_timer(1);
	thread_.join();
}

void Watchdog::set_timer(uint64_t at_ns)
{
	itimerspec when{};
	when.it_value = to_timespec(at_ns);
	when.it_interval = to_timespec(at_ns ? kRepeatNs : 0);
	timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Watchdog::arm(uint64_t at_ns, std::function<void()> cancel)
{
	{
		const std::lock_guard lock(mutex_);
		cancel_ = std::move(cancel);
	}
	set_timer(at_ns);
}

void Watchdog::disarm()
{
	set_timer(0);
	const std::lock_guard lock(mutex_);
	cancel_ = nullptr;
}

void Watchdog::watch()
{
	pthread_setname_np(pthread_self(), "watchdog");
	for (;;) {
		uint64_t expirations = 0;
		if (read(timer_.get(), &expirations, sizeof(expirations)) != sizeof(expirations))
			continue;
		const std::lock_guard lock(mutex_);
		if (leaving_)
			return;
		if (!cancel_)
			continue; // disarmed while this thread woke up
		cancel_();
		interrupt(watched_);
	}
}

} // namespace icepath::worker
