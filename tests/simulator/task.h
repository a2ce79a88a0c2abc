// SPDX-License-Identifier: Apache-2.0
#pragma once
// What runs on a machine's CPUs, the kernel's and the capture's state of it, and a log of what it really did.
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "ebpf/records.h"
#include "tests/simulator/coroutine.h"

namespace icepath::simulator {

inline constexpr uint64_t kNoMessage = UINT64_MAX;

// What a thread is doing, as its program states it.
enum class Doing : uint8_t {
	Busy, // unrelated to a message
	Looking, // for a message, in user mode or by failing attempts
	WaitUser, // asking, in user mode
	InCall, // in the call that waits or takes
	After, // it has the message
	SendUser,
	SendCall,
};

enum class SleepFor : uint8_t {
	Message,
	Room,
	Lock, // of the kernel, or of user code whose calls aren't traced
	Futex, // in a known call
	Timer,
	Page,
	Storage,
	Reclaim,
};

enum class State : uint8_t { Running, Interrupted, Preempted, Asleep, Waking, Runnable, Gone };

struct Waker {
	uint32_t tid = 0;
	uint8_t context = ICEPATH_CONTEXT_TASK, vector = 0;
	uint64_t message = kNoMessage; // the message that the waking delivers
};

// Lasts until the next span's begin.
struct Span {
	uint64_t begin_ns = 0;
	State state = State::Running;
	Doing doing = Doing::Busy;
	bool spurious = false; // ran after a wake that delivered nothing, and slept again
	int sleep = -1; // index into `sleeps`, if asleep, waking or runnable
	int interrupt = -1; // Interrupted: by which
};

struct Sleep {
	SleepFor kind = SleepFor::Message;
	bool preempted = false;
	uint64_t idle_exit_ns = 0, ipi_ns = 0, waking_ns = 0;
	Waker waker; // of the first waking
	bool counts_as_io = false; // as io_uring's waits do, whatever they are for
};

struct Execution {
	Execution() = default;
	Execution(const Execution &) = delete; // programs hold references
	uint16_t cpu = 0;
	bool irqs_off = false;
	uint64_t remaining_ns = 0;
	std::coroutine_handle<> point;
	std::shared_ptr<void> keeps; // owns what the program's coroutine refers to
	Co program;
};

struct Interrupt : Execution {
	uint8_t kind = 0;
	uint32_t vector = 0;
	uint64_t begin_ns = 0;
	int id = 0;
	int outermost = 0; // id of the outermost interrupt
};

struct Task : Execution {
	uint32_t tid = 0;
	bool foreign = false;
	bool pinned = true;
	uint64_t in_ns = 0; // foreign; 0: its CPU wasn't watched then
	bool in_from_idle = false; // likewise
	bool is_throttled = false;
	std::vector<std::unique_ptr<Interrupt>> softirqs; // unfinished as it lost its CPU
	// Kernel state of a thread.
	bool state_set = false; // about to sleep, still runnable
	bool deactivated = false; // in schedule(), not yet switched out
	bool asleep = false, wake_pending = false, leaves_cpu = false;
	// The capture's task storage.
	uint64_t out_ns = 0, waking_ns = 0, wakeup_ns = 0, ipi_ns = 0;
	uint64_t moved_ns = 0;
	uint16_t out_cpu = 0;
	bool was_preempted = false;
	Waker waker;
	// The truth.
	Doing doing = Doing::Busy;
	SleepFor sleep_for = SleepFor::Message;
	std::vector<Span> log;
	std::vector<Sleep> sleeps;
	std::vector<std::pair<uint64_t, uint64_t>> throttled; // from losing its CPU until having it again
	// since when, and the CPU whose queue it was on or which it had
	std::vector<std::pair<uint64_t, uint16_t>> queued_on;
	size_t spans_at_in = 0; // at the end of the last sleep that wasn't a preemption
};

// What had a CPU from `begin_ns` to the next turn's begin: a task, with an interrupt on top, possibly on top of a
// softirq. An interrupt on top of another interrupt counts as that one.
struct Turn {
	struct On {
		int interrupt = -1;
		uint8_t kind = 0;
		uint32_t vector = 0;
		friend bool operator==(const On &, const On &) = default;
	};
	uint64_t begin_ns = 0;
	uint32_t tid = 0; // 0: idle
	std::vector<On> on = {}; // uppermost first
};

struct Cpu {
	bool of_worker = false;
	bool watched = false; // its events are recorded
	Task *current = nullptr; // nullptr: idle
	std::vector<std::unique_ptr<Interrupt>> interrupts;
	std::deque<Task *> queue;
	uint64_t since_ns = 0, version = 0, idle_exit_ns = 0, idle_enter_ns = 0;
	bool is_idle = true; // no task has had it since the last one left
	bool leaving_idle = false, left_idle = false;
	std::vector<Turn> turns;
};

} // namespace icepath::simulator
