// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/tiling.h"

#include <algorithm>

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

bool is_kernel(Layer layer)
{
	return layer == Layer::SenderKernel || layer == Layer::RelayKernel || layer == Layer::ReceiverKernel;
}

Boundary at_mark(const Mark &mark) { return {mark.at_ns, mark.evidence, mark.provenance, mark.at_ns, mark.at_ns}; }

Boundary at_record(uint64_t at_ns, uint32_t record, Provenance provenance)
{
	return {at_ns, {Evidence::Source::Record, record}, provenance, at_ns, at_ns};
}

bool continues(const Segment &last, const Segment &next)
{
	return last.layer == next.layer && last.part == next.part && last.hop == next.hop && last.thread == next.thread &&
		   last.culprit == next.culprit;
}

const Boundary &sooner(const Boundary &one, const Boundary &other) { return other.at_ns <= one.at_ns ? other : one; }

void Tiling::refuse(Reason reason)
{
	if (reason_ == Reason::None)
		reason_ = reason;
}

void Tiles::add(const Segment &segment, std::span<const Share> its_shares)
{
	size_t first_of_last = shares.size();
	const size_t first_of_window = windows.empty() ? 0 : windows.back().segment;
	if (segments.size() > first_of_window && continues(segments.back(), segment)) {
		segments.back().end = segment.end;
		while (first_of_last > 0 && shares[first_of_last - 1].segment + 1 == segments.size())
			--first_of_last;
	} else {
		segments.push_back(segment);
	}
	const auto index = static_cast<uint32_t>(segments.size() - 1);
	for (const Share &one : its_shares) {
		const auto same = std::find_if(shares.begin() + static_cast<ptrdiff_t>(first_of_last), shares.end(),
									   [&](const Share &other) { return other.who == one.who; });
		if (same != shares.end())
			same->ns += one.ns;
		else
			shares.push_back({index, one.who, one.ns});
	}
}

void Tiles::clear()
{
	segments.clear();
	shares.clear();
	windows.clear();
}

void Tiling::add(const Boundary &end, const Place &place, Label label, const Culprit &culprit,
				 std::span<const Share> shares)
{
	const uint32_t tid = place.thread ? place.thread->tid : 0;
	tiles_.add({label.layer, label.part, place.hop, tid, cursor_, end, culprit}, shares);
	cursor_ = end;
}

void Tiling::until(const Boundary &end, const Place &place, Label label, Culprit culprit)
{
	if (end.at_ns < cursor_.at_ns)
		return refuse(Reason::InvertedTime);
	if (end.at_ns > cursor_.at_ns)
		add(end, place, label, culprit, {});
}

void Tiling::wait_until(const Boundary &end, const Place &place, Label label, const OffCpu &off)
{
	if (end.at_ns < cursor_.at_ns)
		return refuse(Reason::InvertedTime);
	if (end.at_ns == cursor_.at_ns)
		return;
	const std::span<const Share> shares = sharing_out_.of(*place.thread, off, cursor_.at_ns, end.at_ns);
	add(end, place, label, culprit_of(shares), shares);
}

void Tiling::running(const Stretch &stretch, const Boundary &end, const Place &place, std::span<const Boundary> cuts,
					 const std::function<Label(uint64_t)> &label, const OwnInterrupts &own)
{
	static const Cpu nothing;
	auto found = seen_.cpus.find(stretch.cpu);
	const Cpu &cpu = found == seen_.cpus.end() ? nothing : found->second;
	// Two tasks can't share a CPU: a switch record is missing.
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
		const Boundary over = sooner(at_record(one.end_ns, one.record), end);
		if (const Label inside = label(carved.begin_ns); own.serve(one) && is_kernel(inside.layer))
			until(over, place, {inside.layer, Part::Softirq});
		else
			until(over, place, interrupted_by(one), culprit_of(one));
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
	// A CPU may report leaving idle before it takes the interrupt that woke it (cpuidle_enter_state() has interrupts
	// off), or within that.
	if (off.idle_exit_ns < off.ipi_ns)
		piece_until(off.idle_exit_ns, Part::IdleExit);
	piece_until(off.ipi_ns, Part::Ipi);
	piece_until(off.idle_exit_ns, Part::IdleExit);
	if (wakeup.at_ns > cursor_.at_ns)
		until(wakeup, place, {Layer::Wakeup, part});
}

void Tiling::runqueue(const OffCpu &off, const Boundary &end, const Place &place, Part part)
{
	Boundary in = sooner(switch_in(off), end);
	if (off.idle_exit_ns > cursor_.at_ns && off.idle_exit_ns < in.at_ns)
		wait_until(at_record(off.idle_exit_ns, off.record), place, {Layer::Runqueue, Part::IdleExit}, off);
	wait_until(in, place, {Layer::Runqueue, part}, off);
}

void Tiling::preempted(const OffCpu &off, const Boundary &end, const Place &place, Label label)
{
	wait_until(sooner(switch_in(off), end), place, label, off);
}

void Tiling::blocked(const OffCpu &off, const Boundary &end, const Place &place, Part part)
{
	Boundary wakeup = sooner(at_record(off.wakeup_ns, off.record), end);
	if (wakeup.at_ns > cursor_.at_ns)
		until(wakeup, place, {Layer::Blocked, part}, waker_of(off));
	runqueue(off, end, place);
}

} // namespace icepath::path
