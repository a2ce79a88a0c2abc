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

#include "icepath/plugin.h"
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

// Mostly a sleep lasts longer than asked for by less than this.
constexpr uint64_t kSpinNs = 1'000'000;

// Returns at once for less than kSpinNs.
void sleep_before(uint64_t ns)
{
	if (ns <= kSpinNs)
		return;
	const timespec most = {static_cast<time_t>((ns - kSpinNs) / 1'000'000'000),
						   static_cast<long>((ns - kSpinNs) % 1'000'000'000)};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &most, nullptr);
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

// A timer's first period begins as its event is enabled, or as an enabled one is given its period again.
void SamplingTimers::start(uint64_t period_ns)
{
	constexpr int kMostTries = 8; // each takes up to a period
	const uint64_t share_ns = period_ns / std::max<size_t>(events_.size(), 1);
	uint64_t begin_ns = 0; // of the first event's period
	for (size_t i = 0; i < events_.size(); i++)
		for (int tries = 0; tries < kMostTries; tries++) {
			// The timers don't expire at the same time on all CPUs. Otherwise the interrupt of a thread that holds a
			// lock would always be sampled on other CPUs as their wait. A sleep alone lasts longer than asked for, by a
			// third of a short period.
			const auto late_ns = [&] { return (icepath_now_ns() - begin_ns + period_ns - i * share_ns) % period_ns; };
			while (i > 0 && late_ns() > std::max<uint64_t>(share_ns / 8, 1000))
				sleep_before(period_ns - late_ns());
			if (ioctl(events_[i], PERF_EVENT_IOC_PERIOD, &period_ns) || ioctl(events_[i], PERF_EVENT_IOC_ENABLE, 0)) {
				const Failure failure = no_samples("a timer can't be started");
				stop();
				throw failure;
			}
			if (i == 0)
				begin_ns = icepath_now_ns();
			if (i == 0 || late_ns() < share_ns / 4)
				break;
		}
}

void SamplingTimers::stop()
{
	for (const int event : events_)
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

} // namespace icepath::capture
