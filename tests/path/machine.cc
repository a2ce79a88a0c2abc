// SPDX-License-Identifier: Apache-2.0
#include "tests/path/machine.h"

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
		now_ = std::max(now_ + 1, event.at_ns); // no two events at one time: the order is never in doubt
		event.act();
	}
}

Task &Machine::add_thread(uint32_t tid, uint16_t cpu)
{
	Task &thread = threads.emplace_back();
	thread.tid = tid;
	thread.cpu = cpu;
	cpus_[cpu].of_worker = true;
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
	go(thread.cpu);
}

Execution *Machine::top(Cpu &cpu)
{
	return cpu.interrupts.empty() ? static_cast<Execution *>(cpu.current) : cpu.interrupts.back().get();
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

// The top execution's work is done: its program goes on until it works again, sleeps or ends.
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
			if (cpu.of_worker && (current_tid(number) != 0 || now_ - last.begin_ns >= 1000)) {
				icepath_record record{};
				record.type = ICEPATH_RECORD_INTERRUPT;
				record.tid = current_tid(number);
				record.interrupt.begin_ns = last.begin_ns;
				record.interrupt.vector = last.vector;
				record.interrupt.kind = last.kind;
				interrupt_record[last.id] = emit(number, record);
			}
			cpu.interrupts.pop_back();
			if (cpu.interrupts.empty() && cpu.current && !cpu.current->foreign)
				log(*cpu.current, State::Running);
		}
	} else if (cpu.current && (cpu.current->leaves_cpu || cpu.current->program.done())) {
		switch_out(number, false);
		switch_to_next(number);
	}
	go(number);
}

void Machine::switch_out(uint16_t number, bool preempted)
{
	Cpu &cpu = cpus_[number];
	Task &task = *cpu.current;
	cpu.current = nullptr;
	if (task.foreign) {
		if (cpu.of_worker) {
			icepath_record record{};
			record.type = ICEPATH_RECORD_FOREIGN_RUN;
			record.tid = task.tid;
			record.run.in_ns = task.in_ns;
			record.run.comm[0] = 'f';
			emit(number, record);
		}
		if (preempted)
			cpu.queue.push_back(&task);
		return;
	}
	if (!preempted && !task.leaves_cpu) { // its program ended
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
	task.sleeps.push_back({task.sleep_for, preempted, 0, 0, task.waking_ns, task.waker});
	int sleep = static_cast<int>(task.sleeps.size()) - 1;
	if (preempted) {
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
	if (cpu.queue.empty())
		return;
	Task *next = cpu.queue.front();
	cpu.queue.pop_front();
	switch_in(number, next);
}

void Machine::switch_in(uint16_t number, Task *task)
{
	Cpu &cpu = cpus_[number];
	cpu.current = task;
	if (task->foreign) {
		task->in_ns = now_;
		return;
	}
	if (task->out_ns != 0) {
		auto since_waking = [&](uint64_t event_ns) {
			return task->waking_ns && event_ns > task->waking_ns ? static_cast<uint32_t>(event_ns - task->waking_ns)
																 : 0;
		};
		icepath_record record{};
		record.type = ICEPATH_RECORD_OFF_CPU;
		record.context = task->waker.context;
		record.tid = task->tid;
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

void Machine::interrupt(uint16_t cpu, uint8_t kind, uint32_t vector, std::function<Co(Interrupt &)> program)
{
	after(between(1, 20), [this, cpu, kind, vector, program] { try_interrupt(cpu, kind, vector, program); });
}

void Machine::try_interrupt(uint16_t number, uint8_t kind, uint32_t vector,
							const std::function<Co(Interrupt &)> &program)
{
	Cpu &cpu = cpus_[number];
	Execution *running = top(cpu);
	bool soft = kind == ICEPATH_INTERRUPT_SOFTIRQ;
	bool masked = (running && running->irqs_off) ||
				  (!cpu.interrupts.empty() && (soft || cpu.interrupts.back()->kind != ICEPATH_INTERRUPT_SOFTIRQ));
	if (masked)
		return interrupt(number, kind, vector, program);
	pause(cpu);
	push_interrupt(number, kind, vector, program);
	go(number);
}

void Machine::softirq_now(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program)
{
	push_interrupt(cpu, ICEPATH_INTERRUPT_SOFTIRQ, vector, program);
}

void Machine::push_interrupt(uint16_t number, uint8_t kind, uint32_t vector,
							 const std::function<Co(Interrupt &)> &program)
{
	Cpu &cpu = cpus_[number];
	auto added = std::make_unique<Interrupt>();
	added->cpu = number;
	added->kind = kind;
	added->vector = vector;
	added->begin_ns = now_;
	added->id = static_cast<int>(interrupt_record.size());
	interrupt_record.emplace_back();
	if (cpu.interrupts.empty() && cpu.current && !cpu.current->foreign)
		log(*cpu.current, State::Interrupted, -1, added->id);
	cpu.interrupts.push_back(std::move(added));
	Interrupt &one = *cpu.interrupts.back();
	auto made = std::make_shared<std::function<Co(Interrupt &)>>(program); // a lambda's captures live in it
	one.keeps = made;
	one.program = (*made)(one);
	one.program.handle().resume();
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

uint8_t Machine::context(uint16_t cpu) const
{
	uint8_t found = ICEPATH_CONTEXT_TASK;
	for (const auto &one : cpus_[cpu].interrupts) {
		if (one->kind != ICEPATH_INTERRUPT_SOFTIRQ)
			return ICEPATH_CONTEXT_HARDIRQ;
		found = ICEPATH_CONTEXT_SOFTIRQ;
	}
	return found;
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

void Machine::log_wake(Task &task, uint16_t cpu, uint64_t waking_ns, uint64_t wakeup_ns, const Waker &waker)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_WAKE;
	record.context = waker.context;
	record.tid = task.tid;
	record.off.waking_ns = waking_ns;
	record.off.wakeup_ns = wakeup_ns;
	record.off.waker_tid = waker.tid;
	record.off.waker_vector = waker.vector;
	emit(cpu, record);
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

void Machine::on_waking(Task &target, const Waker &waker, uint16_t cpu)
{
	target.wake_pending = true;
	if (target.waking_ns) {
		log_wake(target, cpu, now_, now_, waker);
		return;
	}
	target.waking_ns = now_;
	target.waker = waker;
	if (target.asleep)
		log(target, State::Waking, static_cast<int>(target.sleeps.size()) - 1);
}

void Machine::finish_wakeup(Task &target, uint16_t cpu)
{
	target.wake_pending = false;
	if (target.wakeup_ns == 0) {
		const auto &stack = cpus_[cpu].interrupts;
		if (!stack.empty() && stack.back()->kind == ICEPATH_INTERRUPT_CALL_FUNCTION)
			target.ipi_ns = stack.back()->begin_ns;
		target.wakeup_ns = now_;
	}
	if (target.asleep) {
		target.asleep = false;
		log(target, State::Runnable, static_cast<int>(target.sleeps.size()) - 1);
		cpus_[target.cpu].queue.push_back(&target);
		after(1, [this, number = target.cpu] { kick(number, true); });
	} else {
		target.state_set = false;
	}
}

// try_to_wake_up(): nothing is traced where the task's state doesn't match. With interrupts off from the waking on.
Co Machine::wake(Execution &by, Task &target, uint64_t message)
{
	if (!can_be_woken(target))
		co_return;
	const auto &stack = cpus_[by.cpu].interrupts;
	uint8_t vector = 0;
	if (!stack.empty())
		vector = stack.back()->kind == ICEPATH_INTERRUPT_SOFTIRQ ? static_cast<uint8_t>(stack.back()->vector)
																 : stack.back()->kind;
	by.irqs_off = true;
	on_waking(target, {current_tid(by.cpu), context(by.cpu), vector, message}, by.cpu);
	if (target.asleep && target.cpu != by.cpu && chance(0.5)) {
		std::function<Co(Interrupt &)> handler = [this, &target](Interrupt &self) -> Co {
			co_await work(self, 3, 20);
			finish_wakeup(target, self.cpu);
			co_await work(self, 3, 40);
		};
		interrupt(target.cpu, ICEPATH_INTERRUPT_CALL_FUNCTION, 251, handler);
		co_await work(by, 3, 30);
		by.irqs_off = false;
		co_return;
	}
	co_await work(by, 3, 25);
	while (target.deactivated) // smp_cond_load_acquire(&p->on_cpu, !VAL)
		co_await work(by, 3, 12);
	finish_wakeup(target, by.cpu);
	co_await work(by, 1, 3);
	by.irqs_off = false;
}

void Machine::wake_from_outside(Task &target, Waker waker)
{
	if (!can_be_woken(target))
		return;
	const auto outside = static_cast<uint16_t>(cpus_.size() - 1);
	on_waking(target, waker, outside);
	auto finish = std::make_shared<std::function<void()>>();
	*finish = [this, &target, outside, weak = std::weak_ptr(finish)] {
		if (target.deactivated)
			after(7, [again = weak.lock()] { (*again)(); });
		else
			finish_wakeup(target, outside);
	};
	after(between(2, 10), [finish] { (*finish)(); }); // interrupts are off: it's short
}

// prepare_to_wait(), the condition, schedule(): a waking in between leaves the thread runnable, or comes before its switch.
Co Machine::wait_until(Task &thread, std::function<bool()> condition, SleepFor kind, std::optional<Doing> after_sleep)
{
	size_t came_back = SIZE_MAX; // the first span since it last came back
	for (;;) {
		thread.state_set = true;
		co_await work(thread, 3, 30);
		if (condition()) {
			thread.state_set = false;
			co_return;
		}
		co_await work(thread, 3, 40);
		if (!thread.state_set)
			continue;
		thread.irqs_off = true;
		thread.state_set = false;
		thread.deactivated = true;
		thread.sleep_for = kind;
		co_await work(thread, 3, 25);
		thread.irqs_off = false;
		thread.leaves_cpu = true;
		for (size_t i = came_back; i < thread.log.size(); ++i)
			thread.log[i].spurious = true;
		thread.doing = after_sleep.value_or(thread.doing);
		co_await work(thread, 5, 90); // switched out first
		came_back = thread.spans_at_in;
	}
}

Co Machine::sleep_other(Task &thread, SleepFor kind)
{
	auto over = std::make_shared<bool>(false);
	std::function<bool()> condition = [over] { return *over; };
	after(between(60, 700), [this, &thread, kind, over] {
		if (kind == SleepFor::Timer) {
			bool soft = chance(0.4);
			std::function<Co(Interrupt &)> handler = [this, &thread, over](Interrupt &self) -> Co {
				co_await work(self, 5, 40);
				*over = true;
				co_await wake(self, thread, kNoMessage);
				co_await work(self, 3, 20);
			};
			interrupt(thread.cpu, soft ? ICEPATH_INTERRUPT_SOFTIRQ : ICEPATH_INTERRUPT_TIMER, soft ? 1 : 236, handler);
			return;
		}
		*over = true;
		bool page = kind == SleepFor::Page;
		Waker waker{page ? 0u : 901u, static_cast<uint8_t>(page ? ICEPATH_CONTEXT_SOFTIRQ : ICEPATH_CONTEXT_TASK),
					static_cast<uint8_t>(page ? 4 : 0), kNoMessage};
		wake_from_outside(thread, waker);
	});
	co_await wait_until(thread, condition, kind);
}

} // namespace icepath::simulator
