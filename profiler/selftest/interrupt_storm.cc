// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/interrupt_storm.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spinning_program.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
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
