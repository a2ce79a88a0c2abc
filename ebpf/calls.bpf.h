/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_CALLS_BPF_H
#define ICEPATH_EBPF_CALLS_BPF_H
/*
 * System calls of workers, where their plug-in can't stamp them itself because a library makes them. Part of capture.bpf.c.
 *
 * While one of these is attached every system call on the machine takes the slow way into the kernel (TIF work), so that only
 * probed blocks of middleware have them, and those of sparse cells that are measured beside one.
 */

SEC("?tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *registers, long number)
{
	struct icepath_task *task = capturing ? worker_of(bpf_get_current_task_btf()) : NULL;
	if (!task)
		return 0;
	task->call_number = number;
	task->call_argument = PT_REGS_PARM1_CORE_SYSCALL(registers);
	task->call_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *registers, long result)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct icepath_task *task = capturing ? worker_of(current_task) : NULL;
	if (!task || !task->call_ns)
		return 0;
	__u64 begin_ns = task->call_ns;
	task->call_ns = 0;
	struct icepath_record *record = begin_record(bpf_get_smp_processor_id(), ICEPATH_RECORD_CALL, ICEPATH_CONTEXT_TASK,
												 current_task->pid, now);
	if (!record)
		return 0;
	record->call.begin_ns = begin_ns;
	record->call.argument = task->call_argument;
	record->call.result = result;
	record->call.number = task->call_number;
	record->call.reserved = 0;
	return 0;
}

#endif
