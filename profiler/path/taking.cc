// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/taking.h"

#include <algorithm>

#include "ebpf/contexts.h"
#include "profiler/path/giving.h"

namespace icepath::path {
namespace {

// Why the taker was off its CPU.
enum class Sleep : uint8_t {
	None, // it ran
	Preempted,
	Delivered, // in the wait, woken by the context that delivers the message
	Spurious, // in the wait, woken by another
	Other, // for something else: a page, a lock
	Unknown, // in the wait or for something else: no evidence
};

class Taking {
public:
	Taking(const Observations &seen, const Handover &handover, const Place &taker, const Place &giver,
		   const OwnInterrupts &own, Tiling &tiling)
		: seen_(seen), handover_(handover), transfer_(*handover.transfer), taker_(taker), giver_(giver), own_(own),
		  tiling_(tiling)
	{
		for (const auto &mark : {std::optional<Mark>(transfer_.ask), transfer_.wait_return, transfer_.take_call})
			if (mark)
				cuts_.push_back(at_mark(*mark));
		if (transfer_.in_library() || transfer_.wait_return)
			cut_at_calls(*taker.thread, handover.ready.at_ns, handover.taken.at_ns, cuts_);
		std::ranges::sort(cuts_, {}, &Boundary::at_ns);
	}

	void tile()
	{
		const Stretches all = stretches(*taker_.thread, handover_.ready.at_ns, handover_.taken.at_ns);
		boost::container::small_vector<Sleep, 4> sleeps;
		for (const Stretch &stretch : all) {
			if (stretch.off)
				tiling_.refuse(flaw(*stretch.off));
			sleeps.push_back(classify(stretch.off));
		}
		if (tiling_.reason() != Reason::None)
			return;
		for (size_t i = 0; i < all.size(); ++i) {
			const Boundary end = end_of(all[i]);
			if (all[i].off) {
				off(*all[i].off, sleeps[i], end);
				continue;
			}
			// Between a spurious wakeup and the next sleep for the message, it ran for that wakeup only.
			auto waits = [](Sleep sleep) { return sleep == Sleep::Delivered || sleep == Sleep::Spurious; };
			auto next = std::find_if(sleeps.begin() + i, sleeps.end(), waits);
			auto before = std::find_if(sleeps.rend() - i, sleeps.rend(), waits);
			bool inside = before != sleeps.rend();
			const OffCpu *earlier = inside ? nullptr : slept_before_window();
			bool spurious = inside ? *before == Sleep::Spurious : earlier && !carries(handover_, *earlier);
			spurious_run_ = spurious && next != sleeps.end();
			came_back_ = inside || earlier;
			tiling_.running(
				all[i], end, taker_, {cuts_.data(), cuts_.size()}, [this](uint64_t at_ns) { return running(at_ns); },
				own_);
		}
	}

private:
	bool asking(uint64_t at_ns) const { return at_ns >= transfer_.ask.at_ns; }

	// Whether it is in the wait that may sleep for the message. At a slot only the readiness wait may.
	bool waiting(uint64_t at_ns) const
	{
		return asking(at_ns) && !transfer_.polls && (!transfer_.wait_return || at_ns < transfer_.wait_return->at_ns);
	}

	// A library's function may also wait for a lock, for a timer, or for a thread that neither gave nor announced the
	// message.
	bool waits_for_else(const OffCpu &off) const
	{
		const Call *call = transfer_.in_library() ? call_at(*taker_.thread, off.out_ns) : nullptr;
		return call && (call->kind == Call::Kind::FutexLock || off.waker_context == ICEPATH_CONTEXT_HARDIRQ ||
						(off.waker_context == ICEPATH_CONTEXT_TASK && !by_giver(off)));
	}

	Sleep classify(const OffCpu *off)
	{
		if (!off)
			return Sleep::None;
		if (off->preempted)
			return Sleep::Preempted;
		if (!waiting(off->out_ns) || is_for_memory(*off))
			return Sleep::Other;
		// It doesn't sleep for a message that it has, that it was woken for, or that was there when it asked. A slot is
		// an exception: its stamp precedes the store, which may come much later, and the giver wakes after that. So is
		// a softirq that announces a message on entry to the function that queues it, and loses its CPU there.
		const bool has_it = transfer_.taken && !handover_.slot && transfer_.taken->at_ns <= off->out_ns;
		const bool was_there = !handover_.inferred && !handover_.slot && !transfer_.announcer_lost_cpu &&
							   handover_.ready.at_ns <= transfer_.ask.at_ns;
		if (has_it)
			return Sleep::Other;
		if (carries(handover_, *off) && (by_giver(*off) || !was_there)) {
			delivered_ = true;
			return Sleep::Delivered;
		}
		if (delivered_ || was_there || (handover_.slot && !transfer_.wait_return))
			return Sleep::Other;
		// Had it slept for this message, the announcing context would have woken it before its end.
		const uint64_t until_ns = announced_until(transfer_);
		if (until_ns != 0 && off->waking_ns > until_ns && !waits_for_else(*off))
			return Sleep::Unknown;
		if (off->out_ns < handover_.ready.at_ns || transfer_.taken)
			return Sleep::Spurious;
		// A waking finds its thread asleep or about to sleep, so it had begun to wait before the message was ready.
		if (!handover_.inferred && asking(off->waking_ns) && off->waking_ns < handover_.ready.at_ns)
			return Sleep::Spurious;
		return handover_.inferred || waits_for_else(*off) ? Sleep::Other : Sleep::Unknown;
	}

	// The last sleep in this same wait that ended before the message was ready.
	const OffCpu *slept_before_window() const
	{
		const auto &periods = taker_.thread->off;
		auto after = std::ranges::partition_point(
			periods, [&](const OffCpu &off) { return off.in_ns <= handover_.ready.at_ns; });
		while (after != periods.begin()) {
			--after;
			if (after->out_ns < transfer_.ask.at_ns)
				break;
			if (!after->preempted && !is_for_memory(*after) && waiting(after->out_ns))
				return &*after;
		}
		return nullptr;
	}

	Label running(uint64_t at_ns) const
	{
		if (!asking(at_ns))
			return {Layer::Queue, Part::Busy};
		Part part = spurious_run_ ? Part::Spurious : Part::None;
		if (transfer_.polls && !(transfer_.take_call && at_ns >= transfer_.take_call->at_ns && !handover_.slot))
			return {Layer::Propagation};
		if (transfer_.in_library())
			return {call_at(*taker_.thread, at_ns) ? kernel_layer(taker_.role) : user_layer(taker_.role), part};
		bool before_wait_return = !transfer_.wait_return || at_ns < transfer_.wait_return->at_ns;
		if (handover_.slot || !transfer_.take_call) { // seen in memory
			if (came_back_ && before_wait_return)
				return {kernel_layer(taker_.role), part};
			return {Layer::Propagation};
		}
		if (transfer_.take_call && at_ns >= transfer_.take_call->at_ns)
			return {kernel_layer(taker_.role), part};
		if (transfer_.wait_return) { // it may make other calls before it takes the message
			const bool in_call = before_wait_return || call_at(*taker_.thread, at_ns);
			return {in_call ? kernel_layer(taker_.role) : user_layer(taker_.role), part};
		}
		return {came_back_ ? kernel_layer(taker_.role) : user_layer(taker_.role), part};
	}

	void off(const OffCpu &off, Sleep sleep, const Boundary &end)
	{
		uint64_t at_ns = std::max(off.out_ns, handover_.ready.at_ns);
		if (!asking(at_ns)) {
			if (off.preempted)
				return tiling_.preempted(off, end, taker_, {Layer::Queue, Part::Preempted});
			// Once another event has woken it, it only lacks a CPU. The culprit is what had the CPU, as after a
			// preemption.
			if (off.wakeup_ns > tiling_.cursor().at_ns)
				tiling_.until(sooner(at_record(off.wakeup_ns, off.record), end), taker_, {Layer::Queue, Part::Blocked},
							  waker_of(off));
			return tiling_.preempted(off, end, taker_, {Layer::Queue, Part::Preempted});
		}
		switch (sleep) {
		case Sleep::None:
			return;
		case Sleep::Preempted:
			return tiling_.preempted(off, end, taker_, {Layer::Preempted});
		case Sleep::Other:
			return tiling_.blocked(off, end, taker_, blocked_part(seen_, *taker_.thread, off, nullptr));
		case Sleep::Unknown:
			return tiling_.refuse(Reason::NoEvidence);
		case Sleep::Delivered:
		case Sleep::Spurious:
			break;
		}
		const Part part = sleep == Sleep::Spurious ? Part::Spurious : Part::None;
		Boundary waking = sooner(at_record(off.waking_ns, off.record, Provenance::Paired), end);
		if (waking.at_ns > tiling_.cursor().at_ns)
			notify(waking, sleep == Sleep::Delivered && by_giver(off));
		tiling_.wakeup(off, end, taker_, part);
		tiling_.runqueue(off, end, taker_, part);
	}

	bool by_giver(const OffCpu &off) const
	{
		return off.waker_context == ICEPATH_CONTEXT_TASK && off.waker_tid == transfer_.from;
	}

	void notify(const Boundary &waking, bool by_giver_itself)
	{
		Label label{transfer_.device || transfer_.carried() ? Layer::Network : kernel_layer(giver_.role), Part::Notify};
		if (!by_giver_itself)
			return tiling_.until(waking, taker_, label);
		for (const Stretch &stretch : stretches(*giver_.thread, tiling_.cursor().at_ns, waking.at_ns)) {
			Boundary end = path::end_of(*giver_.thread, stretch, waking);
			if (!stretch.off)
				tile_notify(stretch, end, label);
			else
				tile_off(*stretch.off, end, giver_, &transfer_, tiling_);
		}
	}

	// The giver's own interrupts belong to its hop, its work for the waking to the transfer.
	void tile_notify(const Stretch &stretch, const Boundary &end, Label label)
	{
		auto found = seen_.cpus.find(stretch.cpu);
		if (found != seen_.cpus.end())
			for (const Carved &carved : outermost_interrupts(found->second, stretch.begin_ns, stretch.end_ns)) {
				const Interrupt &one = *carved.whole;
				if (own_.hold(one))
					continue;
				tiling_.until(at_record(carved.begin_ns, one.record), taker_, label);
				const Boundary over = sooner(at_record(one.end_ns, one.record), end);
				if (own_.serve(one) && is_kernel(label.layer))
					tiling_.until(over, giver_, {label.layer, Part::Softirq});
				else
					tiling_.until(over, giver_, interrupted_by(one), culprit_of(one));
			}
		tiling_.until(end, taker_, label);
	}

	Boundary end_of(const Stretch &stretch) const { return path::end_of(*taker_.thread, stretch, handover_.taken); }

	const Observations &seen_;
	const Handover &handover_;
	const Transfer &transfer_;
	const Place &taker_;
	const Place &giver_;
	const OwnInterrupts &own_;
	Tiling &tiling_;
	Cuts cuts_;
	bool delivered_ = false, spurious_run_ = false, came_back_ = false;
};

} // namespace

void tile_taking(const Observations &seen, const Handover &handover, const Place &taker, const Place &giver,
				 const OwnInterrupts &own, Tiling &tiling)
{
	Taking(seen, handover, taker, giver, own, tiling).tile();
}

} // namespace icepath::path
