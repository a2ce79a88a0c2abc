// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small machine in discrete events: CPUs, threads, foreign tasks, interrupts, the kernel's way to sleep and to wake. It
// writes the records that the capture would write, and of each thread a log of what it really did. Programs of threads and
// of interrupts are coroutines that say how long they work and what they are doing.
#include <coroutine>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "ebpf/records.h"
#include "tests/simulator/scenario.h"
#include "tests/simulator/task.h"

namespace icepath::simulator {

class Machine {
public:
	Machine(uint64_t seed, unsigned cpus) : random(seed), cpus_(cpus) {}

	Task &add_thread(uint32_t tid, uint16_t cpu);
	Task &add_library_thread(uint32_t tid, uint16_t cpu); // which may be moved, and whose CPU is no worker's
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
	SleepFor any_wait_of_the_kernel(); // what may hold a thread up in any call
	Co wake(Execution &by, Task &target, uint64_t message);
	void doing(Task &thread, Doing what);
	size_t mark(Task &thread); // begins a span; returns its index

	// An interrupt as soon as the CPU takes one.
	void interrupt(uint16_t cpu, uint8_t kind, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A softirq in the middle of a program's work on this CPU.
	void softirq_now(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program);
	// In the kernel's thread for them, once that has the CPU.
	void softirqd(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A task that is no worker becomes runnable; it preempts, or waits for the CPU.
	void foreign(uint16_t cpu, uint32_t tid, std::function<Co(Task &)> program);
	// A thread that waits for a CPU gets onto another one's queue, if there is one that may.
	void balance();
	// The kernel keeps the task on this CPU from running for a while: its control group has used up its time.
	void throttle(uint16_t cpu);
	// A wake from a CPU that isn't modelled.
	void wake_from_outside(Task &target, Waker waker);

	uint8_t context(uint16_t cpu) const;
	uint32_t current_tid(uint16_t cpu) const { return cpus_[cpu].current ? cpus_[cpu].current->tid : 0; }
	int outermost_interrupt(uint16_t cpu) const
	{
		return cpus_[cpu].interrupts.empty() ? -1 : cpus_[cpu].interrupts.front()->id;
	}
	Cpu &cpu(uint16_t number) { return cpus_[number]; }
	const Cpu &cpu(uint16_t number) const { return cpus_[number]; }
	size_t emit(uint16_t cpu, icepath_record record); // end_ns, cpu and header are filled in; returns its number

	bool exits_idle_first = false; // a CPU tells that it leaves idle before it takes the interrupt that made it
	bool ever_throttled = false;
	uint64_t tick_ns = 0; // see Scenario
	bool preemptible_softirqs = false;
	Mutant mutant = Mutant::None;
	bool mutates(Mutant one) { return mutant == one && chance(0.3); }
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
	void note_turn(uint16_t number);
	void pause(Cpu &cpu);
	bool can_switch(uint16_t number) const;
	void end_piece(uint16_t number, const Interrupt &one, bool goes_on);
	void go(uint16_t number);
	void step(uint16_t number);
	void switch_to_next(uint16_t number);
	void enter_idle(uint16_t number);
	bool went_idle(const Task &task, const Cpu &cpu) const;
	void switch_out(uint16_t number, bool preempted);
	void switch_in(uint16_t number, Task *task);
	void kick(uint16_t number, bool soon);
	void preempt(uint16_t number);
	void move(Task &task, uint16_t to, uint16_t by);
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
