// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/relays.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "profiler/decode/edges.h"
#include "profiler/decode/event_search.h"
#include "profiler/decode/relay_search.h"
#include "profiler/path/tiling.h"

namespace icepath::decode {
namespace {

// The first request of the taker that was still open when the whole message was there. It may have been for another of
// the parts that it took itself.
const Call &asked_by(const FoundTransfer &step, uint64_t since_ns)
{
	const Call *first = &step.on->asked();
	for (const Edge *part : step.parts) {
		if (part->to != step.to)
			continue;
		for (const Call *call : {part->wait, part->take})
			if (call && call->end_ns >= since_ns && call->begin_ns < first->begin_ns)
				first = call;
	}
	return *first;
}

Transfer transfer_of(const FoundTransfer &step, uint64_t message, const Observations &seen)
{
	const Edge &on = *step.on;
	// Paired: the content of the calls isn't known.
	const auto mark = [](uint64_t at_ns, const Call &call) { return Mark{at_ns, call.evidence, Provenance::Paired}; };
	Transfer transfer;
	transfer.message = message;
	transfer.by = ByLibrary{};
	transfer.from = on.from;
	transfer.to = on.to;
	transfer.call = mark(on.give->begin_ns, *on.give);
	transfer.call_return = mark(on.give->end_ns, *on.give);
	transfer.through_device = on.through_device || on.device;
	if (on.device) {
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
	if (const Edge *since = step.whole_since) {
		transfer.taken_since_ns = since->had_ns();
		transfer.ready_since_ns = since->device  ? since->device->at_ns
								  : since->ready ? since->ready->at_ns
												 : since->given_ns();
	}
	const Call &asked = asked_by(step, transfer.ready ? transfer.ready->at_ns : on.given_ns());
	transfer.ask = mark(asked.begin_ns, asked);
	if (on.wait)
		transfer.wait_return = mark(on.wait->end_ns, *on.wait);
	transfer.take_call = mark(on.take->begin_ns, *on.take);
	transfer.take_return = mark(on.take->end_ns, *on.take);
	return transfer;
}

// Hand-over in memory: before the giver next went to wait, or else just before the taker gave the message on. A taker
// without a CPU took it when it came back.
Transfer transfer_in_memory(const FoundTransfer &step, uint64_t message, const Observations &seen)
{
	const Thread &giver = seen.threads.at(step.from), &taker = seen.threads.at(step.to);
	Transfer transfer;
	transfer.message = message;
	transfer.from = step.from;
	transfer.to = step.to;
	Boundary handed{step.taken_by.at_ns, step.taken_by.evidence, Provenance::Inferred, step.had.at_ns,
					step.taken_by.at_ns};
	auto waits =
		std::ranges::partition_point(giver.calls, [&](const Call &one) { return one.begin_ns < step.had.at_ns; });
	while (waits != giver.calls.end() && waits->begin_ns < handed.at_ns && waits->kind != Call::Kind::ReadinessWait &&
		   waits->kind != Call::Kind::FutexWait)
		++waits;
	if (waits != giver.calls.end() && waits->begin_ns < handed.at_ns) {
		handed.at_ns = waits->begin_ns;
		handed.evidence = waits->evidence;
	}
	// It can't hand anything on without a CPU.
	if (const OffCpu *away = off_across(giver, handed.at_ns); away && away->out_ns >= step.had.at_ns) {
		handed.at_ns = away->out_ns;
		handed.evidence = {Evidence::Source::Record, away->record};
	}
	transfer.by = ByLibrary{handed};
	const OffCpu *off = off_across(taker, handed.at_ns);
	const Boundary taken = off ? switch_in(*off) : handed;
	transfer.take_return = Mark{taken.at_ns, taken.evidence, Provenance::Inferred};
	transfer.ask = *transfer.take_return;
	return transfer;
}

// The block's messages, warm-up included, that were in flight together with another one.
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
	const OnItsWay *longest = nullptr; // the one with the latest end so far
	for (const OnItsWay &one : all) {
		if (longest && longest->end_ns > one.begin_ns && longest->message != one.message)
			overlap.insert({longest->message, one.message});
		if (!longest || one.end_ns >= longest->end_ns)
			longest = &one;
	}
	return overlap;
}

// Whether a thread that may be on the path slept and came back without a recorded waking: on a kernel that runs no
// program while certain tasks are current, interrupts on top of them aren't seen. Processes of other cells don't count.
bool missed_a_waking(const Observations &seen, const Delivery &delivery)
{
	return std::ranges::any_of(seen.threads, [&](const auto &thread) {
		return !path::is_of_another_cell(seen, thread.first) &&
			   std::ranges::any_of(thread.second.off, [&](const OffCpu &off) {
				   return !off.preempted && off.waking_ns == 0 && off.in_ns > delivery.send.at_ns &&
						  off.in_ns <= delivery.recv.at_ns;
			   });
	});
}

} // namespace

void find_relays(const SocketEvents &events, const Means &means, Observations &seen)
{
	const Edges handed_on = edges_of(events, seen);
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
		if (taken.at_ns > delivery.recv.at_ns) // impossible: the walk will report it
			taken = delivery.recv;
		// Something untold matters only if it was taken while the message was on its way.
		const auto untold = std::ranges::lower_bound(handed_on.untold_ns, delivery.send.at_ns);
		if (untold != handed_on.untold_ns.end() && *untold <= taken.at_ns) {
			delivery.unresolved = Reason::AmbiguousRelay;
			continue;
		}
		const Chain chain = chain_of(seen, handed_on.all, delivery, taken, means);
		if (chain.reason != Reason::None) {
			delivery.unresolved =
				chain.reason == Reason::LeftPath && missed_a_waking(seen, delivery) ? Reason::LostRecord : chain.reason;
			continue;
		}
		for (const FoundTransfer &step : chain.transfers)
			found.push_back(step.on ? transfer_of(step, delivery.message, seen)
									: transfer_in_memory(step, delivery.message, seen));
		if (means.calls_back)
			continue; // the log shows how the receiver's thread got it
		Transfer &last = found.back(); // the receiver stamps the library's functions
		last.ask = stamps.ask;
		last.wait_return = stamps.wait_return;
		last.take_call = stamps.take_call;
		last.take_return = stamps.take_return;
		last.taken_since_ns = 0;
		last.follows_in_read = stamps.follows_in_read;
	}
	std::ranges::stable_sort(found, {}, &Transfer::message);
	seen.transfers = std::move(found);
}

} // namespace icepath::decode
