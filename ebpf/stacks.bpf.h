/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_STACKS_BPF_H
#define ICEPATH_EBPF_STACKS_BPF_H
/*
 * Stacks of sampled blocks: of samples, and of some switches and wakings. Part of capture.bpf.c.
 *
 * A waker may be any task. If it is neither the run's nor a kernel thread, icepath gets only what an interrupt did on
 * top of it. So its stack is marked, and the root helper cuts it (profiler/capture/named_stacks.h).
 */
#include "user_stack.h"

/* max_entries is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_stack);
} stacks SEC(".maps");

/* The user-mode parts, by the same numbers as `stacks`; only the first ones have one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_user_stack);
} user_stacks SEC(".maps");

/*
 * Stacks begun in this block: all of them, including those dropped because the maps were full, and those of switches
 * and wakings.
 */
__u32 stacks_begun = 0, event_stacks_begun = 0;

/* Set before loading: how many stacks of switches and wakings a block may have. 0: this run takes no stacks. */
const volatile __u32 event_stack_room = 0;

/* Copies the user-mode stack of the current task, if the task is the run's and may be read. */
static __always_inline void copy_user_stack(struct task_struct *task, __u32 number, bool is_of_run)
{
	struct icepath_user_stack *stack = bpf_map_lookup_elem(&user_stacks, &number);
	if (!stack)
		return;
	stack->bytes = 0;
#ifdef bpf_target_x86
	/*
	 * The registers are read to where the stack's copy goes afterwards: a program and those that it calls have 512
	 * bytes of stack together.
	 */
	struct pt_regs *regs = (struct pt_regs *)stack->memory;
	if (!is_of_run || !BPF_CORE_READ(task, mm) || has_more_rights(task) ||
		bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task)))
		return;
	const __u64 sp = regs->sp;
	const __u64 registers[ICEPATH_USER_REGISTERS] = {regs->ax,  regs->dx,  regs->cx,  regs->bx,  regs->si,  regs->di,
													 regs->bp,  sp,        regs->r8,  regs->r9,  regs->r10, regs->r11,
													 regs->r12, regs->r13, regs->r14, regs->r15, regs->ip};
	__builtin_memcpy(stack->registers, registers, sizeof(registers));
	const __u32 step = 1024; /* what is mapped above the stack's end may be read as well, and does no harm */
	__u32 bytes = 0;
	for (__u32 i = 0; i < ICEPATH_USER_STACK_BYTES / step; i++) {
		if (bpf_probe_read_user(stack->memory + i * step, step, (void *)(sp + i * step)))
			break;
		bytes += step;
	}
	stack->bytes = bytes;
#endif
}

/*
 * Whether the stack of this switch or waking is taken. Chosen at random, because switches and wakings recur in a
 * pattern.
 */
static __always_inline bool is_chosen(void)
{
	return event_stack_room && capturing == ICEPATH_CAPTURING_STACKS &&
		   bpf_get_prandom_u32() % ICEPATH_EVENT_STACK_ONE_IN == 0;
}

/*
 * Records the stack of the current task at an event of the thread `tid`. `type`: SLEEP_STACK or WAKER_STACK; `at_ns`:
 * as the thread's OFF_CPU record has it.
 */
static __noinline void log_event_stack(void *context, __u8 type, __u32 tid, __u64 at_ns)
{
	if (__sync_fetch_and_add(&event_stacks_begun, 1) >= event_stack_room)
		return;
	__u32 number = __sync_fetch_and_add(&stacks_begun, 1);
	struct icepath_stack *stack = bpf_map_lookup_elem(&stacks, &number);
	if (!stack)
		return;
	__u32 cpu;
	const struct icepath_cpu_state *state = this_cpu(&cpu);
	struct task_struct *current = bpf_get_current_task_btf();
	const bool is_of_run = worker_of(current), is_told = is_of_run || current->flags & PF_KTHREAD;
	/* The only sign of an interrupt where the helper has no kernel symbols. */
	const bool in_interrupt = state && state->in_hardirq;
	stack->part = is_told && !in_interrupt ? ICEPATH_STACK_FROM_INTERRUPT : ICEPATH_STACK_OF_INTERRUPT;
	long bytes = bpf_get_stack(context, stack->addresses, sizeof(stack->addresses), 0);
	stack->depth = bytes > 0 ? bytes / sizeof(stack->addresses[0]) : 0; /* last: the helper may read it at any time */
	copy_user_stack(current, number, is_of_run);
	struct icepath_record *record = begin_record(cpu, type, ICEPATH_CONTEXT_TASK, tid, at_ns);
	if (!record)
		return;
	record->sample.tgid = is_of_run ? current->tgid : 0;
	record->sample.stack = number + 1;
	end_record(record);
}

#endif
