// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/relays.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "profiler/path/event_search.h"
#include "profiler/path/hand_ons.h"
#include "profiler/path/tiling.h"

namespace icepath::path {

namespace {

// More hops than any middleware has.
constexpr size_t kMostHops = 64;

// One hand-over of the message. In memory there are only its bounds: when the giver had it, and when the taker had it surely.
struct Step {
	const HandOn *on = nullptr; // nullptr: in memory
	uint32_t from = 0, to = 0; // tids
	uint64_t had_ns = 0, taken_by_ns = 0;
	Evidence had_by = {}, taken_by = {};
};

// Between whom a message may be handed on without a call.
enum class Memory : uint8_t { NotAtAll, OfAProcess, Shared };

// The hand-overs that carry one message from its sender to its receiver.
class Search {
public:
	// `taken`: when the receiver has it at the latest.
	Search(const Observations &seen, const std::vector<HandOn> &all, const Delivery &delivery, const Mark &taken,
		   Memory memory)
		: seen_(seen), delivery_(delivery), memory_(memory)
	{
		have(delivery.sender, delivery.send.at_ns);
		auto on =
			std::ranges::partition_point(all, [&](const HandOn &one) { return one.given_ns() < delivery.send.at_ns; });
		for (; on != all.end() && on->given_ns() <= taken.at_ns; ++on)
			if (on->had_ns() <= taken.at_ns && may_have(on->from, on->given_ns())) {
				have(on->to, on->had_ns());
				to_[on->to].push_back(&*on);
			}
		if (!find(taken))
			steps_.clear();
	}

	// From the receiver back to the sender; empty where there are none.
	const std::vector<Step> &steps() const { return steps_; }

private:
	// Those with the same number, but 0, have memory in common.
	uint32_t memory_of(uint32_t tid) const
	{
		const auto found = seen_.threads.find(tid);
		if (memory_ == Memory::NotAtAll || found == seen_.threads.end() || found->second.process == 0)
			return 0;
		return memory_ == Memory::Shared ? 1 : found->second.process;
	}

	static void earlier(std::map<uint32_t, uint64_t> &since, uint32_t whose, uint64_t at_ns)
	{
		const auto known = since.try_emplace(whose, at_ns).first;
		known->second = std::min(known->second, at_ns);
	}

	void have(uint32_t tid, uint64_t at_ns)
	{
		earlier(threads_, tid, at_ns);
		if (const uint32_t memory = memory_of(tid); memory != 0)
			earlier(memories_, memory, at_ns);
	}

	bool may_have(uint32_t tid, uint64_t at_ns) const
	{
		const auto thread = threads_.find(tid);
		if (thread != threads_.end() && thread->second <= at_ns)
			return true;
		const auto memory = memories_.find(memory_of(tid));
		return memory != memories_.end() && memory->second <= at_ns;
	}

	// Who takes bytes that another thread has told it of has them from that one.
	const HandOn *told_of(const std::vector<const HandOn *> &to, const HandOn *taken, uint32_t except) const
	{
		if (taken && taken->ready && !taken->woken)
			for (const HandOn *one : to | std::views::reverse)
				if (one->woken && !one->lock && one->from != except && one->given_ns() > taken->ready->at_ns &&
					one->had_ns() <= taken->take->begin_ns)
					return one;
		return taken;
	}

	// The last one to this thread, not by `except`, that was over by then; one that only ended a wait for a lock where there is no
	// other.
	const HandOn *last_to(uint32_t tid, uint64_t by_ns, uint32_t except = 0) const
	{
		const HandOn *last = nullptr;
		const auto found = to_.find(tid);
		if (found == to_.end())
			return last;
		for (const HandOn *one : found->second)
			if (one->had_ns() <= by_ns && one->from != except &&
				(!last || (last->lock && !one->lock) || (last->lock == one->lock && one->had_ns() >= last->had_ns())))
				last = one;
		return told_of(found->second, last, except);
	}

	// The thread that had it last before then of those with the same memory, but not from the taker; false where there is none.
	bool step_in_memory(Step &step) const
	{
		const uint32_t memory = memory_of(step.to);
		if (memory == 0)
			return false;
		for (const auto &[tid, ons] : to_) {
			const HandOn *on =
				tid != step.to && memory_of(tid) == memory ? last_to(tid, step.taken_by_ns, step.to) : nullptr;
			if (on && on->had_ns() > step.had_ns) {
				step.from = tid;
				step.had_ns = on->had_ns();
				step.had_by = on->take->evidence;
			}
		}
		if (step.from == 0 && step.to != delivery_.sender && memory_of(delivery_.sender) == memory) {
			step.from = delivery_.sender;
			step.had_ns = delivery_.send.at_ns;
			step.had_by = delivery_.send.evidence;
		}
		return step.from != 0;
	}

	bool find(const Mark &taken)
	{
		Step step{.to = delivery_.receiver, .taken_by_ns = taken.at_ns, .taken_by = taken.evidence};
		uint32_t took_in_memory = 0; // from the thread that is looked at: what that one gave it isn't the message
		while (step.to != delivery_.sender || steps_.empty()) {
			if (steps_.size() >= kMostHops)
				return false;
			step.on = last_to(step.to, step.taken_by_ns, took_in_memory);
			took_in_memory = step.on ? 0 : step.to;
			if (step.on) {
				step.from = step.on->from;
				steps_.push_back(step);
				step = {.to = step.from, .taken_by_ns = step.on->given_ns(), .taken_by = step.on->give->evidence};
			} else if (step_in_memory(step)) {
				steps_.push_back(step);
				step = {.to = step.from, .taken_by_ns = step.had_ns, .taken_by = step.had_by};
			} else {
				return false;
			}
		}
		return true;
	}

	const Observations &seen_;
	const Delivery &delivery_;
	const Memory memory_;
	std::map<uint32_t, uint64_t> threads_, memories_; // since when they may have it
	std::map<uint32_t, std::vector<const HandOn *>> to_; // of what may carry it
	std::vector<Step> steps_;
};

Transfer transfer_of(const HandOn &on, uint64_t message, const Observations &seen)
{
	// What it carried wasn't looked at.
	const auto mark = [](uint64_t at_ns, const Call &call) { return Mark{at_ns, call.evidence, Provenance::Paired}; };
	Transfer transfer;
	transfer.message = message;
	transfer.in_library = true;
	transfer.from = on.from;
	transfer.to = on.to;
	transfer.call = mark(on.give->begin_ns, *on.give);
	transfer.call_return = mark(on.give->end_ns, *on.give);
	if (on.device) {
		transfer.through_device = true;
		set_device(*on.device, seen, transfer);
		transfer.device->provenance = Provenance::Paired;
	}
	if (on.ready) {
		set_ready(*on.ready, Provenance::Paired, &seen, transfer);
	} else if (on.woken) {
		transfer.ready = Mark{on.woken->waking_ns, {Evidence::Source::Record, on.woken->record}, Provenance::Paired};
		transfer.ready_tid = on.from;
		transfer.ready_context = on.woken->waker_context;
	}
	const Call &asked = on.wait ? *on.wait : *on.take;
	transfer.ask = mark(asked.begin_ns, asked);
	if (on.wait)
		transfer.wait_return = mark(on.wait->end_ns, *on.wait);
	transfer.take_call = mark(on.take->begin_ns, *on.take);
	transfer.take_return = mark(on.take->end_ns, *on.take);
	return transfer;
}

// In memory: the giver handed it on before it next went to wait, or else just before the taker gave it on itself. A taker that had no
// CPU then took it when it came back.
Transfer transfer_in_memory(const Step &step, uint64_t message, const Observations &seen)
{
	const Thread &giver = seen.threads.at(step.from), &taker = seen.threads.at(step.to);
	Transfer transfer;
	transfer.message = message;
	transfer.in_library = true;
	transfer.from = step.from;
	transfer.to = step.to;
	Boundary handed{step.taken_by_ns, step.taken_by, Provenance::Inferred, step.had_ns, step.taken_by_ns};
	auto waits = std::ranges::partition_point(giver.calls, [&](const Call &one) { return one.begin_ns < step.had_ns; });
	while (waits != giver.calls.end() && waits->begin_ns < handed.at_ns && waits->kind != Call::Kind::ReadinessWait &&
		   waits->kind != Call::Kind::FutexWait)
		++waits;
	if (waits != giver.calls.end() && waits->begin_ns < handed.at_ns) {
		handed.at_ns = waits->begin_ns;
		handed.evidence = waits->evidence;
	}
	// Without a CPU it handed nothing on.
	if (const OffCpu *away = off_across(giver, handed.at_ns); away && away->out_ns >= step.had_ns) {
		handed.at_ns = away->out_ns;
		handed.evidence = {Evidence::Source::Record, away->record};
	}
	transfer.in_memory = handed;
	const OffCpu *off = off_across(taker, handed.at_ns);
	const Boundary taken = off ? switch_in(*off) : handed;
	transfer.take_return = Mark{taken.at_ns, taken.evidence, Provenance::Inferred};
	transfer.ask = *transfer.take_return;
	return transfer;
}

// The messages of a block, lead-in included, that were on their way while another one was.
std::set<uint64_t> overlapping(const Observations &seen)
{
	struct OnItsWay {
		uint64_t begin_ns, end_ns, message;
	};
	std::vector<OnItsWay> all;
	for (const Delivery &delivery : seen.deliveries)
		all.push_back({delivery.send.at_ns, delivery.recv.at_ns, delivery.message});
	for (const Transfer &transfer : seen.transfers)
		if (transfer.call && transfer.take_return)
			all.push_back({transfer.call->at_ns, transfer.take_return->at_ns, transfer.message});
	std::ranges::stable_sort(all, {}, &OnItsWay::begin_ns);
	std::set<uint64_t> overlap;
	const OnItsWay *longest = nullptr; // of those before
	for (const OnItsWay &one : all) {
		if (longest && longest->end_ns > one.begin_ns && longest->message != one.message)
			overlap.insert({longest->message, one.message});
		if (!longest || one.end_ns >= longest->end_ns)
			longest = &one;
	}
	return overlap;
}

// Whether a thread that may have been on the way slept and came back while nobody was seen to wake it: a kernel that runs no
// program while certain tasks are current doesn't tell what interrupts do on top of these. Other cells' processes are none of it.
bool missed_a_waking(const Observations &seen, const Delivery &delivery)
{
	std::set<uint32_t> others;
	for (const auto &[tid, thread] : seen.threads)
		if (thread.of_another_cell)
			others.insert(thread.process);
	return std::ranges::any_of(seen.threads, [&](const auto &thread) {
		return !others.contains(thread.second.process) &&
			   std::ranges::any_of(thread.second.off, [&](const OffCpu &off) {
				   return !off.preempted && off.waking_ns == 0 && off.in_ns > delivery.send.at_ns &&
						  off.in_ns <= delivery.recv.at_ns;
			   });
	});
}

} // namespace

void find_relays(const SocketEvents &events, bool share_memory, Observations &seen)
{
	const std::vector<HandOn> all = hand_ons(events, seen);
	const std::set<uint64_t> overlap = overlapping(seen);
	std::map<uint64_t, const Transfer *> direct;
	for (const Transfer &transfer : seen.transfers)
		direct.emplace(transfer.message, &transfer);
	std::vector<Transfer> found;
	for (Delivery &delivery : seen.deliveries) {
		const auto stamped = direct.find(delivery.message);
		if (stamped == direct.end())
			continue;
		const Transfer &stamps = *stamped->second;
		delivery.chained = true;
		if (overlap.contains(delivery.message)) {
			delivery.unresolved = Reason::AmbiguousRelay;
			continue;
		}
		Mark taken = stamps.take_return.value_or(delivery.recv);
		if (taken.at_ns > delivery.recv.at_ns) // it can't be true: the walk will say so
			taken = delivery.recv;
		std::vector<Step> steps;
		for (const Memory memory : {Memory::NotAtAll, Memory::OfAProcess, Memory::Shared})
			if (steps.empty() && (share_memory || memory != Memory::Shared))
				steps = Search(seen, all, delivery, taken, memory).steps();
		if (steps.empty()) {
			delivery.unresolved = missed_a_waking(seen, delivery) ? Reason::LostRecord : Reason::LeftPath;
			continue;
		}
		for (const Step &step : steps | std::views::reverse)
			found.push_back(step.on ? transfer_of(*step.on, delivery.message, seen)
									: transfer_in_memory(step, delivery.message, seen));
		Transfer &last = found.back(); // the receiver stamps what the library's functions do
		last.ask = stamps.ask;
		last.wait_return = stamps.wait_return;
		last.take_call = stamps.take_call;
		last.take_return = stamps.take_return;
		last.follows_in_read = stamps.follows_in_read;
	}
	std::ranges::stable_sort(found, {}, &Transfer::message);
	seen.transfers = std::move(found);
}

} // namespace icepath::path
