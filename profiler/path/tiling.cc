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

namespace {

// Adds to those of the last segment, which has this index.
void add_shares(std::span<const Share> more, uint32_t index, std::vector<Share> &shares)
{
	if (more.empty())
		return;
	size_t first = shares.size();
	while (first > 0 && shares[first - 1].segment == index)
		--first;
	for (const Share &one : more) {
		const auto same = std::find_if(shares.begin() + static_cast<ptrdiff_t>(first), shares.end(),
									   [&](const Share &other) { return other.who == one.who; });
		if (same != shares.end())
			same->ns += one.ns;
		else
			shares.push_back({index, one.who, one.ns});
	}
}

} // namespace

void Tiles::add(const Segment &segment, std::span<const Share> its_shares, std::span<const Share> its_late_wakers)
{
	const size_t first_of_window = windows.empty() ? 0 : windows.back().segment;
	if (segments.size() > first_of_window && continues(segments.back(), segment))
		segments.back().end = segment.end;
	else
		segments.push_back(segment);
	const auto index = static_cast<uint32_t>(segments.size() - 1);
	add_shares(its_shares, index, shares);
	add_shares(its_late_wakers, index, late_wakers);
}

void Tiles::clear()
{
	segments.clear();
	shares.clear();
	late_wakers.clear();
	windows.clear();
}

void Tiling::add(const Boundary &end, const Place &place, Label label, const Culprit &culprit,
				 std::span<const Share> shares, std::span<const Share> late_wakers)
{
	const uint32_t tid = place.thread ? place.thread->tid : 0;
	tiles_.add({label.layer, label.part, place.hop, tid, cursor_, end, culprit}, shares, late_wakers);
	cursor_ = end;
}

void Tiling::until(const Boundary &end, const Place &place, Label label, Culprit culprit)
{
	if (end.at_ns < cursor_.at_ns)
		return refuse(Reason::InvertedTime);
	const bool slept = label.layer == Layer::Blocked || label.part == Part::Blocked;
	if (end.at_ns > cursor_.at_ns)
		add(end, place, label, culprit, {},
			slept ? without_cpu(culprit, cursor_.at_ns, end.at_ns) : std::vector<Share>());
}

std::vector<Share> Tiling::without_cpu(const Culprit &waker, uint64_t begin_ns, uint64_t end_ns)
{
	std::vector<Share> all;
	if (waker.kind != Culprit::Kind::Task || !is_of_cell(seen_, waker.id))
		return all;
	const Thread &thread = seen_.threads.at(waker.id);
	auto off = std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.in_ns <= begin_ns; });
	for (; off != thread.off.end() && off->out_ns < end_ns; ++off) {
		const uint64_t from_ns = std::max(begin_ns, off->preempted ? off->out_ns : off->wakeup_ns);
		const uint64_t until_ns = std::min(end_ns, off->in_ns);
		if (from_ns >= until_ns || flaw(*off) != Reason::None)
			continue;
		const std::span<const Share> shares = sharing_out_.of(thread, *off, from_ns, until_ns);
		all.insert(all.end(), shares.begin(), shares.end());
	}
	return all;
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
