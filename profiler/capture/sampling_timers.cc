// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/sampling_timers.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "profiler/failure.h"

namespace icepath::capture {
namespace {

Failure no_samples(const char *what)
{
	return Failure(ExitCode::MachineCannot,
				   fmt::format("cannot sample functions (--stacks): {}: {}{}", what, std::strerror(errno),
							   errno == EACCES ? " (kernel.perf_event_paranoid leaves perf events to root)" : ""));
}

// One event for a CPU: an event for each thread would lengthen all its context switches, even where it never expires.
int open_event(uint32_t cpu)
{
	perf_event_attr event{};
	event.size = sizeof(event);
	event.type = PERF_TYPE_SOFTWARE;
	event.config = PERF_COUNT_SW_CPU_CLOCK;
	event.sample_period = kLongestPeriodNs;
	event.disabled = 1;
	event.exclude_idle = 1;
	return static_cast<int>(syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

} // namespace

SamplingTimers::SamplingTimers(int program, const std::vector<uint32_t> &cpus)
{
	for (const uint32_t cpu : cpus) {
		events_.push_back(open_event(cpu));
		if (events_.back() < 0 || ioctl(events_.back(), PERF_EVENT_IOC_SET_BPF, program)) {
			const Failure failure = no_samples("a timer can't be opened");
			close_all();
			throw failure;
		}
	}
}

SamplingTimers::~SamplingTimers() { close_all(); }

void SamplingTimers::close_all()
{
	for (const int event : events_)
		if (event >= 0)
			close(event);
}

void SamplingTimers::start(uint64_t period_ns)
{
	// Not at the same time on all CPUs: one that is held up with a lock would always be seen by others as their wait.
	const timespec apart = {0, static_cast<long>(period_ns / std::max<size_t>(events_.size(), 1))};
	for (const int event : events_) {
		if (ioctl(event, PERF_EVENT_IOC_PERIOD, &period_ns) || ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
			const Failure failure = no_samples("a timer can't be started");
			stop();
			throw failure;
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &apart, nullptr);
	}
}

void SamplingTimers::stop()
{
	for (const int event : events_)
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

} // namespace icepath::capture
