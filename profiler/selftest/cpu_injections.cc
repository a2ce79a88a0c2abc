// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/cpu_injections.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/selftest/child.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spinning_program.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

// Below the kernel's limit for real-time tasks (sched_rt_runtime_us, 95 %), which would suspend it for a while.
constexpr uint64_t kRunsNs = 1'500'000;
constexpr uint64_t kSleepsNs = 500'000;
// By default, a task that slept precedes one that ran, unless the latter weighs more: here 87 times as much.
constexpr int kHeaviest = -20;

class Hog : public Effect {
public:
	Hog(const char *name, uint32_t cpu, const std::function<bool()> &prepare)
		: child_(name, cpu, prepare, [] {
			  for (;;) {
				  for (const uint64_t end_ns = icepath_now_ns() + stretched(kRunsNs); icepath_now_ns() < end_ns;) {
				  }
				  const timespec pause{0, static_cast<long>(stretched(kSleepsNs))};
				  nanosleep(&pause, nullptr);
			  }
		  })
	{}

private:
	Child child_;
};

} // namespace

std::unique_ptr<Effect> put_in_hog(const Subject &subject)
{
	return std::make_unique<Hog>("selftest-hog", subject.receiver_cpu,
								 [] { return setpriority(PRIO_PROCESS, 0, kHeaviest) == 0; });
}

std::unique_ptr<Effect> put_in_fifo_hog(const Subject &subject)
{
	return std::make_unique<Hog>("selftest-fifo", subject.receiver_cpu, [] {
		const sched_param above{kShieldPriority + 1};
		return sched_setscheduler(0, SCHED_FIFO, &above) == 0;
	});
}

namespace {

class DeepIdle : public Effect {
public:
	explicit DeepIdle(cpuset::KeptAwake &awake) : awake_(awake)
	{
		if (!awake_.works())
			throw Failure(ExitCode::MachineCannot,
						  "CPUs can't be kept from idling deeply to begin with: " + awake_.step().found);
		if (const cpuset::Problem problem = awake_.let_go())
			throw Failure(ExitCode::MachineCannot, *problem);
	}
	~DeepIdle() override { (void)awake_.hold(); } // which worked a moment ago

private:
	cpuset::KeptAwake &awake_;
};

} // namespace

std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject)
{
	return std::make_unique<DeepIdle>(subject.tools->awake);
}

namespace {

// The tick detects use beyond the quota, which the following periods pay for: with ticks 4 ms apart, a shorter quota
// would let the group run through several periods.
constexpr uint64_t kQuotaUs = 5'000, kPeriodUs = 20'000;

class Throttle : public Effect {
public:
	explicit Throttle(const Subject &subject)
		: group_(*subject.tools->throttled_group.get()), spender_("selftest-spend", subject.receiver_cpu)
	{
		group_.add(spender_.pid());
		if (subject.receiver > 0)
			group_.add(subject.receiver);
	}
	~Throttle() override { group_.put_all_back(); }

private:
	CpuGroup &group_;
	Spender spender_;
};

} // namespace

std::unique_ptr<CpuGroup> make_throttled_group()
{
	return std::make_unique<CpuGroup>(stretched(kQuotaUs), stretched(kPeriodUs));
}

std::unique_ptr<Effect> put_in_throttle(const Subject &subject) { return std::make_unique<Throttle>(subject); }

Spender::Spender(const char *name, uint32_t cpu)
	: Child(
		  name, cpu,
		  [] {
			  const sched_param none{0};
			  return sched_setscheduler(0, SCHED_IDLE, &none) == 0;
		  },
		  [] {
			  for (;;)
				  asm volatile("" ::: "memory");
		  })
{}

namespace {

// A hypervisor needs 10 µs and more to deliver an interrupt, before anything in the kernel sees it. That time counts to
// the sender's user mode, and must be small beside each interrupt's duration. Messages are sent every 2.5 ms, and each
// interrupt hits them at another phase: with commensurate periods, all blocks or none would be late, by their initial
// phase.
constexpr uint64_t kEveryNs = 4'045'000;
constexpr uint64_t kLastsNs = 1'600'000;

class InterruptStorm : public Effect {
public:
	// perf_swevent_hrtimer() runs in the timer's hard interrupt, and the program runs in it (bpf_overflow_handler).
	InterruptStorm(int program, uint32_t cpu)
	{
		perf_event_attr attributes{};
		attributes.size = sizeof(attributes);
		attributes.type = PERF_TYPE_SOFTWARE;
		attributes.config = PERF_COUNT_SW_CPU_CLOCK;
		attributes.sample_period = stretched(kEveryNs);
		attributes.disabled = 1;
		event_ = Fd(static_cast<int>(
			syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		if (!event_ || ioctl(event_.get(), PERF_EVENT_IOC_SET_BPF, program) ||
			ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0))
			throw Failure(ExitCode::MachineCannot, fmt::format("no perf event's timer on CPU {} with a BPF program: {}",
															   cpu, std::strerror(errno)));
	}

private:
	Fd event_;
};

} // namespace

Fd load_interrupt() { return spinning_program(BPF_PROG_TYPE_PERF_EVENT, stretched(kLastsNs), 0); }

std::unique_ptr<Effect> put_in_interrupt_storm(const Subject &subject)
{
	return std::make_unique<InterruptStorm>(subject.tools->interrupt.get().get(), subject.sender_cpu);
}

} // namespace icepath::selftest
