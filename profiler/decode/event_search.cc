// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/event_search.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/path/blocking.h"
#include "profiler/path/timeline.h"

namespace icepath::decode {

Mark mark_of(const SocketEvent &event, Provenance provenance)
{
	return {event.at_ns, {Evidence::Source::Record, event.record}, provenance};
}

std::vector<SocketEvent> of_socket(const std::vector<SocketEvent> &events, uint64_t key)
{
	std::vector<SocketEvent> found;
	if (key != 0)
		std::ranges::copy_if(events, std::back_inserter(found),
							 [&](const SocketEvent &one) { return one.socket == key; });
	return found;
}

const SocketEvent *last_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns)
{
	auto after = std::ranges::partition_point(events, [&](const SocketEvent &one) { return one.at_ns <= end_ns; });
	return after != events.begin() && std::prev(after)->at_ns >= begin_ns ? &*std::prev(after) : nullptr;
}

std::span<const SocketEvent> all_within(const std::vector<SocketEvent> &events, uint64_t begin_ns, uint64_t end_ns)
{
	auto first = std::ranges::partition_point(events, [&](const SocketEvent &one) { return one.at_ns < begin_ns; });
	auto last = std::partition_point(first, events.end(), [&](const SocketEvent &one) { return one.at_ns <= end_ns; });
	return {first, last};
}

bool has_call(const Transfer &transfer)
{
	return transfer.call && transfer.call_return && transfer.call->at_ns <= transfer.call_return->at_ns;
}

void set_ready(const SocketEvent &event, Provenance provenance, const Observations *seen, Transfer &transfer)
{
	transfer.ready = mark_of(event, event.may_be_another ? std::max(provenance, Provenance::Paired) : provenance);
	transfer.ready_tid = event.tid;
	transfer.ready_context = event.context;
	transfer.ready_in_softirq = event.context != ICEPATH_CONTEXT_TASK;
	transfer.announced_until_ns = 0;
	transfer.announcer_lost_cpu = false;
	if (!seen || !transfer.ready_in_softirq)
		return;
	const Interrupt *around = outermost_around(*seen, event.cpu, event.at_ns);
	if (around) {
		transfer.ready_interrupt = around->record;
		transfer.announced_until_ns = end_of(*seen, event.cpu, *around);
		transfer.announcer_lost_cpu = around->goes_on;
	}
}

void clear_ready(Transfer &transfer)
{
	transfer.ready.reset();
	transfer.ready_tid = 0;
	transfer.ready_in_softirq = transfer.announcer_lost_cpu = false;
	transfer.ready_interrupt.reset();
	transfer.announced_until_ns = 0;
}

void tell_announcers(const SocketEvents &events, Observations &seen)
{
	std::unordered_map<uint32_t, std::vector<uint64_t>> announced; // by task, in order
	for (const SocketEvent &event : events.ready)
		if (event.context == ICEPATH_CONTEXT_TASK)
			announced[event.tid].push_back(event.at_ns);
	for (auto &[tid, times] : announced)
		std::ranges::sort(times);
	for (Transfer &transfer : seen.transfers) {
		if (!transfer.ready || transfer.ready_in_softirq)
			continue;
		// A message that was recorded on entry to the queue is announced after that.
		const std::vector<uint64_t> &times = announced[transfer.ready_tid];
		const auto own = std::ranges::lower_bound(times, transfer.ready->at_ns);
		if (own != times.end() && std::next(own) != times.end())
			transfer.announced_until_ns = *std::next(own);
	}
}

void set_device(const SocketEvent &event, const Observations &seen, Transfer &transfer)
{
	transfer.device = mark_of(event);
	if (event.context != ICEPATH_CONTEXT_TASK)
		transfer.device_interrupt = interrupt_around(seen, event.cpu, event.at_ns);
}

void tell_reached(const SocketEvents &events, Observations &seen)
{
	for (const SocketEvent &event : events.ready) {
		const auto giver = seen.threads.find(event.tid);
		if (event.context != ICEPATH_CONTEXT_TASK || giver == seen.threads.end())
			continue;
		const Call *call = call_at(giver->second, event.at_ns);
		if (call && call->kind == Call::Kind::Send && call->object != 0)
			seen.reached[call->object].insert(event.socket);
	}
}

} // namespace icepath::decode
