// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the walk starts from: everything that was seen of one block, sorted per thread and CPU, with no trace left of how
// it was captured. The decoder makes it from records and stamps; the simulator makes the same from a known truth.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/path/path.h"

namespace icepath::path {

// More hops than any middleware has: ends a walk over evidence that goes in circles.
inline constexpr uint16_t kMostHops = 64;

// A period that a thread spent off its CPU. [out, in), with out < in.
struct OffCpu {
	uint64_t out_ns = 0, in_ns = 0; // out 0: since before the block
	// The first waking of the period (0: none, as when preempted). It may come before `out_ns`.
	uint64_t waking_ns = 0, wakeup_ns = 0;
	uint64_t ipi_ns = 0, idle_exit_ns = 0; // on the CPU of switch-in; 0: not seen
	uint32_t waker_tid = 0; // current at the waking; acted only if waker_context is a task
	uint8_t waker_context = 0; // icepath_context
	uint8_t waker_vector = 0; // icepath_record.off.waker_vector
	bool preempted = false;
	bool in_fault = false, in_reclaim = false, io_wait = false; // what it was in the middle of as it went to sleep
	bool in_late = false; // in_ns is soon after the switch-in, which wasn't seen itself
	bool from_idle = false; // its CPU was idle until in_ns
	bool went_idle = false; // that CPU went idle after the thread was runnable
	uint16_t out_cpu = 0, in_cpu = 0;
	uint32_t record = 0; // for Evidence
};

// A call that a thread made and that both ends are known of: from stamps, or from probes where a library makes them.
struct Call {
	enum class Kind : uint8_t { Send, Receive, ReadinessWait, FutexWait, FutexLock, FutexWake, Untold };
	uint64_t begin_ns = 0, end_ns = 0;
	Kind kind = Kind::Send;
	Evidence evidence;
	uint64_t object = 0; // by probes: what its bytes went into or came out of; 0: not told
	bool moved = false; // by probes: bytes did, or a message
	uint64_t bytes = 0; // that did; 0: not told
	bool found_nothing = false; // would have had to wait for something to take
};

struct Thread {
	uint32_t tid = 0;
	uint32_t process = 0; // whose memory it has; 0: not known
	bool followed =
		false; // known from the log alone: what it did after its last record there, or before its first, isn't
	bool of_another_cell = false; // measured at the same time; so are those of its process
	std::string name;
	uint16_t first_cpu = 0; // where it ran when the block began
	bool pinned = true; // never migrates: a lost record can't have moved it
	uint64_t still_off_since_ns = 0; // off its CPU at the block's end, by the log; 0: it ran
	std::vector<OffCpu> off; // by out_ns; disjoint
	std::vector<uint64_t> moved_ns; // when it got to another CPU's queue, in order
	std::vector<Call> calls; // by begin_ns; disjoint
};

// Any system call, whatever it is to a message. Not of the walk: for who counts them.
struct SystemCall {
	uint32_t tid = 0;
	uint32_t number = 0; // by the machine's table
	uint64_t begin_ns = 0, end_ns = 0;
};

// A task that had a CPU of the run. Worker threads appear through their own off-CPU periods, not here.
struct Run {
	uint64_t in_ns = 0, out_ns = 0;
	uint32_t tid = 0;
	uint32_t record = 0;
	bool from_idle = false; // the CPU was idle until in_ns
};

struct Interrupt {
	uint64_t begin_ns = 0, end_ns = 0;
	uint8_t kind = 0; // icepath_interrupt_kind
	uint32_t vector = 0;
	uint32_t record = 0;
	// Of a softirq that handled packets of one or two sockets of the run, and no others: their keys.
	std::array<uint64_t, 2> sockets{};
	uint32_t tid = 0; // current meanwhile
	bool goes_on = false; // it lost its CPU: what it did after that is an interrupt of its own
};

struct Cpu {
	uint64_t known_since_ns = 0; // who had it before isn't known
	std::vector<Run> runs; // by in_ns
	std::vector<Interrupt> interrupts; // by begin_ns; may nest
	// The latest end_ns of interrupts[0..i]: finds those that overlap an instant without a search from the first. Where
	// its size differs from that of `interrupts` it isn't used.
	std::vector<uint64_t> interrupt_reach_ns;
};

// Records that can't be known any more.
struct LossWindow {
	uint64_t begin_ns = 0, end_ns = 0;
	uint32_t count = 0;
	bool unreadable = false; // they were captured, and can't be read
};

// An instant with what it rests on.
struct Mark {
	uint64_t at_ns = 0;
	Evidence evidence;
	Provenance provenance = Provenance::Exact;
};

// How a message changes hands.

// By the giver's system call, into a queue of the kernel.
struct ByCall {
	bool carried = false; // a kernel thread carries it on: it is ready after the call, perhaps
};

// By functions of a library: `call` to `call_return` and `take_call` to `take_return` are around these, in user mode.
struct ByLibrary {
	// Between two threads of a process without a call: then, within its bounds. Nothing else is known of the giving side.
	std::optional<Boundary> handed;
};

// Into a slot in memory. For room there the giver waits before its store, not in a call.
struct BySlot {
	std::optional<Mark> publish; // none: the receiver looks only once a call has told it to
	// The giver's next stamp after `publish`: the store lies before it. 0: none.
	uint64_t stored_by_ns = 0;
};

// One message changing hands from one thread to another: the message edge. A delivery without relays has one transfer,
// from the sender to the receiver; a broker makes it two.
struct Transfer {
	uint64_t message = 0; // identity: the same in all transfers of a delivery's message
	// Giving side.
	uint32_t from = 0; // tid
	std::optional<Mark> call; // the sending call begins; none: published without a call
	std::optional<Mark> call_return;
	std::variant<ByCall, ByLibrary, BySlot> by;
	std::optional<Mark> device; // the (last part of the) message reached a device queue
	std::array<uint64_t, 2> connection{}; // keys of its two sockets, where packets are told by sockets
	bool through_device = false; // it passes one: without `device` it can't be told until when the sender had it
	std::optional<model::CallShares> shares; // of its calls, where nothing else tells
	std::optional<Mark> ready; // the event that says "ready" (of the part that arrives last); none: inferred
	// Since when it may have been ready where another part, or something after the message, came with it; 0: `ready` is of its last part.
	uint64_t ready_since_ns = 0;
	uint64_t taken_since_ns = 0; // likewise of `take_return`
	bool ready_in_softirq = false; // ready was announced by an interrupt context, see `ready_interrupt`
	// When whoever announced it had done with that, by an interrupt's end or by the task's next announcement: who was woken by it was so by
	// then. 0: not known.
	uint64_t announced_until_ns = 0;
	bool announcer_lost_cpu = false; // that context did, after `ready` and before it was over
	// Who announced it: a waking from the same context on top of the same task delivers this message. 0: not known.
	uint32_t ready_tid = 0; // current at `ready`; with ready_in_softirq it was only interrupted, and 0 is idle
	uint8_t ready_context = 0; // icepath_context
	// Records of the outermost interrupts in which these events happened: this message's own work, never carved out.
	std::optional<uint32_t> ready_interrupt, device_interrupt;
	// A record lost after this instant could have matched another event to this message; 0: only the delivery's own time
	// counts.
	uint64_t matched_since_ns = 0;
	// Taking side.
	uint32_t to = 0; // tid
	Mark ask; // the wait that takes this message begins
	bool polls = false; // asks by trying again, never sleeps
	std::optional<Mark> wait_return; // the readiness wait came back
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
	uint64_t message = 0;
	uint32_t sender = 0, receiver = 0; // tids
	Mark send, recv;
	bool chained = false; // its transfers are one chain, in order; a thread may be in it more than once
	Reason unresolved = Reason::None; // why its transfers couldn't be found
};

struct Observations {
	std::map<uint32_t, Thread> threads; // by tid: the threads that may be on a path
	std::map<uint16_t, Cpu> cpus;
	std::map<uint32_t, std::string> task_names; // of culprits
	std::vector<SystemCall> system_calls; // by slot, then in the order in which they ended
	// Of what calls gave to an object (Call::object): at which sockets it was announced in that call. The ends of a UNIX socket are two.
	std::map<uint64_t, std::set<uint64_t>> reached;
	std::vector<Transfer> transfers; // by message, then in the order of the path
	std::vector<Delivery> deliveries;
	std::vector<LossWindow> lost;
	bool throttled =
		false; // meanwhile the kernel kept threads of the cell from running: their control group had used up its time
	uint64_t begin_ns = 0, end_ns = 0;
};

} // namespace icepath::path
