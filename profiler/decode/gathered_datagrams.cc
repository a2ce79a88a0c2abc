// SPDX-License-Identifier: Apache-2.0
// Datagrams of several senders into one socket: the order is kept per CPU.
#include <algorithm>
#include <deque>
#include <map>

#include "profiler/decode/event_search.h"
#include "profiler/decode/socket_events.h"

namespace icepath::decode {
namespace {

// A datagram at a device queue.
struct Queued {
	SocketEvent event;
	FlowMessage *message; // never nullptr
};

uint64_t taken_by(const FlowMessage &message)
{
	return message.transfer.take_return ? message.transfer.take_return->at_ns : UINT64_MAX;
}

// One sender's datagrams in time order. Omits those that weren't received though later ones were: they were dropped
// before being queued, and never announced.
std::vector<Queued> queued_by(const SocketEvents &events, const Observations &seen, FlowMessages &flow)
{
	auto device = of_socket(events.device, flow.sender_key);
	std::erase_if(device, [&](const SocketEvent &one) { return one.tid != flow.sender; });
	std::vector<Queued> queued;
	for (FlowMessage &message : flow.messages) {
		Transfer &transfer = message.transfer;
		if (!has_call(transfer))
			continue;
		// The last fragment, if the device's MTU splits the datagram.
		const SocketEvent *last = last_within(device, transfer.call->at_ns, transfer.call_return->at_ns);
		if (!last)
			continue;
		set_device(*last, seen, transfer);
		if (message.received && last->at_ns <= taken_by(message))
			queued.push_back({*last, &message});
	}
	return queued;
}

// Matches one CPU's announcements with what it queued. False: it announced something that it hadn't queued.
bool match_on_cpu(const std::vector<Queued> &queued, const std::vector<SocketEvent> &ready, const Observations &seen)
{
	std::deque<const Queued *> waiting;
	uint64_t chain_begin_ns = 0; // from here on only the order decides
	std::vector<Transfer *> chain; // the messages since then
	bool is_untold = false; // one of the chain was taken without an announcement, so none can be assigned
	const auto end_chain = [&] {
		if (is_untold && chain.size() > 1)
			for (Transfer *transfer : chain)
				clear_ready(*transfer);
		chain.clear();
		is_untold = false;
	};
	auto next = queued.begin();
	for (const SocketEvent &announced : ready) {
		for (; next != queued.end() && next->event.at_ns <= announced.at_ns; ++next) {
			// A datagram that was already taken had been announced, so its announcement's record was lost.
			while (!waiting.empty() && taken_by(*waiting.front()->message) <= next->event.at_ns) {
				waiting.pop_front();
				is_untold = true;
			}
			if (waiting.empty()) {
				end_chain();
				chain_begin_ns = next->event.at_ns;
			} else {
				next->message->transfer.matched_since_ns = chain_begin_ns;
			}
			chain.push_back(&next->message->transfer);
			waiting.push_back(&*next);
		}
		if (waiting.empty())
			return false;
		Transfer &transfer = waiting.front()->message->transfer;
		const bool alone = waiting.size() == 1 && transfer.matched_since_ns == 0;
		waiting.pop_front();
		const bool in_call = announced.at_ns <= transfer.call_return->at_ns;
		set_ready(announced, alone && in_call ? Provenance::Exact : Provenance::Paired, &seen, transfer);
	}
	is_untold |= !waiting.empty();
	end_chain();
	return true;
}

} // namespace

void match_gathered_datagrams(const SocketEvents &events, const Observations &seen, std::span<FlowMessages> flows)
{
	struct OfCpu {
		std::vector<Queued> queued;
		std::vector<SocketEvent> ready;
	};
	std::map<uint16_t, OfCpu> cpus;
	for (FlowMessages &flow : flows)
		for (const Queued &one : queued_by(events, seen, flow))
			cpus[one.event.cpu].queued.push_back(one);
	// Announcements after the last message belong to closing messages, see worker::SenderState.
	uint64_t last_taken_ns = 0;
	for (const FlowMessages &flow : flows)
		for (const FlowMessage &message : flow.messages)
			if (message.received && message.transfer.take_return)
				last_taken_ns = std::max(last_taken_ns, message.transfer.take_return->at_ns);
	for (const SocketEvent &one : of_socket(events.ready, flows.front().receiver_key))
		if (one.at_ns <= last_taken_ns)
			cpus[one.cpu].ready.push_back(one);
	bool in_order = true;
	for (auto &[number, cpu] : cpus) {
		std::ranges::stable_sort(cpu.queued, {}, [](const Queued &one) { return one.event.at_ns; });
		in_order &= match_on_cpu(cpu.queued, cpu.ready, seen);
	}
	if (in_order)
		return;
	for (FlowMessages &flow : flows)
		for (FlowMessage &message : flow.messages)
			clear_ready(message.transfer);
}

} // namespace icepath::decode
