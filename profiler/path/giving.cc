// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/giving.h"

#include <algorithm>

namespace icepath::path {
namespace {

// Whether it slept in its sending call when another task announced the message. A kernel thread that sends for it had
// the message by then.
bool relayed_asleep(const Transfer *out, const OffCpu &off, uint64_t begin_ns, const Boundary &end)
{
	return in_sending_call(out, begin_ns) && out->ready && !out->ready_in_softirq && out->ready_tid != 0 &&
		   out->ready_tid != out->from && out->ready->at_ns == end.at_ns && !off.preempted &&
		   off.waking_ns >= end.at_ns;
}

} // namespace

void cut_at_calls(const Thread &thread, uint64_t begin_ns, uint64_t end_ns, Cuts &cuts)
{
	auto call = std::ranges::partition_point(thread.calls, [&](const Call &one) { return one.end_ns <= begin_ns; });
	for (; call != thread.calls.end() && call->begin_ns < end_ns; ++call)
		for (uint64_t at_ns : {call->begin_ns, call->end_ns})
			cuts.push_back({at_ns, call->evidence, Provenance::Exact, at_ns, at_ns});
}

Boundary end_of(const Thread &thread, const Stretch &stretch, const Boundary &window)
{
	if (stretch.end_ns >= window.at_ns)
		return window;
	if (stretch.off)
		return switch_in(*stretch.off);
	auto next =
		std::ranges::partition_point(thread.off, [&](const OffCpu &off) { return off.in_ns <= stretch.end_ns; });
	return at_record(stretch.end_ns, next->record); // it ran until it was switched out, so that period exists
}

void tile_off(const OffCpu &off, const Boundary &end, const Place &place, const Transfer *out, Tiling &tiling)
{
	tiling.refuse(flaw(off));
	if (off.preempted)
		return tiling.preempted(off, end, place, {Layer::Preempted});
	tiling.blocked(off, end, place, blocked_part(tiling.seen(), *place.thread, off, out));
}

void tile_holding(const Place &place, const Boundary &end, const Holding &how, const OwnInterrupts &own, Tiling &tiling)
{
	const Thread &thread = *place.thread;
	const Layer user = user_layer(place.role), kernel = kernel_layer(place.role);
	const Part part = how.backlog ? Part::Backlog : Part::None;
	const uint64_t begin_ns = tiling.cursor().at_ns;
	Cuts cuts;
	if (how.out)
		for (const auto &mark : {how.out->call, how.out->call_return})
			if (mark)
				cuts.push_back(at_mark(*mark));
	if (how.calls)
		cut_at_calls(thread, begin_ns, end.at_ns, cuts);
	std::ranges::sort(cuts, {}, &Boundary::at_ns);
	auto label = [&](uint64_t at_ns) {
		const bool in_kernel = in_sending_call(how.out, at_ns) && !how.out->in_library();
		bool in_call = in_kernel || (how.calls && call_at(thread, at_ns));
		return Label{in_call ? kernel : user, in_call ? Part::None : part};
	};
	for (const Stretch &stretch : stretches(thread, begin_ns, end.at_ns)) {
		Boundary stretch_end = end_of(thread, stretch, end);
		if (!stretch.off) {
			tiling.running(stretch, stretch_end, place, {cuts.data(), cuts.size()}, std::cref(label), own);
			continue;
		}
		if (relayed_asleep(how.out, *stretch.off, stretch.begin_ns, stretch_end)) {
			tiling.refuse(flaw(*stretch.off));
			tiling.until(stretch_end, place, {Layer::RelayKernel}, {Culprit::Kind::Task, how.out->ready_tid, 0});
			continue;
		}
		tile_off(*stretch.off, stretch_end, place, how.out, tiling);
	}
}

} // namespace icepath::path
