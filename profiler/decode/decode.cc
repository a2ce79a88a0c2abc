// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/decode.h"

#include <algorithm>

#include "profiler/decode/event_search.h"
#include "profiler/decode/locks.h"
#include "profiler/decode/own_interrupts.h"
#include "profiler/decode/relays.h"
#include "profiler/decode/socket_events.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/handlers.h"
#include "profiler/model/stamps.h"
#include "profiler/path/blocking.h"

namespace icepath::decode {
namespace {

using model::Mechanism;
using model::RecvStamp;
using model::SendStamp;

std::optional<Mark> stamp(uint64_t at_ns, Evidence::Source source, size_t index)
{
	if (at_ns == 0)
		return {};
	return Mark{at_ns, {source, static_cast<uint32_t>(index)}, Provenance::Exact};
}

// Indexes of one end's stamps in the order of `seq`, the first of each: a duplicate reception delivers nothing. Omits
// those out of range.
template <class Stamp> std::vector<size_t> order_by_seq(const std::vector<Stamp> &stamps)
{
	std::vector<size_t> order;
	order.reserve(stamps.size());
	for (size_t i = 0; i < stamps.size(); ++i)
		if (stamps[i].seq < model::kMostSeq)
			order.push_back(i);
	const auto seq = [&](size_t i) { return stamps[i].seq; };
	if (!std::ranges::is_sorted(order, {}, seq)) // mostly it is
		std::ranges::stable_sort(order, {}, seq);
	auto same = [&](size_t a, size_t b) { return stamps[a].seq == stamps[b].seq; };
	order.erase(std::unique(order.begin(), order.end(), same), order.end());
	return order;
}

Transfer transfer_of(uint64_t message, const SendStamp &sent, size_t sent_index, const model::Cell &cell)
{
	const auto call_stamp = Evidence::Source::CallStamp;
	Transfer transfer;
	transfer.message = message;
	transfer.call = stamp(sent.call_ns, call_stamp, sent_index);
	transfer.call_return = stamp(sent.return_ns, call_stamp, sent_index);
	if (!transfer.call)
		transfer.call_return.reset();
	transfer.through_device = cell.mechanisms.has_all({Mechanism::Socket, Mechanism::NetworkDevice});
	if (cell.parts == 1)
		transfer.shares = cell.calibrated;
	if (cell.mechanisms.has(Mechanism::LibraryCalls))
		transfer.by = ByLibrary{};
	else if (!cell.mechanisms.has(Mechanism::UserSlot))
		transfer.by = ByCall{cell.mechanisms.has(Mechanism::KernelThread)};
	else if (cell.mechanisms.has(Mechanism::Bell))
		transfer.by = BySlot{};
	else
		transfer.by = BySlot{stamp(sent.publish_ns, Evidence::Source::SendStamp, sent_index)};
	return transfer;
}

// For each reception, the index of the one that began its read. If one read returned several messages, the later ones
// repeat its stamps, and the first one's wait asked for all of them.
std::vector<size_t> first_in_read(const std::vector<RecvStamp> &recvs)
{
	std::vector<size_t> first(recvs.size());
	for (size_t i = 0; i < recvs.size(); ++i) {
		bool follows = i > 0 && recvs[i].take_return_ns != 0 && recvs[i].take_return_ns == recvs[i - 1].take_return_ns;
		first[i] = follows ? first[i - 1] : i;
	}
	return first;
}

void add_taking(Transfer &transfer, const std::vector<RecvStamp> &recvs, size_t index, size_t first,
				const model::Cell &cell)
{
	const auto call_stamp = Evidence::Source::CallStamp;
	const RecvStamp &received = recvs[index];
	transfer.follows_in_read = first != index;
	const RecvStamp &asked = recvs[first];
	transfer.ask = stamp(asked.ask_ns, Evidence::Source::RecvStamp, first).value_or(Mark{});
	transfer.polls = model::never_sleeps(cell.wait);
	transfer.wait_return = stamp(asked.wait_return_ns, call_stamp, first);
	transfer.take_call = stamp(asked.take_call_ns, call_stamp, first);
	transfer.take_return = stamp(received.take_return_ns, call_stamp, index);
	if (cell.mechanisms.has_any({Mechanism::UserSlot, Mechanism::MappedQueue}))
		transfer.taken = stamp(received.observe_ns, Evidence::Source::RecvStamp, index);
}

void add_call(uint64_t begin_ns, uint64_t end_ns, Call::Kind kind, size_t index, Thread &thread)
{
	if (begin_ns != 0 && begin_ns < end_ns)
		thread.calls.push_back({begin_ns, end_ns, kind, {Evidence::Source::CallStamp, static_cast<uint32_t>(index)}});
}

void add_calls(const std::vector<SendStamp> &sends, Thread &thread)
{
	for (size_t i = 0; i < sends.size(); ++i)
		add_call(sends[i].call_ns, sends[i].return_ns, Call::Kind::Send, i, thread);
}

void add_calls(const std::vector<RecvStamp> &recvs, Thread &thread)
{
	for (size_t i = 0; i < recvs.size(); ++i) {
		add_call(recvs[i].ask_ns, recvs[i].wait_return_ns, Call::Kind::ReadinessWait, i, thread);
		add_call(recvs[i].take_call_ns, recvs[i].take_return_ns, Call::Kind::Receive, i, thread);
	}
}

void make_disjoint(std::vector<Call> &calls)
{
	std::ranges::stable_sort(calls, {}, &Call::begin_ns);
	uint64_t end_ns = 0; // of the one before
	std::erase_if(calls, [&](const Call &call) {
		const bool overlaps = call.begin_ns < end_ns;
		if (!overlaps)
			end_ns = call.end_ns;
		return overlaps;
	});
}

FlowMessages messages_of(const model::Block &block, const model::Cell &cell, size_t number, const model::Flow &sides)
{
	const model::BlockSide &sender = block.sides[sides.from], &receiver = block.sides[sides.to];
	const model::BlockFlow &flow = block.flows[number];
	FlowMessages matched{.sender = sender.tid,
						 .receiver = receiver.tid,
						 .sender_key = flow.sender_key,
						 .receiver_key = flow.receiver_key,
						 .payload_bytes = cell.payload_bytes,
						 .parts = cell.parts,
						 .begin_ns = block.window->begin.monotonic_ns,
						 .messages = {}};
	const bool by_packets =
		cell.mechanisms.has_all({Mechanism::Socket, Mechanism::NetworkDevice, Mechanism::ByteStream}); // TCP
	const auto sends = order_by_seq(flow.sends), recvs = order_by_seq(flow.recvs);
	const auto first = first_in_read(flow.recvs);
	auto next = recvs.begin();
	matched.messages.reserve(sends.size());
	for (size_t sent : sends) {
		FlowMessage &message = matched.messages.emplace_back();
		message.seq = flow.sends[sent].seq;
		message.sent = &flow.sends[sent];
		message.transfer = transfer_of(model::message_at({number, message.seq}), *message.sent, sent, cell);
		message.transfer.from = model::thread_of(*message.sent, sender.tid);
		message.transfer.to = receiver.tid;
		if (by_packets)
			message.transfer.connection = {flow.sender_key, flow.receiver_key};
		while (next != recvs.end() && flow.recvs[*next].seq < message.seq)
			++next;
		if (next != recvs.end() && flow.recvs[*next].seq == message.seq) {
			message.received = &flow.recvs[*next];
			message.transfer.to = model::thread_of(*message.received, receiver.tid);
			add_taking(message.transfer, flow.recvs, *next, first[*next], cell);
		}
	}
	return matched;
}

void match(const model::Cell &cell, const SocketEvents &events, const Observations &seen,
		   std::vector<FlowMessages> &matched_flows)
{
	if (cell.mechanisms.has_any({Mechanism::Pipe, Mechanism::MessageQueue})) {
		for (FlowMessages &matched : matched_flows) {
			match_queue(events, matched);
			match_taken(events, matched);
		}
	}
	if (!cell.mechanisms.has_any({Mechanism::Socket, Mechanism::KernelThread}))
		return;
	const bool in_one_socket =
		matched_flows.size() > 1 && std::ranges::all_of(matched_flows, [&](const FlowMessages &matched) {
			return matched.receiver_key == matched_flows.front().receiver_key;
		});
	for (FlowMessages &matched : matched_flows) {
		match_taken(events, matched);
		if (cell.mechanisms.has(Mechanism::KernelThread))
			match_carried(events, seen, matched);
		else if (!cell.mechanisms.has(Mechanism::NetworkDevice))
			match_local(events, seen, matched);
		else if (cell.mechanisms.has(Mechanism::ByteStream))
			match_stream(events, seen, matched);
		else if (!in_one_socket)
			match_datagrams(events, seen, matched);
	}
	if (in_one_socket && cell.mechanisms.has(Mechanism::NetworkDevice) && !cell.mechanisms.has(Mechanism::ByteStream))
		match_gathered_datagrams(events, seen, matched_flows);
}

// Sets BySlot::stored_by_ns: a thread that stamps again has done its earlier work, a store into a slot included.
void tell_stores(const model::Block &block, const std::vector<model::Flow> &flows,
				 std::vector<FlowMessages> &matched_flows)
{
	std::map<uint32_t, std::vector<uint64_t>> stamps; // by tid
	for (size_t i = 0; i < flows.size(); ++i) {
		std::vector<uint64_t> &gave = stamps[matched_flows[i].sender];
		for (const SendStamp &one : block.flows[i].sends)
			gave.insert(gave.end(), {one.send_ns, one.call_ns, one.publish_ns, one.return_ns});
		std::vector<uint64_t> &took = stamps[matched_flows[i].receiver];
		for (const RecvStamp &one : block.flows[i].recvs)
			took.insert(took.end(), {one.ask_ns, one.wait_return_ns, one.take_call_ns, one.take_return_ns,
									 one.observe_ns, one.recv_ns});
	}
	for (auto &[tid, times] : stamps)
		std::ranges::sort(times);
	for (FlowMessages &matched : matched_flows)
		for (FlowMessage &message : matched.messages) {
			Transfer &transfer = message.transfer;
			const std::vector<uint64_t> &times = stamps[transfer.from];
			auto *slot = std::get_if<BySlot>(&transfer.by);
			if (!slot || !slot->publish)
				continue;
			const auto next = std::ranges::upper_bound(times, slot->publish->at_ns);
			slot->stored_by_ns = next == times.end() ? 0 : *next;
		}
}

void add_deliveries(const model::BlockFlow &flow, const FlowMessages &matched, Observations &seen)
{
	seen.transfers.reserve(seen.transfers.size() + matched.messages.size());
	seen.deliveries.reserve(seen.deliveries.size() + matched.messages.size());
	for (const FlowMessage &message : matched.messages) {
		if (!message.received)
			continue;
		seen.transfers.push_back(message.transfer);
		if ((message.sent->flags | message.received->flags) & model::kStampWarmUp)
			continue;
		const auto sent_index = static_cast<uint32_t>(message.sent - flow.sends.data());
		const auto received_index = static_cast<uint32_t>(message.received - flow.recvs.data());
		seen.deliveries.push_back(
			{message.transfer.message,
			 message.transfer.from,
			 message.transfer.to,
			 {message.sent->send_ns, {Evidence::Source::SendStamp, sent_index}, Provenance::Exact},
			 {message.received->recv_ns, {Evidence::Source::RecvStamp, received_index}, Provenance::Exact}});
	}
}

// Name of the process's first thread until the worker knows its side.
constexpr std::string_view kWorker = "icepath-worker";

// A library's thread that sets no name has that of the thread that started it.
void name_library_threads(const model::Block &block, const model::Cell &cell, Observations &seen)
{
	for (size_t i = 0; i < block.sides.size(); ++i) {
		const uint32_t side = block.sides[i].tid;
		const std::string name = model::side_name(cell, i);
		for (auto &[tid, thread] : seen.threads)
			if (thread.process == side && tid != side && (thread.name == name || thread.name == kWorker))
				seen.task_names[tid] = thread.name = name + "'s library";
	}
}

// Puts the side's name before that of a library's thread that handles its messages: the other side's may have the same
// name.
void name_handlers(const model::Block &block, const model::Cell &cell, Observations &seen)
{
	if (cell.wait != model::Wait::Callback)
		return;
	const std::vector<std::set<uint32_t>> handlers = model::handlers_of(block, cell.graph);
	for (size_t side = 0; side < handlers.size(); ++side)
		for (const uint32_t tid : handlers[side])
			if (const auto thread = seen.threads.find(tid); thread != seen.threads.end()) {
				const std::string owner = model::side_name(cell, side) + "'s ";
				if (!thread->second.name.starts_with(owner))
					seen.task_names[tid] = thread->second.name = owner + thread->second.name;
			}
}

// If one program of a waking was skipped, what the others noted stays with the task and ends up in its next period.
void distrust_stale_wakes(const std::vector<model::SkippedPrograms> &skipped, Observations &seen)
{
	for (const auto &[tid, thread] : seen.threads)
		for (const OffCpu &off : thread.off) {
			const auto is_stale = [&](uint64_t wake_ns) {
				return wake_ns != 0 && wake_ns < off.out_ns &&
					   std::ranges::any_of(
						   skipped,
						   [&](const model::SkippedPrograms &some) {
							   return some.begin_ns <= off.out_ns && some.end_ns >= wake_ns;
						   });
			};
			if (is_stale(off.waking_ns) || is_stale(off.wakeup_ns))
				seen.lost.push_back({off.out_ns, off.in_ns, 1});
		}
}

bool knows(const model::Window &window, uint32_t tid)
{
	return std::ranges::find(window.threads, tid, &model::WindowThread::tid) != window.threads.end();
}

void add_thread(uint32_t tid, uint32_t cpu, const std::string &name, Observations &seen)
{
	Thread &thread = seen.threads[tid];
	thread.tid = tid;
	thread.name = name;
	thread.first_cpu = static_cast<uint16_t>(cpu);
	seen.task_names[tid] = name;
}

// The name of the other cell's side or daemon whose process has this thread; nothing: none, or that is its own name.
std::optional<std::string> owner_of(const Thread &thread, const model::Block &block, const Observations &seen)
{
	const auto is_its = [&](const auto &one) { return one.tid == thread.process && one.tid != thread.tid; };
	if (const auto side = std::ranges::find_if(block.window->threads, is_its);
		side != block.window->threads.end() && seen.threads.at(side->tid).of_another_cell)
		return side->name;
	if (const auto other = std::ranges::find_if(block.window->others, is_its);
		other != block.window->others.end() && seen.of_other_cells.contains(other->tid))
		return other->whose;
	return std::nullopt;
}

// Threads of other cells stay: one of them may have the CPU that a thread of this cell waits for.
void name_sides(const model::Block &block, const model::Cell &cell, Observations &seen)
{
	for (const model::WindowThread &thread : block.window->threads)
		seen.threads[thread.tid].of_another_cell = true;
	for (size_t side = 0; side < block.sides.size(); ++side) {
		const uint32_t tid = block.sides[side].tid;
		seen.threads[tid].of_another_cell = false;
		seen.task_names[tid] = seen.threads[tid].name = model::side_name(cell, side);
	}
	for (const model::WindowOther &other : block.window->others)
		if (std::ranges::find(other.cells, block.cell) == other.cells.end()) {
			seen.of_other_cells.insert(other.tid);
			std::string &name = seen.task_names[other.tid];
			name = other.whose + (name.empty() ? "" : "'s " + name);
		}
	for (auto &[tid, thread] : seen.threads)
		if (const auto owner = owner_of(thread, block, seen))
			seen.task_names[tid] = thread.name = *owner + "'s " + thread.name;
}

// Stamped calls replace those of the log: they carry more, and the log has them only where a library's cell shares the
// window. A library's own functions aren't system calls, so its cells keep the log's.
void stamped_calls(const model::Block &block, const model::Cell &cell, Observations &seen)
{
	for (auto &[tid, thread] : seen.threads)
		thread.calls.clear();
	for (size_t i = 0; i < cell.graph.flows.size(); ++i) {
		add_calls(block.flows[i].sends, seen.threads[block.sides[cell.graph.flows[i].from].tid]);
		add_calls(block.flows[i].recvs, seen.threads[block.sides[cell.graph.flows[i].to].tid]);
	}
	for (auto &[tid, thread] : seen.threads)
		make_disjoint(thread.calls);
}

} // namespace

DecodedWindow decode_window(const model::Window &window, const std::vector<model::WindowThread> &others)
{
	DecodedWindow decoded;
	Observations &seen = decoded.seen;
	seen.begin_ns = window.begin.monotonic_ns;
	seen.end_ns = window.finish.monotonic_ns;
	seen.throttled = window.times_throttled.value_or(0) > 0;
	for (const auto *threads : {&window.threads, &others})
		for (const model::WindowThread &thread : *threads)
			add_thread(thread.tid, thread.cpu, thread.name, seen);
	decoded.events = read_log(window.slots, seen);
	return decoded;
}

bool knows_sides(const model::Window &window, const model::Block &block)
{
	return std::ranges::all_of(block.sides, [&](const model::BlockSide &side) { return knows(window, side.tid); });
}

Observations observations_of(const model::Block &block, const model::Cell &cell)
{
	std::vector<model::WindowThread> others;
	for (size_t side = 0; side < block.sides.size(); ++side)
		if (const uint32_t tid = block.sides[side].tid; !knows(*block.window, tid))
			others.push_back({tid, cell.graph.sides[side].cpu, ""});
	DecodedWindow decoded = decode_window(*block.window, others);
	return observations_of(block, cell, std::move(decoded.seen), decoded.events);
}

Observations observations_of(const model::Block &block, const model::Cell &cell, Observations seen,
							 const SocketEvents &events)
{
	const std::vector<model::Flow> &flows = cell.graph.flows;
	name_sides(block, cell, seen);
	name_library_threads(block, cell, seen);
	name_handlers(block, cell, seen);
	if (!cell.mechanisms.has(Mechanism::LibraryCalls))
		stamped_calls(block, cell, seen);
	// A program that the kernel skipped leaves no gap: any record of that time may be missing.
	for (const model::SkippedPrograms &some : block.window->skipped)
		seen.lost.push_back(
			{some.begin_ns, some.end_ns, static_cast<uint32_t>(std::min<uint64_t>(some.count, UINT32_MAX))});
	distrust_stale_wakes(block.window->skipped, seen);
	// A worker runs when it stamps the end of its loop. If it is off its CPU by the log, its switch-in has no record.
	for (const model::BlockSide &side : block.sides)
		if (const uint64_t since_ns = seen.threads[side.tid].still_off_since_ns;
			since_ns != 0 && since_ns < side.marker_end_ns)
			seen.lost.push_back({since_ns, UINT64_MAX, 1});
	std::vector<FlowMessages> matched_flows;
	for (size_t i = 0; i < flows.size(); ++i)
		matched_flows.push_back(messages_of(block, cell, i, flows[i]));
	match(cell, events, seen, matched_flows);
	if (cell.mechanisms.has(Mechanism::UserSlot))
		tell_stores(block, flows, matched_flows);
	for (size_t i = 0; i < flows.size(); ++i)
		add_deliveries(block.flows[i], matched_flows[i], seen);
	if (cell.mechanisms.has(Mechanism::LibraryCalls))
		tell_locks(seen);
	tell_reached(events, seen);
	if (cell.mechanisms.has(Mechanism::LibraryThreads))
		find_relays(
			events,
			{cell.mechanisms.has(Mechanism::SharedMemory), cell.wait == model::Wait::Callback, cell.payload_bytes},
			seen);
	tell_announcers(events, seen);
	tell_own_work(block, events, seen);
	return seen;
}

} // namespace icepath::decode
