// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the kernel by which expiring timers are told. Addresses stay in the process that loads the programs.
#include <array>
#include <cstdint>
#include <string_view>

#include "ebpf/records.h"

namespace icepath::capture {

struct TimerFunction {
	std::string_view name;
	icepath_timer timer;
};
// The tick first: ebpf/interrupts.bpf.h tells no timer without it.
inline constexpr std::array kTimerFunctions = {
	TimerFunction{"tick_nohz_handler", ICEPATH_TIMER_TICK}, // since 6.9; tick_sched_timer() before
	TimerFunction{"hrtimer_wakeup", ICEPATH_TIMER_WAKES},
	TimerFunction{"process_timeout", ICEPATH_TIMER_WAKES},
	TimerFunction{"tcp_pace_kick", ICEPATH_TIMER_PACING},
	TimerFunction{"tcp_write_timer", ICEPATH_TIMER_RESEND},
	TimerFunction{"tcp_delack_timer", ICEPATH_TIMER_DELAYED_ACK},
	TimerFunction{"timerfd_tmrproc", ICEPATH_TIMER_PROGRAM},
	TimerFunction{"it_real_fn", ICEPATH_TIMER_PROGRAM},
	TimerFunction{"posix_timer_fn", ICEPATH_TIMER_PROGRAM},
	TimerFunction{"perf_swevent_hrtimer", ICEPATH_TIMER_PERF},
};
static_assert(kTimerFunctions.size() <= ICEPATH_TIMER_FUNCTIONS);
inline constexpr std::string_view kTickBefore6_9 = "tick_sched_timer";

using TimerFunctions = std::array<icepath_timer_function, ICEPATH_TIMER_FUNCTIONS>;

// Of the text of /proc/kallsyms. Of two symbols of one name the first counts: the kernel's own stand before modules'.
TimerFunctions timer_functions(std::string_view kallsyms);

} // namespace icepath::capture
