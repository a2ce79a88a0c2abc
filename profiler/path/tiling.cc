// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/tiling.h"

#include <algorithm>

#include "ebpf/records.h"

namespace icepath::path {

Layer user_layer(Role role)
{
	return role == Role::Sender ? Layer::SenderUser : role == Role::Relay ? Layer::RelayUser : Layer::ReceiverUser;
}

Layer kernel_layer(Role role)
{
	return role == Role::Sender  ? Layer::SenderKernel
		   : role == Role::Relay ? Layer::RelayKernel
								 : Layer::ReceiverKernel;
}

Boundary at_mark(const Mark &mark) { return {mark.at_ns, mark.evidence, mark.provenance, mark.at_ns, mark.at_ns}; }

Boundary at_record(uint64_t at_ns, uint32_t record, Provenance provenance)
{
	return {at_ns, {Evidence::Source::Record, record}, provenance, at_ns, at_ns};
}

bool continues(const Segment &last, const Segment &next)
{
	return last.layer == next.layer && last.part == next.part && last.hop == next.hop && last.thread == next.thread &&
		   last.culprit.kind == next.culprit.kind && last.culprit.id == next.culprit.id &&
		   last.culprit.interrupt == next.culprit.interrupt;
}

const Boundary &sooner(const Boundary &one, const Boundary &other) { return other.at_ns < one.at_ns ? other : one; }

Part blocked_part(const OffCpu &off)
{
	constexpr uint8_t kTimerSoftirq = 1, kHrtimerSoftirq = 8; // include/linux/interrupt.h
	if (off.waker_context == ICEPATH_CONTEXT_TASK)
		return Part::Lock;
	if (off.waker_context == ICEPATH_CONTEXT_SOFTIRQ)
		return off.waker_vector == kTimerSoftirq || off.waker_vector == kHrtimerSoftirq ? Part::Timer : Part::None;
	return off.waker_vector == ICEPATH_INTERRUPT_TIMER ? Part::Timer : Part::None;
}

void Tiling::refuse(Reason reason)
{
	if (reason_ == Reason::None)
		reason_ = reason;
}

void Tiling::until(const Boundary &end, const Place &place, Label label, Culprit culprit)
{
	if (end.at_ns < cursor_.at_ns)
		return refuse(Reason::InvertedTime);
	if (end.at_ns == cursor_.at_ns)
		return;
	uint32_t tid = place.thread ? place.thread->tid : 0;
	Segment segment{label.layer, label.part, place.hop, tid, cursor_, end, culprit};
	if (!segments_.empty() && continues(segments_.back(), segment))
		segments_.back().end = end;
	else
		segments_.push_back(segment);
	cursor_ = end;
}

void Tiling::running(const Stretch &stretch, const Boundary &end, const Place &place, std::span<const Boundary> cuts,
					 const std::function<Label(uint64_t)> &label, const OwnInterrupts &own)
{
	static const Cpu nothing;
	auto found = seen_.cpus.find(stretch.cpu);
	const Cpu &cpu = found == seen_.cpus.end() ? nothing : found->second;
	// Two tasks can't have one CPU: a switch is missing.
	if (foreign_task_ran(cpu, stretch.begin_ns, stretch.end_ns))
		return refuse(Reason::NoEvidence);
	auto run_until = [&](const Boundary &piece_end) {
		for (const Boundary &cut : cuts)
			if (cut.at_ns > cursor_.at_ns && cut.at_ns < piece_end.at_ns)
				until(cut, place, label(cursor_.at_ns));
		until(piece_end, place, label(cursor_.at_ns));
	};
	for (const Carved &carved : outermost_interrupts(cpu, stretch.begin_ns, stretch.end_ns)) {
		const Interrupt &one = *carved.whole;
		if (own.hold(one))
			continue;
		run_until(at_record(carved.begin_ns, one.record));
		until(sooner(at_record(one.end_ns, one.record), end), place, {Layer::Interrupt},
			  {Culprit::Kind::Interrupt, one.vector, one.kind});
	}
	run_until(end);
}

Boundary switch_in(const OffCpu &off)
{
	Boundary in = at_record(off.in_ns, off.record);
	if (off.in_late) {
		in.provenance = Provenance::Inferred;
		in.earliest_ns = std::max(off.out_ns, off.wakeup_ns);
	}
	return in;
}

void Tiling::wakeup(const OffCpu &off, const Boundary &end, const Place &place, Part part)
{
	Boundary wakeup = sooner(at_record(off.wakeup_ns, off.record), end);
	auto piece_until = [&](uint64_t at_ns, Part piece) {
		if (part == Part::None && at_ns > cursor_.at_ns && at_ns <= wakeup.at_ns)
			until(at_record(at_ns, off.record), place, {Layer::Wakeup, piece});
	};
	piece_until(off.ipi_ns, Part::Ipi);
	piece_until(off.idle_exit_ns, Part::IdleExit);
	if (wakeup.at_ns > cursor_.at_ns)
		until(wakeup, place, {Layer::Wakeup, part});
}

void Tiling::runqueue(const OffCpu &off, const Boundary &end, const Place &place, Part part)
{
	Boundary in = sooner(switch_in(off), end);
	if (part == Part::None && off.idle_exit_ns > cursor_.at_ns && off.idle_exit_ns < in.at_ns)
		until(at_record(off.idle_exit_ns, off.record), place, {Layer::Runqueue, Part::IdleExit});
	until(in, place, {Layer::Runqueue, part}, busiest(seen_, off.in_cpu, cursor_.at_ns, in.at_ns, place.thread->tid));
}

void Tiling::preempted(const OffCpu &off, const Boundary &end, const Place &place, Label label)
{
	Boundary in = sooner(switch_in(off), end);
	until(in, place, label, busiest(seen_, off.out_cpu, cursor_.at_ns, in.at_ns, place.thread->tid));
}

void Tiling::blocked(const OffCpu &off, const Boundary &end, const Place &place, Part part)
{
	Boundary wakeup = sooner(at_record(off.wakeup_ns, off.record), end);
	if (wakeup.at_ns > cursor_.at_ns)
		until(wakeup, place, {Layer::Blocked, part}, waker_of(off));
	runqueue(off, end, place);
}

} // namespace icepath::path
