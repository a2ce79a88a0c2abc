// SPDX-License-Identifier: Apache-2.0
// Switches, preemption and idling of CPUs, and their records.
#include "tests/simulator/machine.h"

#include <algorithm>

namespace icepath::simulator {

namespace {

// From the idle loop's last check for a runnable task; the capture allows for it (ebpf/scheduling.bpf.h).
constexpr uint64_t kLongestIdleEntryNs = 10;

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
	cpu.watched |= !task.foreign;
	for (const auto &one : cpu.interrupts)
		end_piece(number, *one, true);
	task.softirqs = std::move(cpu.interrupts);
	cpu.interrupts.clear();
	cpu.current = nullptr;
	note_turn(number);
	if (task.foreign) {
		if (cpu.watched && task.in_ns != 0) {
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
	if (!preempted && !task.leaves_cpu) { // its program has ended
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
		cpu.is_idle = true;
		after(between(1, 40), [this, number] { enter_idle(number); });
		return;
	}
	Task *next = cpu.queue.front();
	cpu.queue.pop_front();
	switch_in(number, next);
}

// do_idle(): a thread woken after the last check of need_resched is runnable before the CPU reports that it is idle.
void Machine::enter_idle(uint16_t number)
{
	const Cpu &cpu = cpus_[number];
	if (!cpu.is_idle || cpu.leaving_idle || !cpu.queue.empty())
		return;
	after(between(1, kLongestIdleEntryNs - 1), [this, number] {
		if (cpus_[number].is_idle)
			cpus_[number].idle_enter_ns = now_;
	});
}

// idle_flags() of the capture.
bool Machine::went_idle(const Task &task, const Cpu &cpu) const
{
	const uint64_t came_ns = std::max(task.was_preempted ? 0 : task.wakeup_ns, task.moved_ns);
	return cpu.idle_enter_ns > std::max(task.out_ns, came_ns + kLongestIdleEntryNs + tick_ns);
}

void Machine::switch_in(uint16_t number, Task *task)
{
	Cpu &cpu = cpus_[number];
	const bool from_idle = cpu.is_idle && cpu.of_worker;
	cpu.watched |= !task->foreign;
	cpu.is_idle = false;
	cpu.current = task;
	cpu.left_idle = false;
	cpu.interrupts = std::move(task->softirqs);
	task->softirqs.clear();
	for (const auto &one : cpu.interrupts) { // the rest has a record of its own
		one->begin_ns = now_;
		one->id = static_cast<int>(interrupt_record.size());
		interrupt_record.emplace_back();
	}
	note_turn(number);
	if (!task->foreign && !task->throttled.empty() && task->throttled.back().second == 0)
		task->throttled.back().second = now_;
	if (task->foreign) {
		task->in_ns = cpu.watched ? now_ : 0;
		task->in_from_idle = from_idle;
		return;
	}
	if (task->out_ns != 0) {
		auto since_waking = [&](uint64_t event_ns) {
			return task->waking_ns && event_ns > task->waking_ns ? static_cast<uint32_t>(event_ns - task->waking_ns)
																 : 0;
		};
		icepath_record record{};
		record.type = ICEPATH_RECORD_OFF_CPU;
		record.flags = static_cast<uint16_t>((from_idle ? ICEPATH_FLAG_FROM_IDLE : 0) |
											 (went_idle(*task, cpu) ? ICEPATH_FLAG_WENT_IDLE : 0));
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
		if (mutates(Mutant::WakesUntold)) {
			record.off.waking_ns = record.off.wakeup_ns = 0;
			record.off.waker_tid = 0;
		}
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
	if (cpu.interrupts.empty())
		log(*task, State::Running);
	else
		log(*task, State::Interrupted, -1, outermost_interrupt(number));
}

bool Machine::can_switch(uint16_t number) const
{
	const Cpu &cpu = cpus_[number];
	const auto is_in_the_way = [&](const auto &one) {
		return !preemptible_softirqs || one->kind != ICEPATH_INTERRUPT_SOFTIRQ || one->irqs_off;
	};
	return std::ranges::none_of(cpu.interrupts, is_in_the_way) && !(cpu.current && cpu.current->irqs_off);
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
	if (cpu.queue.empty()) { // the task that was to run has been moved away
		cpu.leaving_idle = false;
		return;
	}
	if (!can_switch(number)) {
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

void Machine::move(Task &task, uint16_t to, uint16_t by)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_MIGRATE;
	record.context = context(by);
	record.tid = task.tid;
	cpus_[to].watched = true;
	emit(by, record);
	task.cpu = to;
	task.moved_ns = now_;
	task.queued_on.emplace_back(now_, to);
}

void Machine::balance()
{
	const auto to = static_cast<uint16_t>(between(0, cpus_.size() - 1));
	for (uint16_t from = 0; from < cpus_.size(); ++from)
		for (auto one = cpus_[from].queue.begin(); from != to && one != cpus_[from].queue.end(); ++one) {
			Task &task = **one;
			if (task.foreign || task.pinned || !task.softirqs.empty())
				continue;
			cpus_[from].queue.erase(one);
			move(task, to, to);
			cpus_[to].queue.push_back(&task);
			return kick(to, true);
		}
}

void Machine::throttle(uint16_t number)
{
	Cpu &cpu = cpus_[number];
	Task *task = cpu.current;
	if (!task || task->foreign || task->leaves_cpu || task->deactivated || !can_switch(number))
		return;
	ever_throttled = true;
	pause(cpu);
	task->is_throttled = true;
	task->throttled.emplace_back(now_, 0);
	switch_out(number, true);
	switch_to_next(number);
	go(number);
	after(between(100, 3000), [this, task] {
		task->is_throttled = false;
		cpus_[task->cpu].queue.push_back(task);
		kick(task->cpu, true);
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
