// SPDX-License-Identifier: Apache-2.0
// Events, and the work of the execution on top of each CPU.
#include "tests/simulator/machine.h"

#include <algorithm>

namespace icepath::simulator {

namespace {

constexpr uint64_t kMostEvents = 400'000;

} // namespace

void Machine::after(uint64_t ns, std::function<void()> event) { events_.push({now_ + ns, order_++, std::move(event)}); }

void Machine::run(const std::function<bool()> &done)
{
	for (uint64_t count = 0; !events_.empty() && count < kMostEvents && !done(); ++count) {
		auto event = events_.top();
		events_.pop();
		now_ = tick_ns != 0 ? (std::max(now_, event.at_ns) + tick_ns - 1) / tick_ns * tick_ns
							: std::max(now_ + 1, event.at_ns);
		event.act();
	}
}

Task &Machine::add_thread(uint32_t tid, uint16_t cpu)
{
	Task &thread = threads.emplace_back();
	thread.tid = tid;
	thread.cpu = cpu;
	thread.queued_on.emplace_back(0, cpu);
	cpus_[cpu].of_worker = cpus_[cpu].watched = true;
	return thread;
}

Task &Machine::add_library_thread(uint32_t tid, uint16_t cpu)
{
	Task &thread = threads.emplace_back();
	thread.tid = tid;
	thread.cpu = cpu;
	thread.pinned = false;
	thread.queued_on.emplace_back(0, cpu);
	return thread;
}

void Machine::start(Task &thread, Co program)
{
	thread.program = std::move(program);
	log(thread, State::Running);
	thread.program.handle().resume();
	Cpu &cpu = cpus_[thread.cpu];
	if (cpu.current) {
		cpu.queue.push_back(&thread);
		after(500, [this, number = thread.cpu] { preempt(number); });
		return;
	}
	cpu.current = &thread;
	note_turn(thread.cpu);
	go(thread.cpu);
}

Execution *Machine::top(Cpu &cpu)
{
	return cpu.interrupts.empty() ? static_cast<Execution *>(cpu.current) : cpu.interrupts.back().get();
}

void Machine::note_turn(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	Turn turn{now_, current_tid(number)};
	for (const auto &one : cpu.interrupts) {
		turn.on.insert(turn.on.begin(), {one->id, one->kind, one->vector});
		if (one->kind != ICEPATH_INTERRUPT_SOFTIRQ)
			break;
	}
	if (!cpu.turns.empty() && !turn.on.empty() && cpu.turns.back().on == turn.on)
		return;
	cpu.turns.push_back(turn);
}

void Machine::pause(Cpu &cpu)
{
	++cpu.version;
	if (Execution *running = top(cpu))
		running->remaining_ns -= std::min(running->remaining_ns, now_ - cpu.since_ns);
}

void Machine::go(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	Execution *running = top(cpu);
	uint64_t version = ++cpu.version;
	cpu.since_ns = now_;
	if (running)
		after(std::max<uint64_t>(1, running->remaining_ns), [this, number, version] {
			if (cpus_[number].version == version)
				step(number);
		});
}

// The top execution's work is done: its program continues until it works again, sleeps or ends.
void Machine::step(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	++cpu.version;
	Execution *running = top(cpu);
	running->remaining_ns = 0;
	running->point.resume();
	if (!cpu.interrupts.empty()) {
		Interrupt &last = *cpu.interrupts.back();
		if (last.program.done()) {
			end_piece(number, last, false);
			cpu.interrupts.pop_back();
			note_turn(number);
			if (cpu.interrupts.empty() && cpu.current && !cpu.current->foreign)
				log(*cpu.current, State::Running);
		}
	} else if (cpu.current && (cpu.current->leaves_cpu || cpu.current->program.done())) {
		switch_out(number, false);
		switch_to_next(number);
	}
	go(number);
}

void Machine::doing(Task &thread, Doing what)
{
	if (thread.doing == what)
		return;
	thread.doing = what;
	log(thread, State::Running);
}

size_t Machine::mark(Task &thread)
{
	log(thread, State::Running);
	return thread.log.size() - 1;
}

void Machine::log(Task &task, State state, int sleep, int interrupt)
{
	task.log.push_back({now_, state, task.doing, false, sleep, interrupt});
}

size_t Machine::emit(uint16_t cpu, icepath_record record)
{
	record.version = ICEPATH_RECORD_VERSION;
	record.bytes = sizeof(record);
	record.cpu = cpu;
	record.end_ns = now_;
	records.push_back(record);
	return records.size() - 1;
}

} // namespace icepath::simulator
