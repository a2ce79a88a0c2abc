// SPDX-License-Identifier: Apache-2.0
// The kernel's sleeping and waking, races included.
#include "tests/simulator/machine.h"

namespace icepath::simulator {

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

// try_to_wake_up(): nothing is traced if the task's state doesn't match. Interrupts are off from the waking on.
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
	if (!target.pinned && target.asleep && chance(0.4))
		if (const auto to = static_cast<uint16_t>(between(0, cpus_.size() - 1)); to != target.cpu)
			move(target, to, by.cpu);
	if (target.asleep && target.cpu != by.cpu && chance(0.5)) {
		std::function<Co(Interrupt &)> handler = [this, &target](Interrupt &self) -> Co {
			co_await work(self, 3, 20);
			finish_wakeup(target, self.cpu);
			co_await work(self, 3, 40);
		};
		Cpu &idle = cpus_[target.cpu];
		if (exits_idle_first && !idle.current && idle.interrupts.empty() && !idle.leaving_idle && idle.queue.empty()) {
			co_await work(by, 2, 10);
			if (!idle.current && !idle.leaving_idle) {
				idle.idle_exit_ns = now_;
				idle.left_idle = true;
			}
		}
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
	after(between(2, 10), [finish] { (*finish)(); }); // short, because interrupts are off
}

// prepare_to_wait(), the condition, schedule(): a waking in between leaves the thread runnable, or comes before its
// switch.
Co Machine::wait_until(Task &thread, std::function<bool()> condition, SleepFor kind, std::optional<Doing> after_sleep)
{
	size_t came_back = SIZE_MAX; // first span since its last return
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

SleepFor Machine::any_wait_of_the_kernel()
{
	constexpr SleepFor kWaits[] = {SleepFor::Page, SleepFor::Storage, SleepFor::Reclaim, SleepFor::Lock};
	return kWaits[between(0, std::size(kWaits) - 1)];
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
		constexpr Waker kThread{901, ICEPATH_CONTEXT_TASK, ICEPATH_WAKER_THREAD, kNoMessage};
		constexpr Waker kKworker{902, ICEPATH_CONTEXT_TASK, ICEPATH_WAKER_KERNEL_THREAD, kNoMessage};
		constexpr Waker kBlockSoftirq{0, ICEPATH_CONTEXT_SOFTIRQ, 4, kNoMessage};
		const bool by_storage = kind == SleepFor::Page || kind == SleepFor::Storage;
		wake_from_outside(thread, by_storage && chance(0.5)                                ? kBlockSoftirq
								  : by_storage || (kind != SleepFor::Futex && chance(0.3)) ? kKworker
																						   : kThread);
	});
	co_await wait_until(thread, condition, kind);
}

} // namespace icepath::simulator
