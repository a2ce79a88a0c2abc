// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/walk.h"

#include <algorithm>
#include <ranges>

#include "ebpf/contexts.h"
#include "profiler/path/giving.h"
#include "profiler/path/taking.h"

// Why a lost record can't make a wrong path
//
// A record is written when what it describes has ended, and a gap in `seq` gives the window in which the lost ones were
// written. So a path is right if each record that could change it would have been written in the time that is checked
// against these windows: [send, recv], and until each giving thread's call returned.
//
//  - An off-CPU period or interrupt of a thread, within the time that the path tiles of it, ended before the thread's
//    next proven activity. The receiver's is `recv`. A giver's time ends at "ready", when it needn't be running (a
//    softirq elsewhere announced it): its next proof is the return of its call, which may be after `recv`. A preempted
//    giver's period is written as late as that. Where it publishes by a store, the stamp is the proof.
//  - A foreign task that delayed a thread was switched out before that thread came in.
//  - A ready event of this message comes between its call and the call's return, or `recv`. If a later event took its
//    place because the right one was lost, that loss lies in the checked time. A match that rests on counting from an
//    earlier instant carries that instant (Transfer::matched_since_ns).
//  - A thread that isn't pinned runs on the CPU of its last switch-in, so the check goes back to that. Before the first
//    one it runs on the CPU that its first record shows, so the check extends to that record.
//
// A program that the kernel skipped leaves no gap. The decoder makes a loss window of the span in which the kernel
// counted the skip, and of all time after it if the program keeps state for its next run (capture/probes.h,
// is_of_an_instant). Wakings are an exception: their times show a skip (decode.cc).

namespace icepath::path {
namespace {

class Walk {
public:
	Walk(const Observations &seen, const Delivery &delivery, SharingOut &sharing_out, Tiles &tiles)
		: seen_(seen), delivery_(delivery), sharing_out_(sharing_out), tiles_(tiles)
	{
		tiles_.clear();
		auto order = [](const auto &transfer, uint64_t message) { return transfer.message < message; };
		auto begin = std::lower_bound(seen.transfers.begin(), seen.transfers.end(), delivery.message, order);
		auto end = begin;
		while (end != seen.transfers.end() && end->message == delivery.message)
			++end;
		transfers_ = {begin, end};
		left_of_chain_ = static_cast<size_t>(end - begin);
		path_.send_ns = delivery.send.at_ns;
		path_.recv_ns = delivery.recv.at_ns;
		loss_begin_ns_ = path_.send_ns;
		loss_end_ns_ = path_.recv_ns;
	}

	Path run()
	{
		path_.reason = walk_back();
		if (path_.reason == Reason::None && !knows_cpus_)
			path_.reason = Reason::NoEvidence;
		if (path_.send_ns <= path_.recv_ns && lost_overlaps(true))
			path_.reason = Reason::UnreadableRecord;
		if (path_.send_ns <= path_.recv_ns && lost_overlaps(false))
			path_.reason = Reason::LostRecord;
		if (path_.reason == Reason::None)
			path_.reason = assemble();
		if (path_.reason != Reason::None) {
			path_.segments.clear();
			path_.shares.clear();
			path_.late_wakers.clear();
		}
		return std::move(path_);
	}

private:
	const Thread *thread(uint32_t tid) const
	{
		auto found = seen_.threads.find(tid);
		return found == seen_.threads.end() ? nullptr : &found->second;
	}

	Role role_of(uint32_t tid, uint16_t hop) const
	{
		return hop == 0 ? Role::Receiver : tid == delivery_.sender ? Role::Sender : Role::Relay;
	}

	bool lost_overlaps(bool unreadable) const
	{
		return std::ranges::any_of(seen_.lost, [&](const LossWindow &lost) {
			return lost.unreadable == unreadable && lost.begin_ns <= loss_end_ns_ && lost.end_ns >= loss_begin_ns_;
		});
	}

	// Begins a window of one thread's time. Windows come from last to first.
	Tiling tiling_from(const Boundary &begin) { return Tiling(seen_, begin, sharing_out_, tiles_); }

	void rest_on_cpu(const Thread &thread, uint64_t begin_ns)
	{
		if (thread.pinned)
			return;
		auto off = std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.in_ns <= begin_ns; });
		uint64_t since = seen_.begin_ns;
		if (off != thread.off.begin())
			since = std::prev(off)->in_ns;
		else if (thread.first_cpu_told_ns == UINT64_MAX)
			knows_cpus_ = false;
		else
			loss_end_ns_ = std::max(loss_end_ns_, thread.first_cpu_told_ns);
		loss_begin_ns_ = std::min(loss_begin_ns_, since);
	}

	static uint64_t taken_at(const Transfer &transfer)
	{
		const auto &mark = transfer.publish() || !transfer.take_return ? transfer.taken : transfer.take_return;
		return mark ? mark->at_ns : UINT64_MAX;
	}

	// The transfer by which a thread got the message. Two would be two messages, or two copies of one. In a chain it is
	// the last one that the walk hasn't passed.
	const Transfer *incoming(uint32_t tid, bool &ambiguous)
	{
		const Transfer *found = nullptr;
		if (delivery_.chained) {
			if (left_of_chain_ > 0 && transfers_[left_of_chain_ - 1].to == tid)
				found = &transfers_[--left_of_chain_];
			return found;
		}
		for (const Transfer &transfer : transfers_) {
			if (transfer.to != tid)
				continue;
			ambiguous |= found != nullptr;
			found = &transfer;
		}
		return found;
	}

	// A thread can't give before it has the message.
	static bool gives_too_soon(const Transfer *out, uint64_t has_it_ns)
	{
		return out &&
			   ((out->call && out->call->at_ns < has_it_ns) || (out->publish() && out->publish()->at_ns < has_it_ns));
	}

	bool has_message(uint32_t tid, uint64_t at_ns) const
	{
		if (tid == delivery_.sender)
			return at_ns >= delivery_.send.at_ns;
		return std::ranges::any_of(transfers_,
								   [&](const Transfer &one) { return one.to == tid && taken_at(one) <= at_ns; });
	}

	// Nothing at a wake edge names the message. If the waker also had another message that is still on its way and that
	// the woken thread didn't give on earlier, it may have handed over that one.
	bool several_carried(uint32_t waker, const Thread &woken, uint64_t waking_ns, uint64_t end_ns,
						 const Transfer *out) const
	{
		// The woken thread gave another message on first, perhaps one that was lost later: it may have been woken for
		// that.
		auto between = [&](uint64_t at_ns) {
			return at_ns > waking_ns && at_ns < end_ns && !(out && out->call && out->call->at_ns == at_ns);
		};
		if (out && std::ranges::any_of(woken.calls, [&](const Call &call) {
				return call.kind == Call::Kind::Send && between(call.begin_ns);
			}))
			return true;
		for (const Transfer &other : seen_.transfers) {
			const auto &begin = other.call ? other.call : other.publish();
			if (other.from == woken.tid && other.message != delivery_.message && begin && between(begin->at_ns))
				return true;
		}
		auto order = [](const Transfer &transfer, uint64_t message) { return transfer.message < message; };
		return std::ranges::any_of(seen_.deliveries, [&](const Delivery &other) {
			if (other.message == delivery_.message || other.send.at_ns > waking_ns || other.recv.at_ns <= waking_ns)
				return false;
			bool carried = other.sender == waker;
			auto transfer = std::lower_bound(seen_.transfers.begin(), seen_.transfers.end(), other.message, order);
			for (; transfer != seen_.transfers.end() && transfer->message == other.message; ++transfer) {
				if (transfer->from == woken.tid && gives_too_soon(&*transfer, waking_ns))
					return false;
				carried |= transfer->to == waker && taken_at(*transfer) <= waking_ns;
			}
			return carried;
		});
	}

	Reason walk_back()
	{
		if (delivery_.send.at_ns > delivery_.recv.at_ns)
			return Reason::InvertedTime;
		if (delivery_.unresolved != Reason::None)
			return delivery_.unresolved;
		Place place{thread(delivery_.receiver), 0, Role::Receiver};
		Boundary end = at_mark(delivery_.recv);
		const Transfer *out = nullptr;
		const Thread *sender = thread(delivery_.sender);
		if (!place.thread || !sender)
			return Reason::NoEvidence;
		if (off_across(*place.thread, end.at_ns) || off_across(*sender, delivery_.send.at_ns))
			return Reason::InvertedTime;
		for (; place.hop < kMostHops; ++place.hop) {
			const uint32_t tid = place.thread->tid;
			place.role = role_of(tid, place.hop);
			if (end.at_ns < delivery_.send.at_ns)
				return tid == delivery_.sender ? Reason::InvertedTime : Reason::LeftPath;
			if (tid == delivery_.sender && place.hop > 0) {
				if (gives_too_soon(out, delivery_.send.at_ns))
					return Reason::InvertedTime;
				rest_on_cpu(*place.thread, delivery_.send.at_ns);
				Tiling tiling = tiling_from(at_mark(delivery_.send));
				tile_holding(place, end, {out, true, false}, own(out), tiling);
				last_hop_ = place.hop;
				return tiling.reason();
			}
			bool ambiguous = false;
			const Transfer *in = incoming(tid, ambiguous);
			if (ambiguous)
				return Reason::AmbiguousRelay;
			if (!in && delivery_.chained)
				return Reason::LeftPath;
			Reason reason = in ? cross_transfer(*in, place, end, out) : cross_wake(place, end, out);
			if (reason != Reason::None)
				return reason;
		}
		return Reason::LeftPath;
	}

	static OwnInterrupts own(const Transfer *out)
	{
		return out ? OwnInterrupts{out->ready_interrupt, out->device_interrupt, out->connection} : OwnInterrupts{};
	}

	// The message edge: from the thread that took the message to the one that gave it.
	Reason cross_transfer(const Transfer &in, Place &place, Boundary &end, const Transfer *&out)
	{
		const Thread *from = thread(in.from);
		if (!from)
			return Reason::NoEvidence;
		if (in.matched_since_ns != 0)
			loss_begin_ns_ = std::min(loss_begin_ns_, in.matched_since_ns);
		if (in.call && !in.publish())
			loss_end_ns_ = std::max(loss_end_ns_, in.call_return ? in.call_return->at_ns : seen_.end_ns);
		Handover handover;
		if (Reason reason = resolve(seen_, in, *from, *place.thread, handover); reason != Reason::None)
			return reason;
		if (handover.taken.at_ns > end.at_ns || gives_too_soon(out, handover.taken.at_ns))
			return Reason::InvertedTime;
		const Place giver{from, static_cast<uint16_t>(place.hop + 1), role_of(in.from, place.hop + 1)};
		rest_on_cpu(*place.thread, handover.ready.at_ns);

		Tiling held = tiling_from(handover.taken);
		tile_holding(place, end, {out, place.hop > 0 || in.in_library(), place.hop == 0 && in.follows_in_read},
					 own(out), held);
		if (Reason reason = held.reason(); reason != Reason::None)
			return reason;
		Tiling taking = tiling_from(handover.ready);
		tile_taking(seen_, handover, place, giver, own(&in), taking);
		if (Reason reason = taking.reason(); reason != Reason::None)
			return reason;
		end = handover.ready;
		if (in.device) {
			Boundary device = at_mark(*in.device);
			bool is_held = in.call_return && in.call_return->at_ns < in.device->at_ns;
			end = is_held ? at_mark(*in.call_return) : device;
			Tiling network = tiling_from(end);
			if (is_held)
				network.until(device, place, {Layer::Network, Part::Held});
			network.until(handover.ready, place, {Layer::Network});
			if (Reason reason = network.reason(); reason != Reason::None)
				return reason;
		}
		if (in.carried() && in.call_return && in.call_return->at_ns < handover.ready.at_ns) {
			// The kernel thread got it during the call, at an unknown instant.
			const Mark &last = *in.call_return;
			end = {last.at_ns, last.evidence, Provenance::Inferred, in.call->at_ns, last.at_ns};
			Tiling network = tiling_from(end);
			network.until(handover.ready, place, {Layer::Network});
			if (Reason reason = network.reason(); reason != Reason::None)
				return reason;
		}
		place.thread = from;
		out = &in;
		return Reason::None;
	}

	// The wake edge: the thread took the message from no queue, but a thread that had it woke it.
	Reason cross_wake(Place &place, Boundary &end, const Transfer *&out)
	{
		const Thread &woken = *place.thread;
		const OffCpu *edge = nullptr;
		auto first = std::ranges::partition_point(woken.off,
												  [&](const OffCpu &off) { return off.in_ns <= delivery_.send.at_ns; });
		for (auto off = first; off != woken.off.end() && off->in_ns <= end.at_ns; ++off) {
			if (off->waking_ns < delivery_.send.at_ns || off->waker_context != ICEPATH_CONTEXT_TASK ||
				off->waker_tid == woken.tid || !has_message(off->waker_tid, off->waking_ns))
				continue;
			if (edge)
				return Reason::AmbiguousRelay;
			edge = &*off;
		}
		if (!edge)
			return Reason::LeftPath;
		if (several_carried(edge->waker_tid, woken, edge->waking_ns, end.at_ns, out))
			return Reason::AmbiguousRelay;
		const Thread *waker = thread(edge->waker_tid);
		if (!waker)
			return Reason::NoEvidence;
		if (gives_too_soon(out, edge->in_ns))
			return Reason::InvertedTime;
		if (Reason reason = flaw(*edge); reason != Reason::None)
			return reason;
		if (off_across(*waker, edge->waking_ns))
			return Reason::InvertedTime;
		Boundary waking = at_record(edge->waking_ns, edge->record, Provenance::Paired);
		rest_on_cpu(woken, edge->waking_ns);
		Tiling tiling = tiling_from(waking);
		if (edge->waking_ns < edge->out_ns)
			tile_holding(place, at_record(edge->out_ns, edge->record), {nullptr, true, false}, {}, tiling);
		if (edge->preempted) {
			tiling.preempted(*edge, end, place, {Layer::Preempted});
		} else {
			tiling.wakeup(*edge, end, place);
			tiling.runqueue(*edge, end, place);
		}
		tile_holding(place, end, {out, true, false}, own(out), tiling);
		if (Reason reason = tiling.reason(); reason != Reason::None)
			return reason;
		place.thread = waker;
		end = waking;
		out = nullptr;
		return Reason::None;
	}

	// Joins the windows in time order, with hops counted from the sender. Refuses whatever doesn't tile.
	Reason assemble()
	{
		Tiles all;
		all.segments.reserve(tiles_.segments.size());
		all.shares.reserve(tiles_.shares.size());
		size_t end = tiles_.segments.size();
		for (const Tiles::Window &window : tiles_.windows | std::views::reverse) {
			auto share = tiles_.shares.cbegin() + static_cast<ptrdiff_t>(window.share);
			auto waker = tiles_.late_wakers.cbegin() + static_cast<ptrdiff_t>(window.late_waker);
			for (size_t i = window.segment; i < end; ++i) {
				Segment segment = tiles_.segments[i];
				segment.hop = static_cast<uint16_t>(last_hop_ - segment.hop);
				const auto first = share;
				while (share != tiles_.shares.cend() && share->segment == i)
					++share;
				const auto first_waker = waker;
				while (waker != tiles_.late_wakers.cend() && waker->segment == i)
					++waker;
				all.add(segment, {first, share}, {first_waker, waker});
			}
			end = window.segment;
		}
		path_.segments = std::move(all.segments);
		path_.shares = std::move(all.shares);
		path_.late_wakers = std::move(all.late_wakers);
		uint64_t at_ns = path_.send_ns;
		for (const Segment &segment : path_.segments) {
			if (segment.begin.at_ns != at_ns || segment.end.at_ns <= at_ns)
				return Reason::InvertedTime;
			at_ns = segment.end.at_ns;
		}
		return at_ns == path_.recv_ns ? Reason::None : Reason::InvertedTime;
	}

	const Observations &seen_;
	const Delivery &delivery_;
	std::ranges::subrange<std::vector<Transfer>::const_iterator> transfers_;
	size_t left_of_chain_ = 0;
	uint64_t loss_begin_ns_ = 0, loss_end_ns_ = 0;
	bool knows_cpus_ = true; // of threads that aren't pinned
	SharingOut &sharing_out_;
	Tiles &tiles_;
	uint16_t last_hop_ = 0;
	Path path_;
};

} // namespace

Path Walker::walk(const Delivery &delivery) { return Walk(seen_, delivery, sharing_out_, tiles_).run(); }

} // namespace icepath::path
