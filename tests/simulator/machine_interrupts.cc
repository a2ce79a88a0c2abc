// SPDX-License-Identifier: Apache-2.0
// Interrupts, which stack on a CPU and may be masked.
#include "tests/simulator/machine.h"

namespace icepath::simulator {

namespace {

constexpr uint32_t kSoftirqdTid = 700;

} // namespace

void Machine::interrupt(uint16_t cpu, uint8_t kind, uint32_t vector, std::function<Co(Interrupt &)> program)
{
	after(between(1, 20), [this, cpu, kind, vector, program] { try_interrupt(cpu, kind, vector, program); });
}

// An interrupt ends, or loses its CPU for a while.
void Machine::end_piece(uint16_t number, const Interrupt &one, bool goes_on)
{
	if (!cpus_[number].watched || (current_tid(number) == 0 && now_ - one.begin_ns < 1000))
		return;
	icepath_record record{};
	record.type = ICEPATH_RECORD_INTERRUPT;
	record.tid = current_tid(number);
	record.flags = goes_on ? ICEPATH_FLAG_GOES_ON : 0;
	record.interrupt.begin_ns = one.begin_ns;
	record.interrupt.vector = one.vector;
	record.interrupt.kind = one.kind;
	interrupt_record[one.id] = emit(number, record);
}

void Machine::try_interrupt(uint16_t number, uint8_t kind, uint32_t vector,
							const std::function<Co(Interrupt &)> &program)
{
	if (preemptible_softirqs && kind == ICEPATH_INTERRUPT_SOFTIRQ)
		return softirqd(number, vector, program);
	Cpu &cpu = cpus_[number];
	Execution *running = top(cpu);
	const auto over = [&](uint8_t it) { return !cpu.interrupts.empty() && cpu.interrupts.back()->kind == it; };
	bool masked = (running && running->irqs_off) || (!cpu.interrupts.empty() && !over(ICEPATH_INTERRUPT_SOFTIRQ));
	if (kind == ICEPATH_INTERRUPT_SOFTIRQ)
		masked = masked || !cpu.interrupts.empty();
	if (kind == ICEPATH_INTERRUPT_NMI)
		masked = over(ICEPATH_INTERRUPT_NMI);
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

void Machine::softirqd(uint16_t cpu, uint32_t vector, std::function<Co(Interrupt &)> program)
{
	std::function<Co(Task &)> thread = [this, vector, program](Task &self) -> Co {
		co_await work(self, 5, 60);
		softirq_now(self.cpu, vector, program);
		co_await work(self, 5, 60);
	};
	after(1, [this, cpu, thread] { foreign(cpu, kSoftirqdTid + cpu, thread); });
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
	note_turn(number);
	Interrupt &one = *cpu.interrupts.back();
	auto made = std::make_shared<std::function<Co(Interrupt &)>>(program); // owns the lambda's captures
	one.keeps = made;
	one.program = (*made)(one);
	one.program.handle().resume();
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

} // namespace icepath::simulator
