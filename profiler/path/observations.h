// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input of the walk: everything observed of one block, by thread and by CPU, independent of how it was captured. The
// decoder makes it from records and stamps, the simulator from a known truth.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/model/attached.h"
#include "profiler/model/cell.h"
#include "profiler/path/path.h"

namespace icepath::path {

// More hops than any middleware has. Bounds a walk over evidence that runs in circles.
inline constexpr uint16_t kMostHops = 64;

// A thread's time off its CPU: [out, in), with out < in.
struct OffCpu {
	uint64_t out_ns = 0, in_ns = 0; // out 0: since before the block
	// The period's first waking (0: none, as after a preemption). It may come before `out_ns`.
	uint64_t waking_ns = 0, wakeup_ns = 0;
	uint64_t ipi_ns = 0, idle_exit_ns = 0; // on the CPU of switch-in; 0: not seen
	uint32_t waker_tid = 0; // current at the waking; it did the waking only if waker_context is a task
	uint8_t waker_context = 0; // icepath_context
	uint8_t waker_vector = 0; // icepath_record.off.waker_vector
	bool preempted = false;
	// What it was doing as it went to sleep.
	bool in_fault = false, in_reclaim = false, io_wait = false;
	bool in_late = false; // in_ns is shortly after the switch-in, which has no record
	bool from_idle = false; // its CPU was idle until in_ns
	bool went_idle = false; // its CPU went idle after the thread had become runnable
	uint16_t out_cpu = 0, in_cpu = 0;
	uint32_t record = 0; // for Evidence
};

// A thread's call with known begin and end: from stamps, or from probes where a library makes the call.
struct Call {
	enum class Kind : uint8_t { Send, Receive, ReadinessWait, FutexWait, FutexLock, FutexWake, Untold };
	uint64_t begin_ns = 0, end_ns = 0;
	Kind kind = Kind::Send;
	Evidence evidence;
	uint64_t object = 0; // by probes: the object that its bytes went into or came out of; 0: not known
	bool moved = false; // by probes: it moved bytes or a message
	uint64_t bytes = 0; // moved; 0: not known
	uint64_t position = 0; // icepath_record.call.position
	std::optional<model::StreamKind> stream = {}; // by probes: what its object is; none: no stream, or not known
	bool of_no_stream = false; // by probes: its object is of another kind
	bool found_nothing = false; // it took nothing and would have had to wait
	uint64_t other_end = 0; // it accepted `object`, or made a pair of both; 0: neither, or not known
	bool accepted = false; // likewise: by accepting
};

struct Thread {
	uint32_t tid = 0;
	uint32_t process = 0; // owner of its memory; 0: not known
	// Known from records alone: nothing is known before its first and after its last.
	bool followed = false;
	bool of_another_cell = false; // one that is measured at the same time; so are all threads of its process
	std::string name;
	uint16_t first_cpu = 0; // where it ran when the block began
	// Time of the record that shows `first_cpu`; 0: its affinity shows it; UINT64_MAX: not known.
	uint64_t first_cpu_told_ns = 0;
	bool pinned = true; // never migrates, so a lost record can't have moved it
	uint64_t still_off_since_ns = 0; // off its CPU at the block's end, by the records; 0: it ran
	std::vector<OffCpu> off; // by out_ns; disjoint
	std::vector<uint64_t> moved_ns; // when it was moved to another CPU's queue, in order
	std::vector<Call> calls; // by begin_ns; disjoint
};

// Any system call. It is only counted; the walk doesn't use it.
struct SystemCall {
	uint32_t tid = 0;
	uint32_t number = 0; // by the machine's table
	uint64_t begin_ns = 0, end_ns = 0;
};

// A run of a task on one of the run's CPUs. Workers have no Run: their off-CPU periods show when they ran.
struct Run {
	uint64_t in_ns = 0, out_ns = 0;
	uint32_t tid = 0;
	uint32_t record = 0;
	bool from_idle = false; // the CPU was idle until in_ns
};

// A sample of what a thread of `threads` ran: see sampled.h.
struct Sample {
	uint32_t tid = 0; // current when its interrupt was handled
	uint16_t cpu = 0;
	uint64_t planned_ns = 0; // the instant that it is for; 0: not known
	uint64_t handled_ns = 0;
	uint32_t stack = 0; // 1 + index into model::Window::stacks; 0: none
};

struct Interrupt {
	uint64_t begin_ns = 0, end_ns = 0;
	uint8_t kind = 0; // icepath_interrupt_kind
	uint32_t vector = 0;
	uint32_t record = 0;
	// Keys of the one or two sockets of the run whose packets this softirq handled, if it handled no others.
	std::array<uint64_t, 2> sockets{};
	uint32_t tid = 0; // current during it
	bool goes_on = false; // it lost its CPU; what it did afterwards is another Interrupt
	Culprit::Work work = Culprit::Work::NotTold;
	bool has_packets = false; // a softirq that handled some
	std::array<uint64_t, 2> named{}; // keys of sockets of some of them; `sockets`, if of all
	uint8_t timer = 0; // icepath_timer that took longest in it
};

inline Culprit culprit_of(const Interrupt &one)
{
	return {Culprit::Kind::Interrupt, one.vector, one.kind, one.work, one.timer};
}

struct Cpu {
	uint64_t known_since_ns = 0; // before that, the running task isn't known
	std::vector<Run> runs; // by in_ns
	std::vector<Interrupt> interrupts; // by begin_ns; may nest
	// The latest end_ns of interrupts[0..i], to find those that overlap an instant without a search from the first.
	// Unused if its size differs from that of `interrupts`.
	std::vector<uint64_t> interrupt_reach_ns;
};

// Span of records that are gone or unreadable.
struct LossWindow {
	uint64_t begin_ns = 0, end_ns = 0;
	uint32_t count = 0;
	bool unreadable = false; // captured, but not readable
};

// An instant and its evidence.
struct Mark {
	uint64_t at_ns = 0;
	Evidence evidence;
	Provenance provenance = Provenance::Exact;
};

// How a message changes hands.

// By the giver's system call, into a queue of the kernel.
struct ByCall {
	bool carried = false; // a kernel thread carries the message on, so it may become ready after the call
};

// By functions of a library: call…call_return and take_call…take_return bracket them in user mode.
struct ByLibrary {
	// Set where two threads hand over in memory, without a call: the hand-over lies within its bounds. The giving side
	// has no other evidence.
	std::optional<Boundary> handed;
};

// Into a slot in memory. The giver waits for room before its store, not in a call.
struct BySlot {
	std::optional<Mark> publish; // none: the receiver looks only after a call notified it
	// The giver's next stamp after `publish`, by which the store is done. 0: none.
	uint64_t stored_by_ns = 0;
};

// The message edge: one message passes from one thread to another. A delivery without relays has one transfer, from
// sender to receiver; a broker makes two.
struct Transfer {
	uint64_t message = 0; // the same in all transfers of a message
	// Giving side.
	uint32_t from = 0; // tid
	std::optional<Mark> call; // begin of the sending call; none: published without a call
	std::optional<Mark> call_return;
	std::variant<ByCall, ByLibrary, BySlot> by;
	std::optional<Mark> device; // the message, or its last part, reached a device queue
	std::array<uint64_t, 2> connection{}; // keys of its two sockets, where sockets identify packets
	bool through_device = false; // it passes a device queue; without `device`, the end of the sender's part isn't known
	std::optional<model::CallShares> shares; // of its calls; used where there is no better evidence
	std::optional<Mark> ready; // the event that says "ready" (of the last part); none: inferred
	// Earliest time it can have been ready, where another part or something after the message came with it; 0: exact.
	uint64_t ready_since_ns = 0;
	uint64_t taken_since_ns = 0; // likewise for `take_return`
	bool ready_in_softirq = false; // an interrupt context announced it, see `ready_interrupt`
	// When the announcing context was done: at the interrupt's end or the task's next announcement. It had woken all
	// its waiters by then. 0: not known.
	uint64_t announced_until_ns = 0;
	bool announcer_lost_cpu = false; // the announcing context did, between `ready` and its end
	// The announcer: a waking from the same context on top of the same task delivers this message. 0: not known.
	uint32_t ready_tid = 0; // current at `ready`; if ready_in_softirq, only the interrupted task, and 0 is idle
	uint8_t ready_context = 0; // icepath_context
	// Records of the outermost interrupts around these events. They did this message's own work, so they aren't carved
	// out.
	std::optional<uint32_t> ready_interrupt, device_interrupt;
	// A record lost after this instant could have matched another event to this message. 0: only the delivery's own
	// time matters.
	uint64_t matched_since_ns = 0;
	// Taking side.
	uint32_t to = 0; // tid
	Mark ask; // the wait that takes this message begins
	bool polls = false; // asks by trying again, never sleeps
	std::optional<Mark> wait_return; // return of the readiness wait
	std::optional<Mark> take_call, take_return; // the call that took the last byte; none: no call
	std::optional<Mark> taken; // the event or stamp that says "taken" (skb copied, slot observed)
	bool follows_in_read = false; // an earlier message came with the same read: receiver.user/backlog

	bool carried() const
	{
		const auto *its_call = std::get_if<ByCall>(&by);
		return its_call && its_call->carried;
	}
	bool in_library() const { return std::holds_alternative<ByLibrary>(by); }
	const std::optional<Mark> &publish() const
	{
		static const std::optional<Mark> none;
		const auto *slot = std::get_if<BySlot>(&by);
		return slot ? slot->publish : none;
	}
	uint64_t stored_by_ns() const
	{
		const auto *slot = std::get_if<BySlot>(&by);
		return slot ? slot->stored_by_ns : 0;
	}
};

struct Delivery {
	uint64_t message = 0; // flow << 48 | seq: see model::place_of()
	uint32_t sender = 0, receiver = 0; // tids
	Mark send, recv;
	bool chained = false; // its transfers form one chain, in order, in which a thread may recur
	Reason unresolved = Reason::None; // why its transfers weren't found
};

struct Observations {
	std::map<uint32_t, Thread> threads; // by tid: those that may be on a path
	std::map<uint16_t, Cpu> cpus;
	std::map<uint32_t, std::string> task_names; // of culprits
	// Threads and processes of the run's other cells: all whose work for another cell `threads` don't tell.
	std::set<uint32_t> of_other_cells;
	// Kernel threads that carried messages of the cell or woke its threads: they work on its behalf, at least now and
	// then.
	std::set<uint32_t> helpers;
	std::vector<SystemCall> system_calls; // by slot, then by end
	std::vector<Sample> samples; // by slot, in the order of their numbers
	// Of some off-CPU periods, by thread and OffCpu::out_ns or waking_ns: Sample::stack of the thread as it went to
	// sleep, and of its waker.
	std::map<std::pair<uint32_t, uint64_t>, uint32_t> sleep_stacks, waker_stacks;
	// For objects that calls gave to (Call::object): the sockets announced during these calls. The two ends of a UNIX
	// connection are two sockets.
	std::map<uint64_t, std::set<uint64_t>> reached;
	std::vector<Transfer> transfers; // by message, then in the order of the path
	std::vector<Delivery> deliveries;
	std::vector<LossWindow> lost;
	// The cell's threads were kept from running in the block: their control group had used up its quota.
	bool throttled = false;
	uint64_t begin_ns = 0, end_ns = 0;
};

// Whether it is a thread of another cell of the run: of a side, its library, its daemon, or what these started.
inline bool is_of_another_cell(const Observations &seen, uint32_t tid)
{
	if (seen.of_other_cells.contains(tid))
		return true;
	const auto thread = seen.threads.find(tid);
	if (thread == seen.threads.end())
		return false;
	const auto process = seen.threads.find(thread->second.process);
	return thread->second.of_another_cell || seen.of_other_cells.contains(thread->second.process) ||
		   (process != seen.threads.end() && process->second.of_another_cell);
}

// Whether it is a thread of the cell that was measured: of a side, its library, its daemon, or what these started.
inline bool is_of_cell(const Observations &seen, uint32_t tid)
{
	return seen.threads.contains(tid) && !is_of_another_cell(seen, tid);
}

// Number of captured records that can't be read; a lower bound where others are missing too.
inline uint64_t unreadable_records(const Observations &seen)
{
	uint64_t sum = 0;
	for (const LossWindow &lost : seen.lost)
		sum += lost.unreadable ? lost.count : 0;
	return sum;
}

// Whether a loss window touches [begin, end].
inline bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns)
{
	return std::ranges::any_of(
		seen.lost, [&](const LossWindow &lost) { return lost.begin_ns <= end_ns && lost.end_ns >= begin_ns; });
}

} // namespace icepath::path
