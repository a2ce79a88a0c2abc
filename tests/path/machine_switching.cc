// SPDX-License-Identifier: Apache-2.0
// Who has the CPU: switches, preemption, idling, and their records.
#include "tests/path/machine.h"

namespace icepath::simulator {

namespace {

uint16_t flags_of(const Sleep &sleep)
{
	if (sleep.preempted)
		return 0;
	switch (sleep.kind) {
	case SleepFor::Page:
		return ICEPATH_FLAG_IN_FAULT | ICEPATH_FLAG_IO_WAIT;
	case SleepFor::Storage:
		return ICEPATH_FLAG_IO_WAIT;
	case SleepFor::Reclaim:
		return ICEPATH_FLAG_IN_RECLAIM;
	case SleepFor::Message:
	case SleepFor::Room:
		return sleep.counts_as_io ? ICEPATH_FLAG_IO_WAIT : 0;
	default:
		return 0;
	}
}

} // namespace

void Machine::switch_out(uint16_t number, bool preempted)
{
	Cpu &cpu = cpus_[number];
	Task &task = *cpu.current;
	cpu.current = nullptr;
	cpu.left_ns = now_;
	note_turn(number);
	if (task.foreign) {
		if (cpu.of_worker) {
			icepath_record record{};
			record.type = ICEPATH_RECORD_FOREIGN_RUN;
			record.tid = task.tid;
			record.flags = task.in_from_idle ? ICEPATH_FLAG_FROM_IDLE : 0;
			record.run.in_ns = task.in_ns;
			record.run.comm[0] = 'f';
			emit(number, record);
		}
		if (preempted)
			cpu.queue.push_back(&task);
		return;
	}
	if (!preempted && !task.leaves_cpu) { // its program ended
		task.out_ns = now_;
		log(task, State::Gone);
		return;
	}
	if (task.waking_ns && task.wakeup_ns) {
		log_wake(task, number, task.waking_ns, task.wakeup_ns, task.waker);
		task.waking_ns = task.wakeup_ns = task.ipi_ns = 0;
	}
	task.out_ns = now_;
	task.out_cpu = number;
	task.was_preempted = preempted;
	task.sleeps.push_back({task.sleep_for, preempted, 0, 0, task.waking_ns, task.waker, chance(0.3)});
	int sleep = static_cast<int>(task.sleeps.size()) - 1;
	if (preempted) {
		if (!task.is_throttled)
			cpu.queue.push_back(&task);
		log(task, State::Preempted, sleep);
		return;
	}
	task.leaves_cpu = task.deactivated = false;
	task.asleep = true;
	log(task, task.waking_ns ? State::Waking : State::Asleep, sleep);
}

void Machine::switch_to_next(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	if (cpu.queue.empty()) {
		cpu.idle_enter_ns = now_ + 1;
		return;
	}
	Task *next = cpu.queue.front();
	cpu.queue.pop_front();
	switch_in(number, next);
}

void Machine::switch_in(uint16_t number, Task *task)
{
	Cpu &cpu = cpus_[number];
	const bool from_idle = cpu.left_ns != now_;
	cpu.current = task;
	cpu.left_idle = false;
	note_turn(number);
	if (!task->foreign && !task->throttled.empty() && task->throttled.back().second == 0)
		task->throttled.back().second = now_;
	if (task->foreign) {
		task->in_ns = now_;
		task->in_from_idle = from_idle;
		return;
	}
	if (task->out_ns != 0) {
		auto since_waking = [&](uint64_t event_ns) {
			return task->waking_ns && event_ns > task->waking_ns ? static_cast<uint32_t>(event_ns - task->waking_ns)
																 : 0;
		};
		const uint64_t runnable_ns = task->was_preempted ? task->out_ns : task->wakeup_ns;
		icepath_record record{};
		record.type = ICEPATH_RECORD_OFF_CPU;
		record.flags = static_cast<uint16_t>((from_idle ? ICEPATH_FLAG_FROM_IDLE : 0) |
											 (cpu.idle_enter_ns > runnable_ns ? ICEPATH_FLAG_WENT_IDLE : 0));
		record.context = task->waker.context;
		record.tid = task->tid;
		record.flags |= flags_of(task->sleeps.back());
		record.off.out_ns = task->out_ns;
		record.off.waking_ns = task->waking_ns;
		record.off.wakeup_ns = task->wakeup_ns;
		record.off.waker_tid = task->waker.tid;
		record.off.ipi_after_ns = since_waking(task->ipi_ns);
		record.off.idle_after_ns = since_waking(cpu.idle_exit_ns);
		record.off.out_cpu = task->out_cpu;
		record.off.reason = task->was_preempted ? ICEPATH_OFF_PREEMPTED : ICEPATH_OFF_BLOCKED;
		record.off.waker_vector = task->waker.vector;
		emit(number, record);
		Sleep &sleep = task->sleeps.back();
		sleep.ipi_ns = record.off.ipi_after_ns ? task->ipi_ns : 0;
		sleep.idle_exit_ns = record.off.idle_after_ns ? cpu.idle_exit_ns : 0;
		sleep.waking_ns = task->waking_ns;
		sleep.waker = task->waker;
	}
	if (!task->was_preempted)
		task->spans_at_in = task->log.size();
	task->out_ns = task->waking_ns = task->wakeup_ns = task->ipi_ns = 0;
	task->waker = {};
	log(*task, State::Running);
}

// Something became runnable on this CPU.
void Machine::kick(uint16_t number, bool soon)
{
	Cpu &cpu = cpus_[number];
	if (cpu.queue.empty())
		return;
	if (cpu.current) {
		after(soon && chance(0.5) ? between(1, 60) : between(300, 3000), [this, number] { preempt(number); });
		return;
	}
	if (cpu.leaving_idle)
		return;
	cpu.leaving_idle = true;
	if (cpu.left_idle) {
		after(between(5, 60), [this, number] { preempt(number); });
		return;
	}
	after(between(5, 120), [this, number] {
		cpus_[number].idle_exit_ns = now_;
		after(between(5, 60), [this, number] { preempt(number); });
	});
}

void Machine::preempt(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	if (cpu.queue.empty())
		return;
	if (!cpu.interrupts.empty() || (cpu.current && cpu.current->irqs_off)) {
		after(between(5, 25), [this, number] { preempt(number); });
		return;
	}
	if (!cpu.current && !cpu.leaving_idle)
		return kick(number, true);
	cpu.leaving_idle = false;
	if (cpu.current) {
		pause(cpu);
		switch_out(number, true);
	}
	switch_to_next(number);
	go(number);
	if (!cpu.queue.empty())
		kick(number, false);
}

void Machine::throttle(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	Task *task = cpu.current;
	if (!task || task->foreign || task->leaves_cpu || task->deactivated || task->irqs_off || !cpu.interrupts.empty())
		return;
	ever_throttled = true;
	pause(cpu);
	task->is_throttled = true;
	task->throttled.emplace_back(now_, 0);
	switch_out(number, true);
	switch_to_next(number);
	go(number);
	after(between(100, 3000), [this, task, number] {
		task->is_throttled = false;
		cpus_[number].queue.push_back(task);
		kick(number, true);
	});
}

void Machine::foreign(uint16_t number, uint32_t tid, std::function<Co(Task &)> program)
{
	Task &task = foreign_.emplace_back();
	task.tid = tid;
	task.cpu = number;
	task.foreign = true;
	auto made = std::make_shared<std::function<Co(Task &)>>(std::move(program));
	task.keeps = made;
	task.program = (*made)(task);
	task.program.handle().resume();
	if (chance(0.7))
		cpus_[number].queue.push_front(&task);
	else
		cpus_[number].queue.push_back(&task);
	kick(number, true);
}

} // namespace icepath::simulator
