/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_ATTACH_BPF_H
#define ICEPATH_EBPF_ATTACH_BPF_H
/*
 * Programs that were already running: their threads and descendants. Part of capture.bpf.c.
 *
 * User space marks each target's first thread, while task_newtask is attached. Then it runs mark_running until a pass
 * marks nobody. Who was started by a marked task has its mark from task_newtask; who was started before that task was
 * marked was in the kernel's list by then (copy_process() precedes the tracepoint), so the next pass finds it.
 */

/* Set before loading: icepath and its helper, which are never marked, and so aren't the processes that they start. */
const volatile __u32 own_tgids[2];

__u32 newly_marked = 0; /* user space sets it to 0 before a pass */

/* The mark of the task's process, or of the task that started it. */
static __always_inline struct icepath_task *mark_above(struct task_struct *task)
{
	struct icepath_task *mark = bpf_task_storage_get(&workers, task->group_leader, 0, 0);
	return mark ? mark : bpf_task_storage_get(&workers, task->real_parent, 0, 0);
}

SEC("?iter/task")
int mark_running(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	if (!task || (task->flags & PF_KTHREAD) || (__u32)task->tgid == own_tgids[0] || (__u32)task->tgid == own_tgids[1] ||
		bpf_task_storage_get(&workers, task, 0, 0))
		return 0;
	struct icepath_task *above = mark_above(task);
	if (!above || !above->family || has_gained_rights(task, above->family))
		return 0;
	struct icepath_task *mark = bpf_task_storage_get(&workers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!mark)
		return 0;
	mark->family = above->family;
	__sync_fetch_and_add(&newly_marked, 1);
	return 0;
}

#endif
