// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small machine in discrete events: CPUs, threads, foreign tasks, interrupts, the kernel's way to sleep and to wake. It
// writes the records that the capture would write, and of each thread a log of what it really did. Programs of threads and
// of interrupts are coroutines that say how long they work and what they are doing.
#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "ebpf/records.h"

namespace icepath::simulator {

inline constexpr uint64_t kNoMessage = UINT64_MAX;

// A coroutine that runs when awaited, or when started as a program.
class [[nodiscard]] Co {
public:
	struct promise_type {
		std::coroutine_handle<> continuation;
		Co get_return_object() { return Co(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		auto final_suspend() noexcept
		{
			struct Back {
				bool await_ready() noexcept { return false; }
				std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept
				{
					auto next = self.promise().continuation;
					return next ? next : std::noop_coroutine();
				}
				void await_resume() noexcept {}
			};
			return Back{};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	Co() = default;
	explicit Co(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
	Co(Co &&other) noexcept : handle_(std::exchange(other.handle_, {})) {}
	Co &operator=(Co &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~Co()
	{
		if (handle_)
			handle_.destroy();
	}
	bool done() const { return !handle_ || handle_.done(); }
	std::coroutine_handle<> handle() const { return handle_; }
	bool await_ready() const { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller)
	{
		handle_.promise().continuation = caller;
		return handle_;
	}
	void await_resume() {}

private:
	std::coroutine_handle<promise_type> handle_;
};

// What a thread was doing, as its program says it.
enum class Doing : uint8_t {
	Busy, // nothing about a message
	Looking, // for a message, in user mode or by failing attempts
	WaitUser, // asking, in user mode
	InCall, // inside the call that waits or takes
	After, // has it
	SendUser,
	SendCall,
};

enum class SleepFor : uint8_t { Message, Room, Lock, Timer, Page };

enum class State : uint8_t { Running, Interrupted, Preempted, Asleep, Waking, Runnable, Gone };

struct Waker {
	uint32_t tid = 0;
	uint8_t context = ICEPATH_CONTEXT_TASK, vector = 0;
	uint64_t message = kNoMessage; // that the waking delivers
};

// From `begin_ns` to the next span's begin.
struct Span {
	uint64_t begin_ns = 0;
	State state = State::Running;
	Doing doing = Doing::Busy;
	bool spurious = false; // ran after a wake for nothing, and slept again
	int sleep = -1; // index into `sleeps`, in the states of one
	int interrupt = -1; // Interrupted: which
};

struct Sleep {
	SleepFor kind = SleepFor::Message;
	bool preempted = false;
	uint64_t idle_exit_ns = 0, ipi_ns = 0, waking_ns = 0;
	Waker waker; // of the first waking
};

struct Execution {
	Execution() = default;
	Execution(const Execution &) = delete; // programs hold references
	uint16_t cpu = 0;
	bool irqs_off = false;
	uint64_t remaining_ns = 0;
	std::coroutine_handle<> point;
	std::shared_ptr<void> keeps; // what the program's coroutine refers to
	Co program;
};

struct Task : Execution {
	uint32_t tid = 0;
	bool foreign = false;
	uint64_t in_ns = 0; // foreign
	// Kernel state of a thread.
	bool state_set = false; // about to sleep, still runnable
	bool deactivated = false; // in schedule(), not yet switched out
	bool asleep = false, wake_pending = false, leaves_cpu = false;
	// The capture's task storage.
	uint64_t out_ns = 0, waking_ns = 0, wakeup_ns = 0, ipi_ns = 0;
	uint16_t out_cpu = 0;
	bool was_preempted = false;
	Waker waker;
	// The truth.
	Doing doing = Doing::Busy;
	SleepFor sleep_for = SleepFor::Message;
	std::vector<Span> log;
	std::vector<Sleep> sleeps;
	size_t spans_at_in = 0; // of the last sleep that wasn't a preemption
};

struct Interrupt : Execution {
	uint8_t kind = 0;
	uint32_t vector = 0;
	uint64_t begin_ns = 0;
	int id = 0;
	int outermost = 0; // id of the interrupt at the bottom
};

struct Cpu {
	bool of_worker = false;
	Task *current = nullptr; // nullptr: idle
	std::vector<std::unique_ptr<Interrupt>> interrupts;
	std::deque<Task *> queue;
	uint64_t since_ns = 0, version = 0, idle_exit_ns = 0;
	bool leaving_idle = false;
};

class Machine {
public:
	Machine(uint64_t seed, unsigned cpus) : random(seed), cpus_(cpus) {}

	Task &add_thread(uint32_t tid, uint16_t cpu);
	void start(Task &thread, Co program); // runs, or waits for its CPU
	// Runs events until none is left, `done`, or too many of them.
	void run(const std::function<bool()> &done);

	uint64_t now() const { return now_; }
	uint64_t between(uint64_t least, uint64_t most)
	{
		return std::uniform_int_distribution<uint64_t>(least, most)(random);
	}
	bool chance(double probability) { return std::bernoulli_distribution(probability)(random); }
	void after(uint64_t ns, std::function<void()> event);

	// For programs.
	struct Work {
		Execution &by;
		uint64_t ns;
		bool await_ready() const { return false; }
		void await_suspend(std::coroutine_handle<> point)
		{
			by.point = point;
			by.remaining_ns = ns;
		}
		void await_resume() {}
	};
	Work work(Execution &by, uint64_t least, uint64_t most) { return {by, between(least, most)}; }
	Co wait_until(Task &thread, std::function<bool()> condition, SleepFor kind, std::optional<Doing> after_sleep = {});
	Co sleep_other(Task &thread, SleepFor kind);
	Co wake(Execution &by, Task &target, uint64_t message);
	void doing(Task &thread, Doing what);
	size_t mark(Task &thread); // begins a span; returns its index

	// An interrupt as soon as the CPU takes one.
	void interrupt(uint16_t cpu, uint8_t kind, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A softirq in the middle of a program's work on this CPU.
	void softirq_now(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A task that is no worker becomes runnable; it preempts, or waits for the CPU.
	void foreign(uint16_t cpu, uint32_t tid, std::function<Co(Task &)> program);
	// A wake from a CPU that isn't modelled.
	void wake_from_outside(Task &target, Waker waker);

	uint8_t context(uint16_t cpu) const;
	uint32_t current_tid(uint16_t cpu) const { return cpus_[cpu].current ? cpus_[cpu].current->tid : 0; }
	int outermost_interrupt(uint16_t cpu) const
	{
		return cpus_[cpu].interrupts.empty() ? -1 : cpus_[cpu].interrupts.front()->id;
	}
	Cpu &cpu(uint16_t number) { return cpus_[number]; }
	size_t emit(uint16_t cpu, icepath_record record); // end_ns, cpu and header are filled in; returns its number

	std::mt19937_64 random;
	std::vector<icepath_record> records; // in the order of writing
	std::vector<std::optional<size_t>> interrupt_record; // by interrupt id
	std::list<Task> threads;

private:
	struct Event {
		uint64_t at_ns, order;
		std::function<void()> act;
		bool operator<(const Event &other) const
		{
			return at_ns != other.at_ns ? at_ns > other.at_ns : order > other.order;
		}
	};
	static Execution *top(Cpu &cpu);
	void pause(Cpu &cpu);
	void go(uint16_t number);
	void step(uint16_t number);
	void switch_to_next(uint16_t number);
	void switch_out(uint16_t number, bool preempted);
	void switch_in(uint16_t number, Task *task);
	void kick(uint16_t number, bool soon);
	void preempt(uint16_t number);
	void push_interrupt(uint16_t number, uint8_t kind, uint32_t vector, const std::function<Co(Interrupt &)> &program);
	void try_interrupt(uint16_t number, uint8_t kind, uint32_t vector, const std::function<Co(Interrupt &)> &program);
	static bool can_be_woken(const Task &target)
	{
		return !target.wake_pending && (target.state_set || target.deactivated || target.asleep);
	}
	void on_waking(Task &target, const Waker &waker, uint16_t cpu);
	void finish_wakeup(Task &target, uint16_t cpu);
	void log(Task &task, State state, int sleep = -1, int interrupt = -1);
	void log_wake(Task &task, uint16_t cpu, uint64_t waking_ns, uint64_t wakeup_ns, const Waker &waker);

	uint64_t now_ = 1000, order_ = 0;
	std::priority_queue<Event> events_;
	std::vector<Cpu> cpus_;
	std::list<Task> foreign_;
};

} // namespace icepath::simulator
