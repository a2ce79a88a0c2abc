/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SAMPLING_BPF_H
#define ICEPATH_EBPF_SAMPLING_BPF_H
/*
 * What workers run, sampled by a timer of each of their CPUs. Part of capture.bpf.c.
 *
 * While interrupts are off the timer waits, and finds what runs when they come on again. So a sample is for the instant
 * at which the timer was to expire, and profiler/path/sampled.h decides whether its stack is of that instant.
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

/* As `stacks`, by the same numbers; of the first ones alone. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_user_stack);
} user_stacks SEC(".maps");

__u32 stacks_begun = 0; /* in this block; those beyond the maps' entries were dropped */

extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak; /* since 6.2 */

/* mm_struct before Linux 6.18, and since. */
struct mm_struct___number {
	unsigned long flags;
} __attribute__((preserve_access_index));
struct icepath_mm_flags {
	unsigned long bits;
};
struct mm_struct___bits {
	struct icepath_mm_flags flags;
} __attribute__((preserve_access_index));

/*
 * Whether the user may read the process's memory: it has no more rights than that user's own, and neither had more since
 * it executed its program nor asked to be left alone (ptrace(2), "Ptrace access mode checking").
 */
static __always_inline bool is_readable(struct task_struct *task)
{
	const __u64 dumpable_mask = 3, dumpable = 1; /* MMF_DUMPABLE_MASK, SUID_DUMP_USER */
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 flags = 0;
	if (!mm)
		return false;
	if (bpf_core_field_exists(((struct mm_struct___number *)mm)->flags))
		flags = BPF_CORE_READ((struct mm_struct___number *)mm, flags);
	else if (bpf_core_field_exists(((struct mm_struct___bits *)mm)->flags))
		bpf_core_read(&flags, sizeof(flags), &((struct mm_struct___bits *)mm)->flags);
	return (flags & dumpable_mask) == dumpable && !has_more_rights(task);
}

static __always_inline void copy_user_stack(struct task_struct *task, __u32 number)
{
	struct icepath_user_stack *stack = bpf_map_lookup_elem(&user_stacks, &number);
	if (!stack)
		return;
	stack->bytes = 0;
#ifdef bpf_target_x86
	struct pt_regs regs = {};
	if (!is_readable(task) || bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task)))
		return;
	const __u64 registers[ICEPATH_USER_REGISTERS] = {regs.ax,  regs.dx,  regs.cx,  regs.bx,  regs.si,  regs.di,
													 regs.bp,  regs.sp,  regs.r8,  regs.r9,  regs.r10, regs.r11,
													 regs.r12, regs.r13, regs.r14, regs.r15, regs.ip};
	__builtin_memcpy(stack->registers, registers, sizeof(registers));
	const __u32 step = 1024; /* what is mapped above the stack's end may be read as well, and does no harm */
	__u32 bytes = 0;
	for (__u32 i = 0; i < ICEPATH_USER_STACK_BYTES / step; i++) {
		if (bpf_probe_read_user(stack->memory + i * step, step, (void *)(regs.sp + i * step)))
			break;
		bytes += step;
	}
	stack->bytes = bytes;
#endif
}

SEC("?perf_event")
int on_sample(struct bpf_perf_event_data *context)
{
	__u64 now = bpf_ktime_get_ns();
	if (!capturing)
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	if (!worker_of(task))
		return 0;
	struct icepath_record *record =
		begin_record(bpf_get_smp_processor_id(), ICEPATH_RECORD_SAMPLE, ICEPATH_CONTEXT_HARDIRQ, task->pid, now);
	if (!record)
		return 0;
	record->sample.tgid = task->tgid;
	if (bpf_cast_to_kern_ctx) {
		struct bpf_perf_event_data_kern *kernels = bpf_cast_to_kern_ctx(context);
		record->sample.planned_ns = BPF_CORE_READ(kernels, event, hw.hrtimer.node.expires);
	}
	__u32 number = __sync_fetch_and_add(&stacks_begun, 1);
	struct icepath_stack *stack = bpf_map_lookup_elem(&stacks, &number);
	if (!stack)
		return 0;
	record->sample.stack = number + 1;
	long bytes = bpf_get_stack(context, stack->addresses, sizeof(stack->addresses), 0);
	stack->depth = bytes > 0 ? bytes / sizeof(stack->addresses[0]) : 0;
	__s64 address = PT_REGS_IP(&context->regs);
	if (bytes == 0 && address > 0) /* it has no kernel part: user code was interrupted. The kernel's are negative */
		record->sample.user_address = address;
	copy_user_stack(task, number);
	return 0;
}

#endif
