// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The capture: what happens to the run's workers, on their CPUs and on their sockets, folded into the records of
 * records.h.
 *
 * How an off-CPU period becomes one record: sched_waking and sched_wakeup of a worker only fill its task storage, and
 * sched_switch writes the record when the worker is switched in. The storage is cleared there and nowhere else, because a
 * waking may come before the switch-out that it ends: the waker finds the task still on its CPU and queues it
 * (try_to_wake_up(), ttwu_queue_wakelist()). A waking whose wakeup had come as well before the switch-out ended no period:
 * it is written as WAKE, so that every waking of a worker is in the log once.
 *
 * How the context of a waking is known: the interrupt and softirq probes keep it per CPU. preempt_count would say the
 * same, but its symbol isn't in kallsyms everywhere, and a program that names it doesn't load there.
 *
 * All programs are tp_btf: direct calls without the per-CPU bpf_prog_active guard of perf tracepoints, which drops a
 * program that an interrupt nests in another one. A program that nests in itself is still skipped; the kernel counts that
 * (recursion_misses), and user space reports it as loss.
 *
 * A kernel may also run no program at all while certain tasks are current (seen in a sandbox that hides its own agent):
 * a worker that follows such a task is switched in unseen, because sched_switch runs as the task that leaves. The end of
 * __schedule() runs as the one that comes (sched_exit_tp, since 6.16): there such a period is written, with a flag. Where
 * even that is missing, the programs watch their own state: a worker that is switched out twice, or in twice, is logged
 * as UNSEEN with the time in between, which is then lost.
 */
#include "vmlinux.h" /* first: all others name its types */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_CPUS 1024

/* Set before loading. */
const volatile __u32 slot_capacity = 1;
const volatile __u32 slot_count = 1; /* the last slot is that of the CPUs without a worker */
const volatile __u8 slot_of_cpu[MAX_CPUS];

/* Written by user space while programs are attached: 0 outside a block. */
__u32 capturing = 0;

struct icepath_cpu_state cpu_states[MAX_CPUS];

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct icepath_task);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct icepath_socket);
} sockets SEC(".maps");

/* value_size and max_entries are set before loading: a slot is its header and slot_capacity records. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4096);
} slots SEC(".maps");

static __always_inline struct icepath_task *worker_of(struct task_struct *task)
{
	struct icepath_task *worker = bpf_task_storage_get(&workers, task, 0, 0);
	return worker && worker->in_block ? worker : NULL;
}

static __always_inline struct icepath_cpu_state *this_cpu(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return *cpu < MAX_CPUS ? &cpu_states[*cpu] : NULL;
}

static __always_inline bool is_worker_cpu(__u32 cpu) { return cpu < MAX_CPUS && slot_of_cpu[cpu] + 1 < slot_count; }

static __always_inline __u8 context_of(const struct icepath_cpu_state *state)
{
	return state->in_hardirq   ? ICEPATH_CONTEXT_HARDIRQ
		   : state->in_softirq ? ICEPATH_CONTEXT_SOFTIRQ
							   : ICEPATH_CONTEXT_TASK;
}

/* The next record of this CPU's slot with its header filled, or NULL where the slot is full. */
static __always_inline struct icepath_record *begin_record(__u32 cpu, __u8 type, __u8 context, __u32 tid, __u64 end_ns)
{
	__u32 slot_index = cpu < MAX_CPUS ? slot_of_cpu[cpu] : slot_count - 1;
	struct icepath_slot *slot = bpf_map_lookup_elem(&slots, &slot_index);
	if (!slot)
		return NULL;
	/* Atomic: an interrupt may log in the middle of it, and the last slot is shared between CPUs. */
	__u32 position = __sync_fetch_and_add(&slot->position, 1);
	if (position >= slot_capacity)
		return NULL;
	struct icepath_record *record = (struct icepath_record *)(slot + 1) + position;
	record->type = type;
	record->version = ICEPATH_RECORD_VERSION;
	record->bytes = sizeof(*record);
	record->context = context;
	record->seq = position;
	record->tid = tid;
	record->cpu = cpu;
	record->flags = 0;
	record->end_ns = end_ns;
	return record;
}

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
}

/* ---- scheduling ---- */

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
	if (task->wakeup_ns && !task->out_ns) { /* a wake that found it running still: it ended no period, and is over */
		log_wake(cpu, wakee->pid, task, task->wakeup_ns);
		task->wakeup_ns = 0;
		task->ipi_ns = 0;
	} else if (task->waking_ns) { /* the first waking of a period counts; this one delivers nothing */
		log_wake(cpu, wakee->pid, &wake, now);
		return 0;
	}
	task->waker_tid = wake.waker_tid;
	task->context = wake.context;
	task->vector = wake.vector;
	task->waking_ns = now;
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
	/* A wakeup that was queued to its target CPU runs in the handler of the IPI (sched_ttwu_pending()). */
	if (state && state->in_hardirq && state->hardirq_kind == ICEPATH_INTERRUPT_CALL_FUNCTION)
		task->ipi_ns = state->hardirq_begin_ns;
	task->wakeup_ns = bpf_ktime_get_ns();
	return 0;
}

/* Between two events of a worker there must have been another one. */
static __always_inline void log_unseen(__u32 cpu, __u32 tid, __u64 begin_ns, __u64 now)
{
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_UNSEEN, ICEPATH_CONTEXT_TASK, tid, now);
	if (record)
		record->off.out_ns = begin_ns;
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
}

/* From the waking to an event after it, as records.h wants it; 0 where it came before or is too far to be told. */
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
	record->flags = flags;
	record->off.out_ns = task->out_ns;
	record->off.waking_ns = task->waking_ns;
	record->off.wakeup_ns = task->wakeup_ns;
	record->off.waker_tid = task->waker_tid;
	record->off.ipi_after_ns = after(task->ipi_ns, task->waking_ns);
	record->off.idle_after_ns = after(state->idle_exit_ns, task->waking_ns);
	record->off.out_cpu = task->out_cpu;
	record->off.reason = task->reason;
	record->off.waker_vector = task->vector;
}

static __always_inline void begin_period(struct icepath_task *task, __u64 now)
{
	task->out_ns = 0;
	task->waking_ns = 0;
	task->wakeup_ns = 0;
	task->ipi_ns = 0;
	task->in_ns = now;
}

static __always_inline void switched_in(struct icepath_task *task, struct task_struct *next, __u32 cpu,
										const struct icepath_cpu_state *state, __u64 now)
{
	if (task->out_ns)
		log_off_cpu(task, next->pid, cpu, state, now, 0);
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
	/* Two tests apart: clang would or the pointers, which the verifier refuses. */
	bool concerns_run = is_worker_cpu(cpu) || in;
	barrier_var(concerns_run);
	if (!out && !concerns_run)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	if (out) {
		/* Runnable without the preempt flag: sched_yield(), or woken between its going to sleep and __schedule(). */
		switched_out(out, prev, cpu, now, preempt || prev_state == 0);
	} else if (state->foreign_in_ns && prev->pid) {
		struct icepath_record *record =
			begin_record(cpu, ICEPATH_RECORD_FOREIGN_RUN, ICEPATH_CONTEXT_TASK, prev->pid, now);
		if (record) {
			record->run.in_ns = state->foreign_in_ns;
			__builtin_memcpy(record->run.comm, prev->comm, sizeof(record->run.comm));
			record->run.tgid = prev->tgid;
			record->run.reserved = 0;
		}
	}
	if (in)
		switched_in(in, next, cpu, state, now);
	state->foreign_in_ns = !in && next->pid && is_worker_cpu(cpu) ? now : 0;
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

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *moved)
{
	__u32 cpu;
	if (!capturing || !worker_of(moved))
		return 0;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	begin_record(cpu, ICEPATH_RECORD_MIGRATE, context_of(state), moved->pid, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/cpu_idle")
int BPF_PROG(on_cpu_idle, unsigned int idle_state, unsigned int cpu_id)
{
	__u32 cpu;
	if (!capturing)
		return 0;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (state && idle_state == 0xffffffffu) /* PWR_EVENT_EXIT */
		state->idle_exit_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- interrupts ---- */

static __always_inline void log_interrupt(__u32 cpu, __u64 begin_ns, __u64 now, __u8 kind, __u32 vector, __u8 context)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	/* On an idle CPU an interrupt delays nobody, unless it is long enough to delay a wakeup. */
	if (!begin_ns || !is_worker_cpu(cpu) || (!tid && now - begin_ns < 1000))
		return;
	struct icepath_record *record = begin_record(cpu, ICEPATH_RECORD_INTERRUPT, context, tid, now);
	if (!record)
		return;
	record->interrupt.begin_ns = begin_ns;
	record->interrupt.vector = vector;
	record->interrupt.kind = kind;
	record->words[2] = 0;
}

static __always_inline int enter_hardirq(__u8 kind, __u32 vector)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state || !capturing)
		return 0;
	state->hardirq_begin_ns = bpf_ktime_get_ns();
	state->hardirq_kind = kind;
	state->hardirq_vector = vector;
	state->in_hardirq = 1;
	return 0;
}

static __always_inline int leave_hardirq(void)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	__u64 begin_ns = state->hardirq_begin_ns;
	state->in_hardirq = 0;
	state->hardirq_begin_ns = 0;
	if (capturing)
		log_interrupt(cpu, begin_ns, bpf_ktime_get_ns(), state->hardirq_kind, state->hardirq_vector,
					  ICEPATH_CONTEXT_HARDIRQ);
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state || !capturing)
		return 0;
	state->softirq_begin_ns = bpf_ktime_get_ns();
	state->softirq_vector = vector;
	state->in_softirq = 1;
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return 0;
	__u64 begin_ns = state->softirq_begin_ns;
	state->in_softirq = 0;
	state->softirq_begin_ns = 0;
	if (capturing)
		log_interrupt(cpu, begin_ns, bpf_ktime_get_ns(), ICEPATH_INTERRUPT_SOFTIRQ, vector, ICEPATH_CONTEXT_SOFTIRQ);
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq) { return enter_hardirq(ICEPATH_INTERRUPT_DEVICE, irq); }
SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit, int irq) { return leave_hardirq(); }
SEC("?tp_btf/local_timer_entry")
int BPF_PROG(on_local_timer_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_TIMER, vector); }
SEC("?tp_btf/local_timer_exit")
int BPF_PROG(on_local_timer_exit, int vector) { return leave_hardirq(); }
SEC("?tp_btf/reschedule_entry")
int BPF_PROG(on_reschedule_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_RESCHEDULE, vector); }
SEC("?tp_btf/reschedule_exit")
int BPF_PROG(on_reschedule_exit, int vector) { return leave_hardirq(); }
SEC("?tp_btf/call_function_single_entry")
int BPF_PROG(on_call_function_single_entry, int vector)
{
	return enter_hardirq(ICEPATH_INTERRUPT_CALL_FUNCTION, vector);
}
SEC("?tp_btf/call_function_single_exit")
int BPF_PROG(on_call_function_single_exit, int vector) { return leave_hardirq(); }
/* Sent to several CPUs at once, handled alike: generic_smp_call_function_interrupt() is the handler of both. */
SEC("?tp_btf/call_function_entry")
int BPF_PROG(on_call_function_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_CALL_FUNCTION, vector); }
SEC("?tp_btf/call_function_exit")
int BPF_PROG(on_call_function_exit, int vector) { return leave_hardirq(); }
SEC("?tp_btf/irq_work_entry")
int BPF_PROG(on_irq_work_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_IRQ_WORK, vector); }
SEC("?tp_btf/irq_work_exit")
int BPF_PROG(on_irq_work_exit, int vector) { return leave_hardirq(); }

/*
 * nmi_handle() tells of each handler when it is over, with how long it took. An NMI comes in the middle of any program
 * here: this one leaves the state of the CPU alone.
 */
SEC("?tp_btf/nmi_handler")
int BPF_PROG(on_nmi_handler, void *handler, s64 delta_ns, int handled)
{
	if (!capturing || delta_ns <= 0)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	log_interrupt(bpf_get_smp_processor_id(), now - delta_ns, now, ICEPATH_INTERRUPT_NMI, 0, ICEPATH_CONTEXT_HARDIRQ);
	return 0;
}

/* ---- sockets ---- */

static __always_inline void log_socket(__u8 type, __u64 key, __u64 buffer, __u32 bytes, bool has_stream_end,
									   __u32 stream_end)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return;
	struct icepath_record *record =
		begin_record(cpu, type, context_of(state), (__u32)bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	if (!record)
		return;
	record->socket.socket = key;
	record->socket.buffer = buffer;
	record->socket.stream_end = stream_end;
	record->socket.bytes = bytes;
	record->words[3] = has_stream_end;
	record->words[4] = 0;
}

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(on_sk_data_ready, struct sock *sk)
{
	if (!capturing)
		return 0;
	struct icepath_socket *socket = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!socket)
		return 0;
	/* tcp_data_queue() advances rcv_nxt before it calls sk_data_ready: every byte before it is ready. */
	bool is_tcp = sk->sk_protocol == IPPROTO_TCP;
	log_socket(ICEPATH_RECORD_DATA_READY, socket->key, 0, 0, is_tcp,
			   is_tcp ? BPF_CORE_READ((struct tcp_sock *)sk, rcv_nxt) : 0);
	return 0;
}

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(on_net_dev_queue, struct sk_buff *skb)
{
	if (!capturing)
		return 0;
	struct sock *sk = skb->sk;
	if (!sk)
		return 0;
	struct icepath_socket *socket = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!socket)
		return 0;
	unsigned char *header = skb->head + skb->transport_header;
	__u32 before = header - skb->data; /* link and network headers */
	if (sk->sk_protocol == IPPROTO_TCP) {
		struct tcphdr tcp;
		if (bpf_probe_read_kernel(&tcp, sizeof(tcp), header))
			return 0;
		__u32 bytes = skb->len - before - tcp.doff * 4u;
		if (bytes) /* not a bare acknowledgement */
			log_socket(ICEPATH_RECORD_DEVICE_QUEUE, socket->key, (__u64)skb, bytes, true, bpf_ntohl(tcp.seq) + bytes);
	} else {
		log_socket(ICEPATH_RECORD_DEVICE_QUEUE, socket->key, (__u64)skb, skb->len - before - sizeof(struct udphdr),
				   false, 0);
	}
	return 0;
}

SEC("?tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(on_skb_copy_datagram_iovec, const struct sk_buff *skb, int bytes)
{
	if (!capturing || !worker_of(bpf_get_current_task_btf()))
		return 0;
	log_socket(ICEPATH_RECORD_TAKEN, 0, (__u64)skb, bytes, false, 0);
	return 0;
}
