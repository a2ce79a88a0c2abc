// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "ebpf/contexts.h"
#include "profiler/path/timeline.h"

namespace icepath::path {
namespace {

// The instant until which a thread ran unless a period shows otherwise. A period is recorded when it ends. Where a
// thread is asleep at the block's end, its last period is known only if it is a worker.
uint64_t known_to_run_until(const Thread &thread)
{
	if (thread.followed)
		return thread.off.back().in_ns;
	return thread.still_off_since_ns ? thread.still_off_since_ns : UINT64_MAX;
}

// The kernel's softirq_to_name[].
constexpr std::array<std::string_view, 10> kSoftirqs = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
														"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

// What it is for, unless it is the tick.
std::string_view words_of_timer(uint8_t timer)
{
	switch (timer) {
	case ICEPATH_TIMER_WAKES:
		return " (woke a task)";
	case ICEPATH_TIMER_PACING:
		return " (TCP's pacing)";
	case ICEPATH_TIMER_RESEND:
		return " (TCP's retransmission timer)";
	case ICEPATH_TIMER_DELAYED_ACK:
		return " (TCP's delayed acknowledgement)";
	case ICEPATH_TIMER_PROGRAM:
		return " (a program's timer)";
	case ICEPATH_TIMER_PERF:
		return " (a perf event's timer)";
	case ICEPATH_TIMER_OTHER:
		return " (another timer)";
	default:
		return "";
	}
}

std::string interrupt_name(uint8_t kind, uint32_t vector)
{
	switch (kind) {
	case ICEPATH_INTERRUPT_SOFTIRQ:
		return vector < kSoftirqs.size() ? fmt::format("{} softirq", kSoftirqs[vector])
										 : fmt::format("softirq {}", vector);
	case ICEPATH_INTERRUPT_DEVICE:
		return fmt::format("interrupt {}", vector);
	case ICEPATH_INTERRUPT_TIMER:
		return "timer interrupt";
	case ICEPATH_INTERRUPT_RESCHEDULE:
		return "reschedule interrupt";
	case ICEPATH_INTERRUPT_CALL_FUNCTION:
		return "function call interrupt";
	case ICEPATH_INTERRUPT_IRQ_WORK:
		return "irq work interrupt";
	case ICEPATH_INTERRUPT_NMI:
		return "NMI";
	default:
		return fmt::format("interrupt of kind {}", kind);
	}
}

} // namespace

void SharingOut::add(const Culprit &who, uint64_t ns)
{
	if (ns == 0)
		return;
	const auto same = std::ranges::find(shares_, who, &Share::who);
	if (same != shares_.end())
		same->ns += ns;
	else
		shares_.push_back({0, who, ns});
}

// A softirq has its CPU except while other interrupts take it.
void SharingOut::add_interrupt(const Cpu &cpu, const Carved &outer)
{
	uint64_t at_ns = outer.begin_ns, own_ns = 0;
	if (outer.whole->kind == ICEPATH_INTERRUPT_SOFTIRQ) {
		const auto within = [&](const Interrupt &one) {
			return one.kind != ICEPATH_INTERRUPT_SOFTIRQ && one.begin_ns >= outer.whole->begin_ns &&
				   one.end_ns <= outer.whole->end_ns;
		};
		auto one = std::ranges::lower_bound(cpu.interrupts, outer.whole->begin_ns, {}, &Interrupt::begin_ns);
		for (; one != cpu.interrupts.end() && one->begin_ns < outer.end_ns; ++one) {
			if (!within(*one) || one->end_ns <= at_ns) // an NMI may lie within another interrupt
				continue;
			const uint64_t from_ns = std::max(one->begin_ns, at_ns), until_ns = std::min(one->end_ns, outer.end_ns);
			own_ns += from_ns - at_ns;
			add(culprit_of(*one), until_ns - from_ns);
			at_ns = until_ns;
		}
	}
	add(culprit_of(*outer.whole), own_ns + (outer.end_ns - at_ns));
}

void SharingOut::add_without_interrupts(const Culprit &who, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns)
		return;
	uint64_t ns = end_ns - begin_ns;
	for (const auto &[from_ns, until_ns] : interrupted_) {
		const uint64_t from = std::max(from_ns, begin_ns), until = std::min(until_ns, end_ns);
		if (from < until)
			ns -= until - from;
	}
	add(who, ns);
}

// Collects the tasks that had the CPU from `begin_ns` until the waiter was switched in. The task after a gap shows
// whether the CPU was idle in the gap.
void SharingOut::find_busy(uint16_t cpu, uint64_t begin_ns, const Thread &waiter, const OffCpu &off)
{
	busy_.clear();
	// The last instant before `begin_ns` at which some thread had the CPU: others had left it by then.
	uint64_t had_ns = off.out_cpu == cpu && off.out_ns <= begin_ns ? off.out_ns : 0;
	if (off.in_cpu == cpu)
		busy_.push_back({off.in_ns, UINT64_MAX, waiter.tid, off.from_idle});
	if (const auto found = seen_.cpus.find(cpu); found != seen_.cpus.end()) {
		const auto &runs = found->second.runs;
		auto run = std::ranges::partition_point(runs, [&](const Run &one) { return one.out_ns <= begin_ns; });
		if (run != runs.begin())
			had_ns = std::max(had_ns, std::prev(run)->in_ns);
		for (; run != runs.end() && run->in_ns < off.in_ns; ++run)
			busy_.push_back({run->in_ns, run->out_ns, run->tid, run->from_idle});
	}
	for (const auto &[tid, thread] : seen_.threads) {
		if (tid == waiter.tid || (thread.pinned && thread.first_cpu != cpu) || thread.off.empty())
			continue;
		const uint64_t known_until_ns = known_to_run_until(thread);
		// It runs from each period's end until the next one begins.
		auto came = std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.in_ns <= begin_ns; });
		if (came != thread.off.begin())
			--came;
		if (came != thread.off.end() && came->in_cpu == cpu && came->in_ns <= begin_ns)
			had_ns = std::max(had_ns, came->in_ns);
		for (; came != thread.off.end() && came->in_ns < off.in_ns; ++came) {
			const auto next = std::next(came);
			const uint64_t end_ns = std::min(next == thread.off.end() ? UINT64_MAX : next->out_ns, known_until_ns);
			if (came->in_cpu != cpu)
				continue;
			// The next period's record is written when it ends, which may be long after the waiter came in.
			if (came->in_ns < end_ns && end_ns > begin_ns)
				busy_.push_back({came->in_ns, end_ns, tid, came->from_idle, !lost_within(seen_, came->in_ns, end_ns)});
			if (came->in_ns >= end_ns)
				busy_.push_back({came->in_ns, UINT64_MAX, tid, came->from_idle, false, true});
		}
	}
	std::erase_if(busy_, [&](const Busy &one) { return one.ends_untold && one.begin_ns < had_ns; });
	add_first_runs(cpu, begin_ns, waiter, off);
	std::ranges::sort(busy_, {}, &Busy::begin_ns);
	for (size_t i = 0; i + 1 < busy_.size(); ++i)
		if (busy_[i].ends_untold)
			busy_[i].end_ns = busy_[i + 1].begin_ns;
}

// Adds the runs before each thread's first recorded period. Their begin isn't recorded: they follow the last known run
// on the CPU, which doesn't go idle while a thread waits for it.
void SharingOut::add_first_runs(uint16_t cpu, uint64_t begin_ns, const Thread &waiter, const OffCpu &off)
{
	std::vector<std::pair<uint64_t, uint32_t>> left; // when it left the CPU, and its tid
	for (const auto &[tid, thread] : seen_.threads) {
		if (tid == waiter.tid)
			continue;
		// It may not have come back by the block's end.
		const bool came_back = !thread.off.empty();
		const uint16_t its_cpu = came_back ? thread.off.front().out_cpu : thread.first_cpu;
		const uint64_t out_ns = came_back ? thread.off.front().out_ns : thread.still_off_since_ns;
		if (its_cpu == cpu && out_ns > begin_ns && out_ns <= off.in_ns)
			left.emplace_back(out_ns, tid);
	}
	std::ranges::sort(left);
	for (const auto &[out_ns, tid] : left) {
		uint64_t from_ns = begin_ns;
		if (cpu == off.in_cpu && off.idle_exit_ns < out_ns)
			from_ns = std::max(from_ns, off.idle_exit_ns);
		for (const Busy &other : busy_)
			if (other.begin_ns < out_ns)
				from_ns = std::max(from_ns, other.end_ns);
		if (from_ns < out_ns) // a followed thread may have come from another CPU
			busy_.push_back({from_ns, out_ns, tid, false, !seen_.threads.at(tid).followed});
	}
}

void SharingOut::share_gap(const OffCpu &off, uint64_t idle_until_ns, uint64_t begin_ns, uint64_t end_ns)
{
	const Culprit idle{off.went_idle && seen_.throttled ? Culprit::Kind::Throttled : Culprit::Kind::IdleCpu, 0, 0};
	add_without_interrupts(idle, begin_ns, idle_until_ns);
	add_without_interrupts({Culprit::Kind::Unknown, 0, 0}, idle_until_ns, end_ns);
}

void SharingOut::share_cpu(uint16_t cpu, const Thread &waiter, const OffCpu &off, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns)
		return;
	interrupted_.clear();
	uint64_t known_since_ns = 0;
	if (const auto found = seen_.cpus.find(cpu); found != seen_.cpus.end()) {
		known_since_ns = found->second.known_since_ns;
		for (const Carved &one : outermost_interrupts(found->second, begin_ns, end_ns)) {
			interrupted_.emplace_back(one.begin_ns, one.end_ns);
			add_interrupt(found->second, one);
		}
	}
	find_busy(cpu, begin_ns, waiter, off);
	uint64_t at_ns = begin_ns;
	for (const Busy &one : busy_) {
		const uint64_t from_ns = std::clamp(one.begin_ns, at_ns, end_ns);
		uint64_t idle_until_ns = at_ns;
		if (one.from_idle && at_ns >= known_since_ns)
			idle_until_ns = from_ns;
		else if (cpu == off.in_cpu && at_ns >= known_since_ns && off.idle_exit_ns > at_ns &&
				 off.idle_exit_ns <= from_ns) // nothing before that instant matters
			idle_until_ns = off.idle_exit_ns;
		share_gap(off, idle_until_ns, at_ns, from_ns);
		const uint64_t until_ns = std::clamp(one.end_ns, from_ns, end_ns);
		const Culprit task{Culprit::Kind::Task, one.tid, 0}, unknown{Culprit::Kind::Unknown, 0, 0};
		add_without_interrupts(one.is_sure ? task : unknown, from_ns, until_ns);
		at_ns = until_ns;
	}
	share_gap(off, at_ns, at_ns, end_ns);
}

std::span<const Share> SharingOut::of(const Thread &waiter, const OffCpu &off, uint64_t begin_ns, uint64_t end_ns)
{
	shares_.clear();
	// It is in the queue of the CPU that it left until the first move, and in that of its switch-in's CPU from the last
	// move on.
	const uint64_t runnable_ns = off.preempted ? off.out_ns : off.wakeup_ns;
	const auto first = off.preempted ? std::ranges::lower_bound(waiter.moved_ns, runnable_ns)
									 : std::ranges::upper_bound(waiter.moved_ns, runnable_ns);
	const auto last = std::ranges::upper_bound(waiter.moved_ns, off.in_ns);
	uint64_t left_ns = begin_ns, came_ns = begin_ns;
	if (first < last) {
		left_ns = off.preempted ? *first : begin_ns;
		came_ns = *std::prev(last);
	} else if (off.preempted && off.out_cpu != off.in_cpu) {
		came_ns = end_ns;
	}
	left_ns = std::clamp(left_ns, begin_ns, end_ns);
	came_ns = std::clamp(came_ns, left_ns, end_ns);
	share_cpu(off.out_cpu, waiter, off, begin_ns, left_ns);
	interrupted_.clear();
	add_without_interrupts({Culprit::Kind::Unknown, 0, 0}, left_ns, came_ns);
	share_cpu(off.in_cpu, waiter, off, came_ns, end_ns);
	return shares_;
}

Culprit culprit_of(std::span<const Share> shares)
{
	uint64_t sum_ns = 0;
	for (const Share &one : shares)
		sum_ns += one.ns;
	const auto most = std::ranges::max_element(shares, {}, &Share::ns);
	if (most == shares.end() || most->ns < sum_ns - most->ns || most->who.kind == Culprit::Kind::Unknown)
		return {};
	return most->who;
}

std::string culprit_name(const Culprit &culprit, const std::map<uint32_t, std::string> &task_names)
{
	switch (culprit.kind) {
	case Culprit::Kind::Interrupt:
		return interrupt_name(culprit.interrupt, culprit.id).append(words_of_timer(culprit.timer));
	case Culprit::Kind::IdleCpu:
		return "idle CPU";
	case Culprit::Kind::Throttled:
		return "throttled";
	case Culprit::Kind::Unknown:
		return "unknown";
	case Culprit::Kind::None:
	case Culprit::Kind::Task:
		break;
	}
	if (culprit.id == 0)
		return "idle task";
	const auto at = task_names.find(culprit.id);
	return at == task_names.end() || at->second.empty() ? fmt::format("task {}", culprit.id) : at->second;
}

} // namespace icepath::path
