// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/origin.h"

#include <algorithm>

#include "ebpf/contexts.h"

namespace icepath::analysis {
namespace {

// The tick is a timer interrupt (tick_nohz_handler()), which raises these softirqs (include/linux/interrupt.h):
// TIMER for the timer wheel (run_local_timers()), SCHED (sched_balance_trigger()), RCU (rcu_sched_clock_irq()).
bool is_of_tick(const path::Culprit &who)
{
	constexpr uint32_t kTimer = 1, kSched = 7, kRcu = 9;
	if (who.interrupt == ICEPATH_INTERRUPT_SOFTIRQ)
		return who.id == kTimer || who.id == kSched || who.id == kRcu;
	return who.interrupt == ICEPATH_INTERRUPT_TIMER;
}

Origin of_interrupt(const path::Culprit &who, bool slept)
{
	using Work = path::Culprit::Work;
	switch (who.work) {
	case Work::OwnPackets:
		return Origin::OwnWork;
	case Work::OwnTimer:
		return Origin::OwnTimer;
	case Work::OtherTimer:
		return Origin::OthersInterrupt;
	case Work::NotTold:
		break;
	}
	return !slept && is_of_tick(who) ? Origin::Tick : Origin::OthersInterrupt;
}

} // namespace

Origin origin_of(const path::Culprit &who, bool slept, const path::Observations &seen)
{
	using Kind = path::Culprit::Kind;
	switch (who.kind) {
	case Kind::Task:
		return path::is_of_another_cell(seen, who.id)                            ? Origin::OtherTarget
			   : path::is_of_cell(seen, who.id) || seen.helpers.contains(who.id) ? Origin::OwnThread
																				 : Origin::OthersTask;
	case Kind::Interrupt:
		return of_interrupt(who, slept);
	case Kind::Throttled:
		return Origin::Limit;
	case Kind::IdleCpu:
		return Origin::IdleCpu;
	case Kind::None:
	case Kind::Unknown:
		break;
	}
	return Origin::Unknown;
}

Owner owner_of(uint32_t tid, const path::Observations &seen)
{
	if (seen.helpers.contains(tid))
		return Owner::Kernel;
	const auto thread = seen.threads.find(tid);
	if (thread == seen.threads.end() || path::is_of_another_cell(seen, tid))
		return Owner::None;
	if (!thread->second.followed)
		return Owner::Side;
	const bool is_of_side = std::ranges::any_of(seen.threads, [&](const auto &other) {
		return !other.second.followed && other.second.process == thread->second.process;
	});
	return is_of_side ? Owner::Library : Owner::Daemon;
}

std::string without_numbers(std::string_view name)
{
	const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
	std::string text;
	for (const char one : name)
		if (!is_digit(one))
			text += one;
		else if (text.empty() || text.back() != '*')
			text += '*';
	return text;
}

} // namespace icepath::analysis
