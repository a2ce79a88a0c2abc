/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SOFTIRQS_BPF_H
#define ICEPATH_EBPF_SOFTIRQS_BPF_H
/*
 * Records of interrupts, and softirqs that lose their CPU. Part of capture.bpf.c, before scheduling.bpf.h, which sees
 * the switches.
 *
 * Under PREEMPT_RT a softirq runs in a task and loses its CPU with it, and since 6.18 a CPU may have two unfinished
 * ones. So a CPU's state of a softirq follows its task: sched_switch moves it into the task's storage and writes what
 * was done so far as an INTERRUPT that GOES_ON. On other kernels no switch finds a softirq, and this costs the test of
 * one byte.
 */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct icepath_softirq);
} softirqs SEC(".maps");

/* Softirqs that lost their CPU since the block began and haven't come back: mostly 0. */
__s64 softirqs_away = 0;

/* Its record, or NULL; the caller ends it. */
static __always_inline struct icepath_record *begin_interrupt(__u32 cpu, __u64 begin_ns, __u64 now, __u8 kind,
															  __u32 vector, __u8 context)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	/* On an idle CPU an interrupt delays nothing, unless it is long enough to delay a wakeup. */
	if (!begin_ns || !is_watched(cpu) || (!tid && now - begin_ns < 1000))
		return NULL;
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_INTERRUPT, context, tid, now);
	if (!record)
		return NULL;
	record->interrupt.begin_ns = begin_ns;
	record->interrupt.vector = vector;
	record->interrupt.kind = kind;
	return record;
}

static __always_inline void log_interrupt(__u32 cpu, __u64 begin_ns, __u64 now, __u8 kind, __u32 vector, __u8 context,
										  __u8 timer)
{
	struct icepath_record *record = begin_interrupt(cpu, begin_ns, now, kind, vector, context);
	if (!record)
		return;
	record->interrupt.timer = timer;
	end_record(record);
}

static __always_inline void forget_timers(struct icepath_cpu_state *state, __u8 context)
{
	struct icepath_expired *expired = &state->expired[context];
	expired->since_ns = 0;
	expired->longest_ns = 0;
	expired->longest = ICEPATH_TIMER_NOT_TOLD;
}

static __always_inline void begin_timer(struct icepath_cpu_state *state, __u8 context, __u8 timer, __u64 now)
{
	struct icepath_expired *expired = &state->expired[context];
	if (expired->since_ns && now - expired->since_ns >= expired->longest_ns) {
		expired->longest_ns = now - expired->since_ns;
		expired->longest = expired->timer;
	}
	expired->since_ns = now;
	expired->timer = timer;
}

/* An icepath_timer. The last one goes on until `now`. */
static __always_inline __u8 longest_timer(const struct icepath_cpu_state *state, __u8 context, __u64 now)
{
	const struct icepath_expired *expired = &state->expired[context];
	return expired->since_ns && now - expired->since_ns >= expired->longest_ns ? expired->timer : expired->longest;
}

#define NET_TX_SOFTIRQ 2 /* include/linux/interrupt.h */
#define NET_RX_SOFTIRQ 3

/*
 * Whether the current softirq tells when another user's socket sends: over the loopback device, a packet is received in
 * a softirq on top of the task that sends it. A user without root learns nothing of that, but for the run's own
 * packets.
 */
static __always_inline bool is_of_anothers_packets(const struct icepath_cpu_state *state)
{
	if (!compares_rights || state->run_packets ||
		(state->softirq_vector != NET_TX_SOFTIRQ && state->softirq_vector != NET_RX_SOFTIRQ))
		return false;
	struct task_struct *task = bpf_get_current_task_btf();
	return task->pid && !(task->flags & PF_KTHREAD) && BPF_CORE_READ(task, real_cred, uid.val) != user_id;
}

/* Called in sched_switch, as the task that leaves. */
static __always_inline void put_softirq_away(struct icepath_cpu_state *state, __u32 cpu, struct task_struct *prev,
											 __u64 now)
{
	if (!state->in_softirq)
		return;
	struct icepath_softirq *away = bpf_task_storage_get(&softirqs, prev, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct icepath_record *record = is_of_anothers_packets(state)
										? NULL
										: begin_interrupt(cpu, state->softirq_begin_ns, now, ICEPATH_INTERRUPT_SOFTIRQ,
														  state->softirq_vector, ICEPATH_CONTEXT_SOFTIRQ);
	if (record) {
		record->flags = ICEPATH_FLAG_GOES_ON;
		record->interrupt.timer = longest_timer(state, ICEPATH_CONTEXT_SOFTIRQ, now);
		end_record(record);
	}
	state->in_softirq = 0;
	state->softirq_begin_ns = 0;
	if (!away)
		return;
	away->packet_sockets[0] = state->packet_sockets[0];
	away->packet_sockets[1] = state->packet_sockets[1];
	away->packets = state->packets;
	away->run_packets = state->run_packets;
	away->vector = state->softirq_vector;
	away->expired = state->expired[ICEPATH_CONTEXT_SOFTIRQ];
	away->block = block;
	away->is_on = 1;
	__sync_fetch_and_add(&softirqs_away, 1);
}

static __always_inline void bring_softirq_back(struct icepath_cpu_state *state, struct task_struct *next, __u64 now)
{
	if (softirqs_away <= 0)
		return;
	struct icepath_softirq *away = bpf_task_storage_get(&softirqs, next, 0, 0);
	if (!away || !away->is_on || away->block != block)
		return;
	away->is_on = 0;
	__sync_fetch_and_add(&softirqs_away, -1);
	state->packet_sockets[0] = away->packet_sockets[0];
	state->packet_sockets[1] = away->packet_sockets[1];
	state->packets = away->packets;
	state->run_packets = away->run_packets;
	state->softirq_vector = away->vector;
	state->expired[ICEPATH_CONTEXT_SOFTIRQ] = away->expired;
	state->expired[ICEPATH_CONTEXT_SOFTIRQ].since_ns = away->expired.since_ns ? now : 0;
	state->softirq_begin_ns = now;
	state->in_softirq = 1;
}

#endif
