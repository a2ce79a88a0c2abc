// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/blocking.h"

#include <algorithm>

#include "ebpf/contexts.h"
#include "profiler/path/timeline.h"

namespace icepath::path {
namespace {

// Softirq numbers (include/linux/interrupt.h).
constexpr uint8_t kNetTx = 2, kNetRx = 3, kBlock = 4;

bool by_kernel_thread(const OffCpu &off)
{
	return off.waker_context == ICEPATH_CONTEXT_TASK && off.waker_vector == ICEPATH_WAKER_KERNEL_THREAD;
}

// I/O is completed by the device's interrupt, the softirq after it, or a kernel thread (a file system's, a loop
// device's). The waker has to agree, because io_uring counts a wait for any request as one for I/O (io_cqring_wait()).
bool by_storage(const OffCpu &off)
{
	if (off.waker_context == ICEPATH_CONTEXT_SOFTIRQ)
		return off.waker_vector == kBlock;
	if (off.waker_context == ICEPATH_CONTEXT_HARDIRQ)
		return off.io_wait && off.waker_vector == ICEPATH_INTERRUPT_DEVICE;
	return off.io_wait && by_kernel_thread(off);
}

// Whether bytes given to one object may be taken from the other: the ends of a pipe are one object, those of a socket
// are two.
bool may_be_one_queue(const Observations &seen, uint64_t given_to, uint64_t taken_from)
{
	if (given_to == 0 || taken_from == 0 || given_to == taken_from)
		return true;
	const auto reached = seen.reached.find(given_to);
	return reached != seen.reached.end() && reached->second.contains(taken_from);
}

// Whether it was woken because the queue had room again: by a thread that takes from the queue, or by the softirq that
// frees sent packets (sock_wfree(), an acknowledgement).
bool by_room(const Observations &seen, const Call *sending, const OffCpu &off, const Transfer *out)
{
	if (off.waker_context != ICEPATH_CONTEXT_TASK)
		return is_of_packets(off);
	const auto waker = seen.threads.find(off.waker_tid);
	const Call *call = waker == seen.threads.end() ? nullptr : call_at(waker->second, off.waking_ns);
	const bool takes = call && call->kind == Call::Kind::Receive && call->moved;
	const bool gives = sending && sending->kind == Call::Kind::Send;
	if (takes && gives && !may_be_one_queue(seen, sending->object, call->object))
		return false;
	return takes || (out && (off.waker_tid == out->to || (out->carried() && by_kernel_thread(off))));
}

} // namespace

const Call *call_at(const Thread &thread, uint64_t at_ns)
{
	auto call = std::ranges::partition_point(thread.calls, [&](const Call &one) { return one.end_ns <= at_ns; });
	return call != thread.calls.end() && call->begin_ns <= at_ns ? &*call : nullptr;
}

bool in_sending_call(const Transfer *out, uint64_t at_ns)
{
	return out && out->call && at_ns >= out->call->at_ns && (!out->call_return || at_ns < out->call_return->at_ns);
}

bool is_sending(const Transfer *out, uint64_t at_ns)
{
	if (!out || (out->call && at_ns >= out->call->at_ns))
		return in_sending_call(out, at_ns);
	return std::holds_alternative<BySlot>(out->by) && !(out->publish() && at_ns >= out->publish()->at_ns);
}

Part blocked_part(const Observations &seen, const Thread &thread, const OffCpu &off, const Transfer *out)
{
	if (off.in_reclaim)
		return Part::Reclaim;
	if (off.in_fault)
		return Part::Fault;
	const Call *call = call_at(thread, off.out_ns);
	const bool by_task = off.waker_context == ICEPATH_CONTEXT_TASK;
	if (call && call->kind == Call::Kind::FutexLock && by_task) // the call that takes has a queue's lock, too
		return Part::Lock;
	const bool sends = is_sending(out, off.out_ns) || (call && call->kind == Call::Kind::Send);
	if (sends && by_room(seen, call, off, out))
		return Part::Backpressure;
	if (by_storage(off))
		return Part::Storage;
	return by_timer(off) ? Part::Timer : Part::None;
}

bool is_of_packets(const OffCpu &off)
{
	return off.waker_context == ICEPATH_CONTEXT_SOFTIRQ && (off.waker_vector == kNetTx || off.waker_vector == kNetRx);
}

} // namespace icepath::path
