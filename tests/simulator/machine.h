// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small discrete-event machine: CPUs, threads, foreign tasks, interrupts, and the kernel's way of sleeping and
// waking. It writes the capture's records, and for each thread a log of what it really did. Programs of threads and
// interrupts are coroutines that state their work and its duration.
#include <coroutine>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <vector>

#include "ebpf/records.h"
#include "tests/simulator/scenario.h"
#include "tests/simulator/task.h"

namespace icepath::simulator {

class Machine {
public:
	Machine(uint64_t seed, unsigned cpus) : random(seed), cpus_(cpus) {}

	Task &add_thread(uint32_t tid, uint16_t cpu);
	Task &add_library_thread(uint32_t tid, uint16_t cpu); // may be moved; its CPU isn't a worker's
	void start(Task &thread, Co program); // runs, or waits for its CPU
	// Runs events until none is left, `done` holds, or there are too many.
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
	SleepFor any_wait_of_the_kernel(); // possible in any call
	Co wake(Execution &by, Task &target, uint64_t message);
	void doing(Task &thread, Doing what);
	size_t mark(Task &thread); // begins a span; returns its index

	// An interrupt, as soon as the CPU takes one.
	void interrupt(uint16_t cpu, uint8_t kind, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A softirq within a program's work on this CPU.
	void softirq_now(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program);
	// In the kernel's softirq thread, once that has the CPU.
	void softirqd(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program);
	// A foreign task becomes runnable: it preempts, or waits for the CPU.
	void foreign(uint16_t cpu, uint32_t tid, std::function<Co(Task &)> program);
	// Moves a thread that waits for a CPU to another one's queue, if there is one that may be moved.
	void balance();
	// The kernel keeps this CPU's task from running for a while: its control group has used up its quota.
	void throttle(uint16_t cpu);
	// A wake from a CPU outside the model.
	void wake_from_outside(Task &target, Waker waker);

	uint8_t context(uint16_t cpu) const;
	uint32_t current_tid(uint16_t cpu) const { return cpus_[cpu].current ? cpus_[cpu].current->tid : 0; }
	int outermost_interrupt(uint16_t cpu) const
	{
		return cpus_[cpu].interrupts.empty() ? -1 : cpus_[cpu].interrupts.front()->id;
	}
	Cpu &cpu(uint16_t number) { return cpus_[number]; }
	const Cpu &cpu(uint16_t number) const { return cpus_[number]; }
	size_t emit(uint16_t cpu, icepath_record record); // fills in end_ns, cpu and the header; returns its number

	bool exits_idle_first = false; // a CPU reports leaving idle before it takes the interrupt that woke it
	bool ever_throttled = false;
	uint64_t tick_ns = 0; // see Scenario
	bool preemptible_softirqs = false;
	Mutant mutant = Mutant::None;
	bool mutates(Mutant one) { return mutant == one && chance(0.3); }
	std::mt19937_64 random;
	std::vector<icepath_record> records; // in the order of writing
	std::vector<std::optional<size_t>> interrupt_record; // by interrupt id
	// Softirqs that do nothing but send the run's messages, by interrupt id: the records of what they sent.
	std::map<int, std::vector<size_t>> own_softirqs;
	std::set<size_t> lost; // records that the capture lost, in the order of writing
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
