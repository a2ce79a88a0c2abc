/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SAMPLING_BPF_H
#define ICEPATH_EBPF_SAMPLING_BPF_H
/*
 * What workers run, sampled by a timer of each of their CPUs. Part of capture.bpf.c.
 *
 * While interrupts are off, the timer waits, and then samples what runs when they come on again. So a sample stands for
 * the instant at which the timer was to expire, and profiler/path/sampled.h decides whether its stack is of that
 * instant.
 */
extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak; /* since 6.2 */

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
	if (!stack) {
		end_record(record);
		return 0;
	}
	record->sample.stack = number + 1;
	stack->part = ICEPATH_STACK_WHOLE;
	long bytes = bpf_get_stack(context, stack->addresses, sizeof(stack->addresses), 0);
	stack->depth = bytes > 0 ? bytes / sizeof(stack->addresses[0]) : 0;
	__s64 address = PT_REGS_IP(&context->regs);
	if (bytes == 0 && address > 0) /* no kernel part: user code was interrupted. Kernel addresses are negative */
		record->sample.user_address = address;
	end_record(record);
	copy_user_stack(task, number, true);
	return 0;
}

#endif
