/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SCHEDULING_BPF_H
#define ICEPATH_EBPF_SCHEDULING_BPF_H
/*
 * Workers that go to sleep, are woken and get a CPU, and the tasks that have it in the meantime. Part of capture.bpf.c.
 *
 * An off-CPU period becomes one record: sched_waking and sched_wakeup of a worker only fill its task storage, and
 * sched_switch writes the record at the worker's switch-in and clears the storage. The switch-out doesn't clear it,
 * because a waking may come before the switch-out of the period that it ends: the waker finds the task still on its CPU
 * and queues it (try_to_wake_up(), ttwu_queue_wakelist()). If the wakeup came before the switch-out as well, the waking
 * ended no period and is written as WAKE. So every waking of a worker is in the log once.
 *
 * A kernel may also run no program while certain tasks are current (seen in a sandbox that hides its own agent). A
 * worker that follows such a task is switched in unseen, because sched_switch runs as the task that leaves. The end of
 * __schedule() runs as the task that comes (sched_exit_tp, since 6.16): there the period is written, with a flag.
 * Without that tracepoint, the programs watch their own state: a worker that is switched out twice, or in twice, is
 * logged as UNSEEN, and the time in between is lost.
 */

static __always_inline void log_wake(__u32 cpu, __u32 tid, const struct icepath_task *task, __u64 end_ns)
{
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_WAKE, task->context, tid, end_ns);
	if (!record)
		return;
	record->off.out_ns = 0;
	record->off.waking_ns = task->waking_ns;
	record->off.wakeup_ns = task->wakeup_ns;
	record->off.waker_tid = task->waker_tid;
	record->off.ipi_after_ns = 0;
	record->off.idle_after_ns = 0;
	record->off.out_cpu = cpu;
	record->off.reason = 0;
	record->off.waker_vector = task->vector;
	end_record(record);
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *wakee)
{
	__u32 cpu;
	if (!capturing)
		return 0;
	struct icepath_task *task = worker_of(wakee);
	if (!task)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	struct icepath_task wake = {
		.waking_ns = now,
		.waker_tid = (__u32)bpf_get_current_pid_tgid(),
		.context = context_of(state),
	};
	if (wake.context == ICEPATH_CONTEXT_SOFTIRQ)
		wake.vector = state->softirq_vector;
	else if (wake.context == ICEPATH_CONTEXT_HARDIRQ)
		wake.vector = state->hardirq_kind;
	else if (bpf_get_current_task_btf()->flags & PF_KTHREAD)
		wake.vector = ICEPATH_WAKER_KERNEL_THREAD;
	if (task->wakeup_ns && !task->out_ns) { /* this wake found it still running: it ended no period, and is over */
		log_wake(cpu, wakee->pid, task, task->wakeup_ns);
		task->wakeup_ns = 0;
		task->ipi_ns = 0;
	} else if (task->waking_ns) { /* a period's first waking counts; this one delivers nothing */
		log_wake(cpu, wakee->pid, &wake, now);
		return 0;
	}
	/* A thread that is met only now has slept for an unknown time. Record what is known: from now on. */
	if (task->family && !task->in_ns && !task->out_ns && !BPF_CORE_READ(wakee, on_cpu)) {
		task->out_ns = now;
		task->out_cpu = cpu;
		task->reason = ICEPATH_OFF_BLOCKED;
	}
	task->waker_tid = wake.waker_tid;
	task->context = wake.context;
	task->vector = wake.vector;
	task->waking_ns = now;
	if (is_chosen())
		log_event_stack(ctx, ICEPATH_RECORD_WAKER_STACK, wakee->pid, now);
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *wakee)
{
	__u32 cpu;
	if (!capturing)
		return 0;
	struct icepath_task *task = worker_of(wakee);
	if (!task || task->wakeup_ns)
		return 0;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	/* A wakeup queued to its target CPU runs in the IPI's handler (sched_ttwu_pending()). */
	if (state && state->in_hardirq && state->hardirq_kind == ICEPATH_INTERRUPT_CALL_FUNCTION)
		task->ipi_ns = state->hardirq_begin_ns;
	task->wakeup_ns = bpf_ktime_get_ns();
	return 0;
}

/* No program saw what the worker did between these two events. */
static __always_inline void log_unseen(__u32 cpu, __u32 tid, __u64 begin_ns, __u64 now)
{
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_UNSEEN, ICEPATH_CONTEXT_TASK, tid, now);
	if (!record)
		return;
	record->off.out_ns = begin_ns;
	end_record(record);
}

static __always_inline void switched_out(struct icepath_task *task, struct task_struct *prev, __u32 cpu, __u64 now,
										 bool preempted)
{
	if (task->out_ns)
		log_unseen(cpu, prev->pid, task->out_ns, now);
	if (task->waking_ns && task->wakeup_ns) { /* woken before it slept: this wake ends no period */
		log_wake(cpu, prev->pid, task, task->wakeup_ns);
		task->waking_ns = 0;
		task->wakeup_ns = 0;
		task->ipi_ns = 0;
	}
	task->out_ns = now;
	task->out_cpu = cpu;
	task->reason = preempted ? ICEPATH_OFF_PREEMPTED : ICEPATH_OFF_BLOCKED;
	task->off_flags = preempted ? 0 : sleeps_in(task, prev);
}

/* Time from the waking to a later event, as records.h has it; 0 if the event came before or the time doesn't fit. */
static __always_inline __u32 after(__u64 event_ns, __u64 waking_ns)
{
	__u64 difference = event_ns - waking_ns;
	return waking_ns && event_ns > waking_ns && difference <= 0xffffffffu ? difference : 0;
}

static __always_inline void log_off_cpu(struct icepath_task *task, __u32 tid, __u32 cpu,
										const struct icepath_cpu_state *state, __u64 now, __u16 flags)
{
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_OFF_CPU, task->context, tid, now);
	if (!record)
		return;
	record->flags = flags | task->off_flags;
	record->off.out_ns = task->out_ns;
	record->off.waking_ns = task->waking_ns;
	record->off.wakeup_ns = task->wakeup_ns;
	record->off.waker_tid = task->waker_tid;
	record->off.ipi_after_ns = after(task->ipi_ns, task->waking_ns);
	record->off.idle_after_ns = after(state->idle_exit_ns, task->waking_ns);
	record->off.out_cpu = task->out_cpu;
	record->off.reason = task->reason;
	record->off.waker_vector = task->vector;
	end_record(record);
}

/*
 * A CPU goes idle if it has nothing to run. With a runnable thread, it does so only while that thread's control group
 * is throttled: a thread that becomes runnable makes the idle loop leave (TIF_NEED_RESCHED) and not start again. A
 * thread may come after the loop's last check but before cpu_idle reports the idle CPU: the bound covers these few
 * instructions.
 */
#define LONGEST_IDLE_ENTRY_NS 10000

static __always_inline __u16 idle_flags(const struct icepath_task *task, const struct icepath_cpu_state *state,
										bool from_idle)
{
	bool preempted = task->reason == ICEPATH_OFF_PREEMPTED;
	__u16 flags = from_idle ? ICEPATH_FLAG_FROM_IDLE : 0;
	__u64 came_ns = preempted ? 0 : task->wakeup_ns;
	if (task->moved_ns > came_ns)
		came_ns = task->moved_ns;
	if ((preempted || task->wakeup_ns) && state->idle_enter_ns > task->out_ns &&
		state->idle_enter_ns > came_ns + LONGEST_IDLE_ENTRY_NS)
		flags |= ICEPATH_FLAG_WENT_IDLE;
	return flags;
}

static __always_inline void begin_period(struct icepath_task *task, __u64 now)
{
	task->out_ns = 0;
	task->waking_ns = 0;
	task->wakeup_ns = 0;
	task->ipi_ns = 0;
	task->off_flags = 0;
	task->in_ns = now;
}

static __always_inline void switched_in(struct icepath_task *task, struct task_struct *next, __u32 cpu,
										const struct icepath_cpu_state *state, __u64 now, bool from_idle)
{
	if (task->out_ns)
		log_off_cpu(task, next->pid, cpu, state, now, idle_flags(task, state, from_idle));
	else if (task->in_ns)
		log_unseen(cpu, next->pid, task->in_ns, now);
	begin_period(task, now);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u32 cpu;
	if (!capturing)
		return 0;
	struct icepath_task *out = prev->pid ? worker_of(prev) : NULL;
	struct icepath_task *in = next->pid ? worker_of(next) : NULL;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	/* Separate tests: clang would combine the pointers by OR, which the verifier refuses. */
	bool is_of_run = out;
	barrier_var(is_of_run);
	if (is_of_run || in)
		watch(cpu);
	if (!is_watched(cpu) && !state->in_softirq && softirqs_away <= 0)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	put_softirq_away(state, cpu, prev, now);
	bring_softirq_back(state, next, now);
	/* A foreign task whose switch-out no program saw had the CPU for an unknown time. */
	bool from_idle = !prev->pid && !state->foreign_in_ns && is_worker_cpu(cpu);
	if (out) {
		/* Runnable without the preempt flag: sched_yield(), or woken between its going to sleep and __schedule(). */
		switched_out(out, prev, cpu, now, preempt || prev_state == 0);
		if (out->reason == ICEPATH_OFF_BLOCKED && is_chosen())
			log_event_stack(ctx, ICEPATH_RECORD_SLEEP_STACK, prev->pid, now);
	} else if (state->foreign_in_ns && prev->pid && state->foreign_tid == (__u32)prev->pid) {
		struct icepath_record *record =
			begin_record(cpu, ICEPATH_RECORD_FOREIGN_RUN, ICEPATH_CONTEXT_TASK, prev->pid, now);
		if (record) {
			record->flags = state->foreign_from_idle ? ICEPATH_FLAG_FROM_IDLE : 0;
			record->run.in_ns = state->foreign_in_ns;
			__builtin_memcpy(record->run.comm, prev->comm, sizeof(record->run.comm));
			end_record(record);
		}
	}
	if (in)
		switched_in(in, next, cpu, state, now, from_idle);
	state->foreign_from_idle = from_idle;
	state->foreign_in_ns = !in && next->pid && is_watched(cpu) ? now : 0;
	state->foreign_tid = next->pid;
	return 0;
}

SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(on_sched_exit, bool is_switch)
{
	__u32 cpu;
	if (!capturing || !is_switch)
		return 0;
	struct task_struct *current = bpf_get_current_task_btf();
	struct icepath_task *task = worker_of(current);
	if (!task || !task->out_ns)
		return 0;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	log_off_cpu(task, current->pid, cpu, state, now, ICEPATH_FLAG_IN_LATE);
	begin_period(task, now);
	return 0;
}

/* Runs in the cloning task (copy_process()). The child, thread or process, joins its family. */
SEC("?tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *child)
{
	struct icepath_task *parent = bpf_task_storage_get(&workers, bpf_get_current_task_btf(), 0, 0);
	if (!parent || !parent->family || (target_count && gained_rights(parent, bpf_get_current_task_btf())))
		return 0;
	struct icepath_task *task = bpf_task_storage_get(&workers, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (task)
		task->family = parent->family;
	if (must_not_be_watched(bpf_get_current_task_btf()))
		bar(child);
	return 0;
}

/* Attached from loading on if rights are compared, because a program may run and be gone between two blocks. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task)
{
	struct icepath_task *worker = bpf_task_storage_get(&workers, task, 0, 0);
	if (!worker)
		return 0;
	(void)must_not_be_watched(task);
	worker->compared_cred = 0;
	if (target_count && gained_rights(worker, task))
		return 0;
	if (capturing && worker_of(task))
		log_thread(worker, task, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *moved, int to)
{
	__u32 cpu;
	struct icepath_task *task = capturing ? worker_of(moved) : NULL;
	if (!task)
		return 0;
	task->moved_ns = bpf_ktime_get_ns();
	watch(to);
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	struct icepath_record *record =
		begin_record(cpu, ICEPATH_RECORD_MIGRATE, context_of(state), moved->pid, bpf_ktime_get_ns());
	if (record)
		end_record(record);
	return 0;
}

SEC("?tp_btf/cpu_idle")
int BPF_PROG(on_cpu_idle, unsigned int idle_state, unsigned int cpu_id)
{
	__u32 cpu;
	if (!capturing)
		return 0;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	if (idle_state == 0xffffffffu) /* PWR_EVENT_EXIT */
		state->idle_exit_ns = bpf_ktime_get_ns();
	else
		state->idle_enter_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
