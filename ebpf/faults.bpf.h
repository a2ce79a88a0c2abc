/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_FAULTS_BPF_H
#define ICEPATH_EBPF_FAULTS_BPF_H
/*
 * What a worker was doing as it went to sleep: a page fault, reclaim, or a wait for storage. Part of capture.bpf.c,
 * before scheduling.bpf.h, which asks at each switch-out.
 *
 * The kernel traces the begin of a page fault but not its end. A fault is still in progress if two conditions hold. Its
 * registers are unchanged on the thread's stack: a thread that sleeps after the fault has built other frames there, or
 * has entered from user mode another way. And the kernel hasn't counted it: mm_account_fault() runs at its end. A fault
 * that failed is never counted, so that condition alone isn't enough.
 */

static __always_inline int begin_fault(struct pt_regs *registers)
{
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct icepath_task *task = capturing ? worker_of(current_task) : NULL;
	if (!task)
		return 0;
	task->fault_registers = (__u64)registers;
	task->fault_ip = PT_REGS_IP_CORE(registers);
	task->fault_count = current_task->min_flt + current_task->maj_flt;
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(on_page_fault_user, unsigned long address, struct pt_regs *registers) { return begin_fault(registers); }
SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(on_page_fault_kernel, unsigned long address, struct pt_regs *registers) { return begin_fault(registers); }

static __always_inline int set_reclaims(bool reclaims)
{
	struct icepath_task *task = worker_of(bpf_get_current_task_btf());
	if (task)
		task->reclaims = reclaims;
	return 0;
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_mm_vmscan_direct_reclaim_begin) { return set_reclaims(true); }
SEC("?tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_mm_vmscan_direct_reclaim_end) { return set_reclaims(false); }
SEC("?tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_mm_vmscan_memcg_reclaim_begin) { return set_reclaims(true); }
SEC("?tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_mm_vmscan_memcg_reclaim_end) { return set_reclaims(false); }

/* A fault from user mode has the whole entry's registers; a system call's hold its number instead. */
static __always_inline bool is_in_fault(struct icepath_task *task, struct task_struct *prev)
{
	struct pt_regs *registers = (struct pt_regs *)task->fault_registers;
	if (!registers)
		return false;
	if (prev->min_flt + prev->maj_flt == task->fault_count && PT_REGS_IP_CORE(registers) == task->fault_ip)
		return true;
	task->fault_registers = 0; /* the fault is over */
	return false;
}

/* ICEPATH_FLAG_* of a thread that goes to sleep. */
static __always_inline __u16 sleeps_in(struct icepath_task *task, struct task_struct *prev)
{
	__u16 flags = is_in_fault(task, prev) ? ICEPATH_FLAG_IN_FAULT : 0;
	if (task->reclaims)
		flags |= ICEPATH_FLAG_IN_RECLAIM;
	if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
		flags |= ICEPATH_FLAG_IO_WAIT;
	return flags;
}

#endif
