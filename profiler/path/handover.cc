// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/handover.h"

#include <algorithm>
#include <initializer_list>
#include <ranges>

#include "ebpf/contexts.h"
#include "profiler/path/blocking.h"
#include "profiler/path/tiling.h"

namespace icepath::path {
namespace {

// Whether each present mark is no later than the next present one.
bool ordered(std::initializer_list<std::optional<Mark>> marks)
{
	uint64_t last = 0;
	for (const auto &mark : marks) {
		if (!mark)
			continue;
		if (mark->at_ns < last)
			return false;
		last = mark->at_ns;
	}
	return true;
}

// Whether the thread had a CPU at each mark: it can't have acted without one.
bool acted(const Thread &thread, std::initializer_list<std::optional<Mark>> marks)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	for (const auto &mark : marks)
		if (mark) {
			first_ns = std::min(first_ns, mark->at_ns);
			last_ns = std::max(last_ns, mark->at_ns);
		}
	auto off = std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.in_ns <= first_ns; });
	for (; off != thread.off.end() && off->out_ns < last_ns; ++off)
		if (std::ranges::any_of(
				marks, [&](const auto &mark) { return mark && off->out_ns < mark->at_ns && mark->at_ns < off->in_ns; }))
			return false;
	return true;
}

bool by_giver_in_call(const Transfer &transfer, const OffCpu &off)
{
	const auto &begin = transfer.publish() && (!transfer.call || transfer.publish()->at_ns < transfer.call->at_ns)
							? transfer.publish()
							: transfer.call;
	// A call without a known return shows nothing of what happened in it. A giver without a call gives until its next
	// stamp.
	const uint64_t end_ns = transfer.call_return ? transfer.call_return->at_ns
							: transfer.call      ? 0
												 : transfer.stored_by_ns();
	return off.waking_ns != 0 && off.waker_context == ICEPATH_CONTEXT_TASK && off.waker_tid == transfer.from && begin &&
		   off.waking_ns >= begin->at_ns && off.waking_ns <= end_ns;
}

auto off_between(const Thread &thread, uint64_t begin_ns, uint64_t end_ns)
{
	auto first = std::ranges::partition_point(thread.off, [&](const OffCpu &off) { return off.in_ns <= begin_ns; });
	auto last = std::partition_point(first, thread.off.end(), [&](const OffCpu &off) { return off.out_ns < end_ns; });
	return std::ranges::subrange(first, last);
}

Boundary inferred(uint64_t at_ns, const Evidence &evidence, uint64_t earliest_ns, uint64_t latest_ns)
{
	return {at_ns, evidence, Provenance::Inferred, earliest_ns, latest_ns};
}

uint64_t within(const Mark &begin, const Mark &end, double share)
{
	return begin.at_ns + static_cast<uint64_t>(share * static_cast<double>(end.at_ns - begin.at_ns));
}

// The calibrated instant within the sending call, but no later than the taking call has the message out of the queue.
std::optional<uint64_t> by_calibration(const Transfer &transfer)
{
	if (!transfer.shares || transfer.device || transfer.carried() || !transfer.call || !transfer.call_return)
		return {};
	uint64_t placed = within(*transfer.call, *transfer.call_return, transfer.shares->ready);
	if (transfer.take_call && transfer.take_return)
		placed = std::min(placed, within(*transfer.take_call, *transfer.take_return, transfer.shares->taken));
	return placed;
}

// Places "ready" where no event announced it.
Reason infer(const Transfer &transfer, const Thread &giver, const Thread &taker, uint64_t taken_by_ns,
			 const Evidence &taken_by, Handover &out)
{
	const Mark &lower = transfer.device ? *transfer.device : *transfer.call;
	uint64_t earliest = lower.at_ns, latest = taken_by_ns;
	if (transfer.ready_since_ns != 0)
		earliest = std::min(earliest, transfer.ready_since_ns);
	Evidence at_latest = taken_by;
	if (!transfer.device && !transfer.carried() && transfer.call_return && transfer.call_return->at_ns < latest) {
		latest = transfer.call_return->at_ns;
		at_latest = transfer.call_return->evidence;
	}
	if (latest < earliest)
		return Reason::InvertedTime;
	bool pairs = !transfer.device && !transfer.polls;
	const OffCpu *wake = nullptr;
	for (const OffCpu &off : off_between(taker, transfer.ask.at_ns, taken_by_ns))
		if (pairs && by_giver_in_call(transfer, off) && off.waking_ns <= latest)
			wake = &off;
	if (wake) {
		uint64_t call_end = transfer.call_return ? transfer.call_return->at_ns : taken_by_ns;
		bool went_on = std::ranges::any_of(off_between(giver, wake->waking_ns, call_end),
										   [](const OffCpu &off) { return !off.preempted; });
		if (!went_on) {
			out.ready = at_record(wake->waking_ns, wake->record, Provenance::Paired);
			return Reason::None;
		}
		earliest = wake->waking_ns;
	}
	out.inferred = true;
	bool asked_within =
		transfer.take_call && transfer.take_call->at_ns >= earliest && transfer.take_call->at_ns <= latest;
	if (const auto placed = by_calibration(transfer))
		out.ready = {std::clamp(*placed, earliest, latest), transfer.call->evidence, Provenance::Calibrated, earliest,
					 latest};
	else
		out.ready = asked_within ? inferred(transfer.take_call->at_ns, transfer.take_call->evidence, earliest, latest)
								 : inferred(latest, at_latest, earliest, latest);
	if (transfer.polls)
		return Reason::None;
	for (const OffCpu &off : off_between(taker, std::max(transfer.ask.at_ns, earliest), taken_by_ns)) {
		if (off.preempted || off.in_ns <= latest || (pairs && by_giver_in_call(transfer, off)))
			continue;
		// The taker was asleep in its wait at `latest`, when the message was surely there, so the giver had to wake it,
		// and didn't. A taker that fell asleep after the sending call began may have slept for this message, or for
		// something else after finding it.
		if (off.waking_ns > latest || off.out_ns >= earliest)
			return Reason::NoEvidence;
	}
	return Reason::None;
}

// When the slot had the message. The giver stores right after its publish stamp, unless something keeps it from
// running. If the taker ran and looked in that time without seeing the message, the store came after it.
Boundary stored(const Observations &seen, const Transfer &transfer, const Thread &giver, const Thread &taker)
{
	Boundary ready = at_mark(*transfer.publish());
	const uint64_t published_ns = transfer.publish()->at_ns;
	uint64_t latest_ns = transfer.taken->at_ns;
	if (transfer.stored_by_ns() != 0)
		latest_ns = std::min(latest_ns, transfer.stored_by_ns());
	const auto looked = [&](uint64_t begin_ns, uint64_t end_ns) {
		return std::ranges::any_of(stretches(taker, std::max(begin_ns, transfer.ask.at_ns), end_ns),
								   [](const Stretch &one) { return !one.off; });
	};
	// [begin, end) kept the giver from running. It may have stored after an interruption that ended by `latest_ns`, but
	// not after a later one.
	const auto kept = [&](uint64_t begin_ns, uint64_t end_ns, uint32_t record) {
		if (begin_ns < published_ns || end_ns > latest_ns)
			return;
		if (looked(begin_ns, end_ns))
			ready = inferred(end_ns, {Evidence::Source::Record, record}, published_ns, latest_ns);
		else
			ready = inferred(ready.at_ns, ready.evidence, published_ns, latest_ns);
	};
	for (const Stretch &stretch : stretches(giver, published_ns, latest_ns)) {
		if (stretch.off) {
			// A giver that goes to sleep voluntarily has done its store.
			const OffCpu &off = *stretch.off;
			if (!off.preempted && !off.in_fault && !off.in_reclaim) {
				if (is_inferred(ready.provenance))
					ready.latest_ns = std::min(ready.latest_ns, off.out_ns);
				break;
			}
			kept(stretch.off->out_ns, stretch.off->in_ns, stretch.off->record);
			continue;
		}
		const auto cpu = seen.cpus.find(stretch.cpu);
		if (cpu == seen.cpus.end())
			continue;
		for (const Carved &one : outermost_interrupts(cpu->second, stretch.begin_ns, stretch.end_ns))
			kept(one.whole->begin_ns, one.whole->end_ns, one.whole->record);
	}
	return ready;
}

// Two threads of a library hand over in memory, within known bounds.
Reason by_library(const Transfer &transfer, const Boundary &handed, const Thread &giver, const Thread &taker,
				  Handover &out)
{
	if (!transfer.take_return || !acted(giver, {Mark{handed.at_ns, {}}}) ||
		!acted(taker, {transfer.ask, transfer.take_call, transfer.take_return}))
		return Reason::NoEvidence;
	out.ready = handed;
	out.taken = at_mark(*transfer.take_return);
	out.inferred = true;
	return out.ready.at_ns <= out.taken.at_ns ? Reason::None : Reason::InvertedTime;
}

// Whether its instants can be: each thread's in the order of what it does, the giver's before the taker's, and at
// times at which their threads acted. `end`: when it was taken.
bool is_possible(const Transfer &transfer, const std::optional<Mark> &end, bool slot, const Thread &giver,
				 const Thread &taker)
{
	const std::optional<Mark> ask = transfer.ask;
	if (!ordered({transfer.call, transfer.call_return}) || !ordered({transfer.call, transfer.device}) ||
		!ordered({ask, transfer.wait_return, transfer.take_call, transfer.take_return}) ||
		!ordered({ask, transfer.taken}) || (!slot && !ordered({transfer.call, end})))
		return false;
	if (slot ? !ordered({transfer.publish(), transfer.taken})
			 : !ordered({transfer.take_call, transfer.taken, transfer.take_return}))
		return false;
	// A thread that gives to itself asks only after it has given.
	if (transfer.from == transfer.to && (!ordered({transfer.publish(), ask}) || !ordered({transfer.call_return, ask})))
		return false;
	return acted(giver, {transfer.call, transfer.call_return, transfer.publish()}) &&
		   acted(taker, {ask, transfer.wait_return, transfer.take_call, transfer.take_return, transfer.taken});
}

// The kernel told when it announced the message.
Reason by_announcement(const Transfer &transfer, Handover &out)
{
	if (!ordered({transfer.call, transfer.device, transfer.ready}))
		return Reason::InvertedTime;
	// The message became ready only after the giver's call, although nothing could have held it meanwhile.
	if (!transfer.device && !transfer.carried() && transfer.call_return &&
		transfer.ready->at_ns > transfer.call_return->at_ns)
		return Reason::NoEvidence;
	out.ready = at_mark(*transfer.ready);
	if (transfer.ready_since_ns != 0)
		out.ready = inferred(out.ready.at_ns, out.ready.evidence, std::min(transfer.ready_since_ns, out.ready.at_ns),
							 out.ready.at_ns);
	return Reason::None;
}

} // namespace

Reason resolve(const Observations &seen, const Transfer &transfer, const Thread &giver, const Thread &taker,
			   Handover &out)
{
	out = {};
	out.transfer = &transfer;
	if (const auto *library = std::get_if<ByLibrary>(&transfer.by); library && library->handed)
		return by_library(transfer, *library->handed, giver, taker, out);
	out.slot = transfer.publish() && transfer.taken;
	if (transfer.publish() && !transfer.taken)
		return Reason::NoEvidence;
	const auto &end = out.slot ? transfer.taken : transfer.take_return ? transfer.take_return : transfer.taken;
	if (!end || (transfer.through_device && !transfer.device))
		return Reason::NoEvidence;
	out.taken = at_mark(*end);
	if (transfer.taken_since_ns != 0 && transfer.taken_since_ns < out.taken.at_ns)
		out.taken = inferred(out.taken.at_ns, out.taken.evidence, transfer.taken_since_ns, out.taken.at_ns);
	if (!is_possible(transfer, end, out.slot, giver, taker))
		return Reason::InvertedTime;
	if (out.slot) {
		out.ready = stored(seen, transfer, giver, taker);
		return Reason::None;
	}
	const auto &by = transfer.taken && transfer.taken->at_ns < end->at_ns ? transfer.taken : end;
	if (transfer.device && transfer.device->at_ns > by->at_ns)
		return Reason::InvertedTime;
	if (transfer.ready && transfer.ready->at_ns <= by->at_ns)
		return by_announcement(transfer, out);
	if (!transfer.call)
		return Reason::NoEvidence;
	return infer(transfer, giver, taker, by->at_ns, by->evidence, out);
}

uint64_t announced_until(const Transfer &transfer)
{
	if (!transfer.ready)
		return 0;
	const uint64_t until_ns = transfer.announced_until_ns;
	if (transfer.ready_in_softirq || transfer.ready_tid != transfer.from || !transfer.call_return)
		return until_ns;
	return until_ns == 0 ? transfer.call_return->at_ns : std::min(until_ns, transfer.call_return->at_ns);
}

bool carries(const Handover &handover, const OffCpu &off)
{
	const Transfer &transfer = *handover.transfer;
	if (off.waking_ns == 0)
		return false;
	if (by_giver_in_call(transfer, off))
		return true;
	if (!transfer.ready || off.waking_ns < transfer.ready->at_ns)
		return false;
	const uint64_t until_ns = announced_until(transfer);
	if (until_ns != 0 && off.waking_ns > until_ns)
		return false;
	if (transfer.ready_in_softirq)
		return off.waker_tid == transfer.ready_tid &&
			   (is_of_packets(off) ||
				(off.waker_context == ICEPATH_CONTEXT_HARDIRQ && transfer.ready_context == ICEPATH_CONTEXT_HARDIRQ));
	return transfer.ready_tid != 0 && off.waker_context == ICEPATH_CONTEXT_TASK && off.waker_tid == transfer.ready_tid;
}

} // namespace icepath::path
