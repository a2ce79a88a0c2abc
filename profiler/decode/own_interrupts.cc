// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/own_interrupts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "profiler/path/blocking.h"
#include "profiler/path/timeline.h"

namespace icepath::decode {

namespace {

using Work = path::Culprit::Work;

// Softirq numbers (include/linux/interrupt.h).
constexpr uint32_t kTimer = 1, kNetTx = 2, kNetRx = 3, kHrtimer = 8;
// The kernel runs softirqs right after the interrupt or the softirq that raised them (irq_exit(), __do_softirq()).
constexpr uint64_t kRightAfterNs = 3000;

bool is_softirq(const Interrupt &one, uint32_t vector)
{
	return one.kind == ICEPATH_INTERRUPT_SOFTIRQ && one.vector == vector;
}

bool is_of_packets(const Interrupt &one) { return is_softirq(one, kNetTx) || is_softirq(one, kNetRx); }

// Keys of the cell's sockets, and names of those that its library made.
std::set<uint64_t> sockets_of(const model::Block &block, const Observations &seen)
{
	std::set<uint64_t> sockets;
	for (const model::BlockFlow &flow : block.flows)
		sockets.insert({flow.sender_key, flow.receiver_key});
	for (const auto &[tid, thread] : seen.threads)
		if (path::is_of_cell(seen, tid))
			for (const Call &call : thread.calls)
				sockets.insert(call.object);
	sockets.erase(0);
	return sockets;
}

// Whether a hardware interrupt came to the CPU since then that may have raised `softirq`: one that came before another
// softirq of packets had raised that.
bool was_interrupted(const Cpu &cpu, uint64_t since_ns, const Interrupt &softirq)
{
	auto one = std::ranges::lower_bound(cpu.interrupts, softirq.begin_ns, {}, &Interrupt::begin_ns);
	while (one != cpu.interrupts.begin() && std::prev(one)->begin_ns >= since_ns) {
		--one;
		if (is_of_packets(*one))
			return false;
		if (one->kind == ICEPATH_INTERRUPT_DEVICE || one->kind == ICEPATH_INTERRUPT_CALL_FUNCTION ||
			one->kind == ICEPATH_INTERRUPT_IRQ_WORK)
			return true;
	}
	return false;
}

bool are_own(const std::array<uint64_t, 2> &sockets, const std::set<uint64_t> &own)
{
	return sockets[0] != 0 && own.contains(sockets[0]) && (sockets[1] == 0 || own.contains(sockets[1]));
}

// `datagrams`: the cell's sockets of datagrams.
bool is_of_own_call(const Observations &seen, const Cpu &cpu, const Interrupt &one, const std::set<uint64_t> &datagrams)
{
	if (!is_of_packets(one) || !one.has_packets || !path::is_of_cell(seen, one.tid) ||
		(one.named[0] != 0 && !are_own(one.named, datagrams)))
		return false;
	const Call *call = path::call_at(seen.threads.at(one.tid), one.begin_ns);
	return call && (call->kind == Call::Kind::Send || call->kind == Call::Kind::Receive) &&
		   one.end_ns <= call->end_ns && !was_interrupted(cpu, call->begin_ns, one);
}

// Whether the softirq queued a packet of the cell to a device.
bool sent_own(const SocketEvents &events, const Interrupt &one, uint16_t cpu, const std::set<uint64_t> &own)
{
	auto event = std::ranges::lower_bound(events.device, one.begin_ns, {}, &SocketEvent::at_ns);
	for (; event != events.device.end() && event->at_ns <= one.end_ns; ++event)
		if (event->cpu == cpu && event->context == ICEPATH_CONTEXT_SOFTIRQ && own.contains(event->socket))
			return true;
	return false;
}

void tell_softirqs(const SocketEvents &events, const std::set<uint64_t> &own, Observations &seen)
{
	std::set<uint64_t> datagrams;
	for (const SocketEvent &event : events.ready)
		if (!event.has_stream_end && own.contains(event.socket))
			datagrams.insert(event.socket);
	for (auto &[number, cpu] : seen.cpus)
		for (Interrupt &one : cpu.interrupts) {
			if (one.kind != ICEPATH_INTERRUPT_SOFTIRQ)
				continue;
			if (are_own(one.sockets, own) || is_of_own_call(seen, cpu, one, datagrams))
				one.work = Work::OwnPackets;
			else if (sent_own(events, one, number, own))
				one.work = one.vector == kTimer || one.vector == kHrtimer ? Work::OwnTimer : Work::OwnPackets;
		}
}

// The innermost interrupt of that kind around an instant, or nullptr.
Interrupt *around(Cpu &cpu, uint64_t at_ns, uint8_t kind, uint32_t vector)
{
	constexpr ptrdiff_t kNested = 8; // more interrupts don't nest
	const auto after = std::ranges::upper_bound(cpu.interrupts, at_ns, {}, &Interrupt::begin_ns);
	for (auto one = after; one != cpu.interrupts.begin() && after - one < kNested;) {
		--one;
		if (one->kind == kind && (kind != ICEPATH_INTERRUPT_SOFTIRQ || one->vector == vector) && one->end_ns >= at_ns)
			return &*one;
	}
	return nullptr;
}

// A timer mostly expires on the CPU on which its thread went to sleep.
void tell_timer_of(const OffCpu &off, Observations &seen)
{
	const bool in_softirq = off.waker_context == ICEPATH_CONTEXT_SOFTIRQ;
	const uint8_t kind = in_softirq ? ICEPATH_INTERRUPT_SOFTIRQ : ICEPATH_INTERRUPT_TIMER;
	if (const auto at = seen.cpus.find(off.out_cpu); at != seen.cpus.end())
		if (Interrupt *one = around(at->second, off.waking_ns, kind, off.waker_vector)) {
			one->work = Work::OwnTimer;
			return;
		}
	for (auto &[number, cpu] : seen.cpus)
		if (Interrupt *one = number == off.out_cpu ? nullptr : around(cpu, off.waking_ns, kind, off.waker_vector)) {
			one->work = Work::OwnTimer;
			return;
		}
}

// Goes back from each softirq of timers to the interrupt that raised it, and from own packets to that softirq.
void tell_timers(Observations &seen)
{
	for (const auto &[tid, thread] : seen.threads)
		if (path::is_of_cell(seen, tid))
			for (const OffCpu &off : thread.off)
				if (!off.preempted && path::by_timer(off))
					tell_timer_of(off, seen);
	for (auto &[number, cpu] : seen.cpus)
		for (size_t i = cpu.interrupts.size(); i > 0; --i) {
			Interrupt &one = cpu.interrupts[i - 1];
			const Interrupt *next = i < cpu.interrupts.size() ? &cpu.interrupts[i] : nullptr;
			const bool follows = next && next->begin_ns >= one.end_ns && next->begin_ns - one.end_ns <= kRightAfterNs;
			if (is_softirq(one, kHrtimer) && one.work == Work::NotTold)
				one.work = follows && next->work == Work::OwnPackets ? Work::OwnTimer : Work::OtherTimer;
			if (one.work != Work::NotTold || one.timer == ICEPATH_TIMER_TICK)
				continue;
			if (one.timer != ICEPATH_TIMER_NOT_TOLD)
				one.work = Work::OtherTimer;
			else if (one.kind == ICEPATH_INTERRUPT_TIMER && follows && is_softirq(*next, kHrtimer))
				one.work = next->work;
		}
}

void tell_helpers(const SocketEvents &events, const std::set<uint64_t> &own, Observations &seen)
{
	const auto is_ksoftirqd = [&](uint32_t tid) {
		const auto name = seen.task_names.find(tid);
		return name != seen.task_names.end() && name->second.starts_with("ksoftirqd/");
	};
	// io_uring's threads are named after the thread whose requests they work on (io_sq_thread(), io_wq_worker()).
	for (const auto &[tid, name] : seen.task_names)
		for (const std::string_view prefix : {"iou-sqp-", "iou-wrk-"})
			if (uint32_t owner = 0;
				name.starts_with(prefix) &&
				std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner).ec == std::errc() &&
				path::is_of_cell(seen, owner))
				seen.helpers.insert(tid);
	for (const auto *list : {&events.ready, &events.device})
		for (const SocketEvent &event : *list)
			if (own.contains(event.socket) && event.context == ICEPATH_CONTEXT_SOFTIRQ && is_ksoftirqd(event.tid))
				seen.helpers.insert(event.tid);
	for (const Transfer &transfer : seen.transfers) // a kworker, io_uring's thread that takes requests
		if (transfer.carried() && transfer.ready_context == ICEPATH_CONTEXT_TASK && transfer.ready_tid != 0)
			seen.helpers.insert(transfer.ready_tid);
	for (const auto &[tid, thread] : seen.threads)
		if (path::is_of_cell(seen, tid))
			for (const OffCpu &off : thread.off)
				if (off.waker_context == ICEPATH_CONTEXT_TASK && off.waker_vector == ICEPATH_WAKER_KERNEL_THREAD &&
					off.waker_tid != 0)
					seen.helpers.insert(off.waker_tid);
}

} // namespace

void tell_own_work(const model::Block &block, const SocketEvents &events, Observations &seen)
{
	const std::set<uint64_t> own = sockets_of(block, seen);
	tell_softirqs(events, own, seen);
	tell_timers(seen);
	tell_helpers(events, own, seen);
}

} // namespace icepath::decode
