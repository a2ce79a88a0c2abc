// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/timeline.h"

#include <algorithm>
#include <utility>

#include "ebpf/contexts.h"

namespace icepath::path {
namespace {

// The first period that ends after `at`.
std::vector<OffCpu>::const_iterator first_off_after(const Thread &thread, uint64_t at_ns)
{
	return std::partition_point(thread.off.begin(), thread.off.end(),
								[&](const OffCpu &off) { return off.in_ns <= at_ns; });
}

// A hard interrupt can interrupt a softirq, and an NMI both.
int nests(const Interrupt &one)
{
	return one.kind == ICEPATH_INTERRUPT_SOFTIRQ ? 0 : one.kind == ICEPATH_INTERRUPT_NMI ? 2 : 1;
}

} // namespace

Stretches stretches(const Thread &thread, uint64_t begin_ns, uint64_t end_ns)
{
	Stretches found;
	auto off = first_off_after(thread, begin_ns);
	uint16_t cpu = off == thread.off.begin() ? thread.first_cpu : std::prev(off)->in_cpu;
	for (uint64_t at = begin_ns; at < end_ns;) {
		if (off == thread.off.end() || off->out_ns >= end_ns) {
			found.push_back({at, end_ns, nullptr, cpu});
			break;
		}
		if (off->out_ns > at)
			found.push_back({at, off->out_ns, nullptr, cpu});
		at = std::max(at, off->out_ns);
		uint64_t until = std::min(off->in_ns, end_ns);
		if (until > at)
			found.push_back({at, until, &*off, off->out_cpu});
		at = std::max(at, until);
		cpu = off->in_cpu;
		++off;
	}
	return found;
}

std::optional<uint16_t> cpu_at(const Thread &thread, uint64_t at_ns)
{
	const auto off = first_off_after(thread, at_ns);
	if (off != thread.off.end())
		return off->out_ns <= at_ns ? off->in_cpu : off->out_cpu;
	if (!thread.off.empty())
		return thread.off.back().in_cpu;
	return thread.first_cpu_told_ns == UINT64_MAX ? std::nullopt : std::optional(thread.first_cpu);
}

const OffCpu *off_across(const Thread &thread, uint64_t at_ns)
{
	auto off = first_off_after(thread, at_ns);
	return off != thread.off.end() && off->out_ns < at_ns ? &*off : nullptr;
}

boost::container::small_vector<Carved, 4> outermost_interrupts(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns)
{
	const auto &all = cpu.interrupts;
	auto last =
		std::partition_point(all.begin(), all.end(), [&](const Interrupt &one) { return one.begin_ns < end_ns; });
	auto first = std::partition_point(all.begin(), last, [&](const Interrupt &one) { return one.begin_ns < begin_ns; });
	bool indexed = cpu.interrupt_reach_ns.size() == all.size();
	while (first != all.begin()) {
		if (indexed && cpu.interrupt_reach_ns[std::prev(first) - all.begin()] <= begin_ns)
			break;
		--first;
	}
	boost::container::small_vector<Carved, 4> found;
	uint64_t covered = 0; // the latest end so far: what begins before it is nested
	const Interrupt *outer = nullptr;
	for (auto one = first; one != last; ++one) {
		if (one->end_ns <= one->begin_ns)
			continue;
		if (outer && one->begin_ns < covered && one->end_ns <= covered && one->begin_ns > outer->begin_ns)
			continue;
		// Of two that begin together the longer one is outside. If they also end together, the outer one is the kind
		// that the other can interrupt.
		if (outer && one->begin_ns == outer->begin_ns) {
			if (one->end_ns < outer->end_ns || (one->end_ns == outer->end_ns && nests(*one) >= nests(*outer)))
				continue;
			if (!found.empty() && found.back().whole == outer)
				found.pop_back();
		}
		uint64_t from = std::max({one->begin_ns, begin_ns, found.empty() ? 0 : found.back().end_ns});
		uint64_t until = std::min(one->end_ns, end_ns);
		outer = &*one;
		covered = std::max(covered, one->end_ns);
		if (from < until)
			found.push_back({from, until, outer});
	}
	return found;
}

bool foreign_task_ran(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns)
{
	auto run =
		std::partition_point(cpu.runs.begin(), cpu.runs.end(), [&](const Run &one) { return one.out_ns <= begin_ns; });
	return run != cpu.runs.end() && run->in_ns < end_ns && begin_ns < end_ns;
}

Culprit waker_of(const OffCpu &off)
{
	// The scheduler's tick wakes no thread: a timer that does was set by the thread itself, or by a call that it
	// made. A softirq of packets that does handled those of a socket that it waits for, as an acknowledgement that
	// makes room (sk_stream_write_space()).
	const Culprit::Work work = by_timer(off)     ? Culprit::Work::OwnTimer
							   : by_packets(off) ? Culprit::Work::OwnPackets
												 : Culprit::Work::NotTold;
	switch (off.waker_context) {
	case ICEPATH_CONTEXT_TASK:
		return {Culprit::Kind::Task, off.waker_tid, 0};
	case ICEPATH_CONTEXT_SOFTIRQ:
		return {Culprit::Kind::Interrupt, off.waker_vector, ICEPATH_INTERRUPT_SOFTIRQ, work};
	default: // waker_vector is the kind of the hard interrupt: see ebpf/scheduling.bpf.h
		return {Culprit::Kind::Interrupt, 0, off.waker_vector, work};
	}
}

bool by_packets(const OffCpu &off)
{
	constexpr uint8_t kNetTx = 2, kNetRx = 3; // softirqs, as in include/linux/interrupt.h
	return off.waker_context == ICEPATH_CONTEXT_SOFTIRQ && (off.waker_vector == kNetTx || off.waker_vector == kNetRx);
}

bool by_timer(const OffCpu &off)
{
	constexpr uint8_t kTimer = 1, kHrtimer = 8; // softirqs, as in include/linux/interrupt.h
	if (off.waker_context == ICEPATH_CONTEXT_SOFTIRQ)
		return off.waker_vector == kTimer || off.waker_vector == kHrtimer;
	return off.waker_context == ICEPATH_CONTEXT_HARDIRQ && off.waker_vector == ICEPATH_INTERRUPT_TIMER;
}

Reason flaw(const OffCpu &off)
{
	if (off.out_ns >= off.in_ns)
		return Reason::InvertedTime;
	if (off.preempted)
		return Reason::None;
	if (off.waking_ns == 0 || off.wakeup_ns == 0)
		return Reason::NoEvidence;
	if (off.waking_ns > off.wakeup_ns || off.wakeup_ns > off.in_ns || off.wakeup_ns < off.out_ns)
		return Reason::InvertedTime;
	return Reason::None;
}

uint64_t end_of(const Observations &seen, uint16_t cpu, const Interrupt &one)
{
	if (!one.goes_on)
		return one.end_ns;
	const auto &all = seen.cpus.at(cpu).interrupts;
	for (auto next = std::ranges::lower_bound(all, one.end_ns, {}, &Interrupt::begin_ns); next != all.end(); ++next)
		if (next->kind == one.kind && next->vector == one.vector && next->tid == one.tid && !next->goes_on)
			return next->end_ns;
	return 0;
}

const Interrupt *outermost_around(const Observations &seen, uint16_t cpu, uint64_t at_ns)
{
	auto found = seen.cpus.find(cpu);
	if (found == seen.cpus.end() || at_ns == UINT64_MAX)
		return nullptr;
	auto around = outermost_interrupts(found->second, at_ns, at_ns + 1);
	return around.empty() ? nullptr : around.front().whole;
}

std::optional<uint32_t> interrupt_around(const Observations &seen, uint16_t cpu, uint64_t at_ns)
{
	const Interrupt *around = outermost_around(seen, cpu, at_ns);
	return around ? std::optional(around->record) : std::nullopt;
}

} // namespace icepath::path
