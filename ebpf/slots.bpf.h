/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SLOTS_BPF_H
#define ICEPATH_EBPF_SLOTS_BPF_H
/* The maps shared with user space, the state of each CPU, and the begin of a record. Part of capture.bpf.c. */

#define MAX_CPUS 1024
#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

/* Set before loading. */
const volatile __u32 slot_capacity = 1;
const volatile __u32 slot_count = 1; /* the last slot is for all CPUs without a worker */
const volatile __u8 slot_of_cpu[MAX_CPUS];

/* An icepath_capturing. Written by user space while programs are attached; 0 outside a block. */
__u32 capturing = 0;

/* Written likewise: the followed processes that belong to the block, and the block's unique number. */
__u8 family_in_block[ICEPATH_FAMILIES];
__u32 block = 0;

/* Set before loading: slots are rings, and slot_capacity is a power of 2. */
const volatile bool rings = false;

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

/*
 * The same by socket cookie (sock_gen_cookie(): never reused), for programs that have only a socket's address: kprobes
 * can't use its storage.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} keys_by_cookie SEC(".maps");

/* value_size and max_entries are set before loading. A slot is its header and slot_capacity records. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4096);
} slots SEC(".maps");

/* max_entries is set before loading, like that of the slots. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_fill);
} fills SEC(".maps");

/* For rings; max_entries likewise. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_taken);
} taken SEC(".maps");

/* Masked where it is used: the verifier of 6.1 forgets a comparison once clang has spilled the number to the stack. */
static __always_inline __u32 index_of(__u32 cpu)
{
	barrier_var(cpu);
	return cpu & (MAX_CPUS - 1);
}

static __always_inline struct icepath_cpu_state *this_cpu(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return *cpu < MAX_CPUS ? &cpu_states[index_of(*cpu)] : NULL;
}

/* Watched throughout the block; other CPUs are watched once a followed thread comes. */
static __always_inline bool is_worker_cpu(__u32 cpu)
{
	return cpu < MAX_CPUS && slot_of_cpu[index_of(cpu)] + 1 < slot_count;
}

/* Whether interrupts and other tasks on this CPU are recorded. */
static __always_inline bool is_watched(__u32 cpu)
{
	return is_worker_cpu(cpu) || (cpu < MAX_CPUS && cpu_states[index_of(cpu)].watched);
}

/* A worker is pinned, but a thread of a followed process may have any CPU. */
static __always_inline void watch(__u32 cpu)
{
	struct icepath_cpu_state *state = &cpu_states[index_of(cpu)];
	if (cpu < MAX_CPUS && !state->watched)
		state->watched = 1;
}

static __always_inline __u8 context_of(const struct icepath_cpu_state *state)
{
	return state->in_hardirq   ? ICEPATH_CONTEXT_HARDIRQ
		   : state->in_softirq ? ICEPATH_CONTEXT_SOFTIRQ
							   : ICEPATH_CONTEXT_TASK;
}

static __always_inline bool has_room(const struct icepath_slot *slot, __u32 slot_index)
{
	const struct icepath_taken *end = bpf_map_lookup_elem(&taken, &slot_index);
	return end && slot->position - end->position < slot_capacity - ICEPATH_RING_MARGIN;
}

static __always_inline struct icepath_record *record_at(struct icepath_slot *slot, __u32 position)
{
	return (struct icepath_record *)(slot + 1) + (rings ? position & (slot_capacity - 1) : position);
}

static __always_inline void fill_header(struct icepath_record *record, __u32 position, __u32 cpu, __u8 type,
										__u8 context, __u32 tid, __u64 end_ns)
{
	record->seq = ~position;
	barrier();
	record->type = type;
	record->version = ICEPATH_RECORD_VERSION;
	record->bytes = sizeof(*record);
	record->context = context;
	record->tid = tid;
	record->cpu = cpu;
	record->flags = 0;
	record->end_ns = end_ns;
	__builtin_memset(record->words, 0, sizeof(record->words)); /* the slot still has an earlier record */
}

/* The record is whole. Others may read it from now on. */
static __always_inline void end_record(struct icepath_record *record)
{
	__u32 position = ~record->seq;
	barrier();
#if defined(bpf_target_x86)
	*(volatile __u32 *)&record->seq = position; /* stores keep their order */
#else
	__sync_lock_test_and_set(&record->seq, position);
#endif
}

/* A ring has room again: says what this CPU has lost. */
static __noinline void log_loss(__u32 cpu, struct icepath_slot *slot)
{
	struct icepath_cpu_state *state = &cpu_states[index_of(cpu)];
	__u32 count = state->lost;
	__u64 since_ns = state->lost_since_ns; /* now: what nests may lose more */
	if (!slot || !count || __sync_val_compare_and_swap(&state->lost, count, 0) != count)
		return;
	__u32 position = __sync_fetch_and_add(&slot->position, 1);
	struct icepath_record *record = record_at(slot, position);
	fill_header(record, position, cpu, ICEPATH_RECORD_LOSS, ICEPATH_CONTEXT_TASK, 0, bpf_ktime_get_ns());
	record->loss.begin_ns = since_ns;
	record->loss.count = count;
	end_record(record);
}

/*
 * The next record of this CPU's slot with its header filled in, or NULL if the slot is full. The caller fills the rest
 * in and calls end_record().
 */
static __always_inline struct icepath_record *begin_record(__u32 cpu, __u8 type, __u8 context, __u32 tid, __u64 end_ns)
{
	__u32 slot_index = cpu < MAX_CPUS ? slot_of_cpu[index_of(cpu)] : slot_count - 1;
	struct icepath_slot *slot = bpf_map_lookup_elem(&slots, &slot_index);
	if (!slot)
		return NULL;
	if (rings) {
		struct icepath_cpu_state *state = &cpu_states[index_of(cpu)];
		if (!has_room(slot, slot_index)) {
			if (__sync_fetch_and_add(&state->lost, 1) == 0)
				state->lost_since_ns = end_ns;
			return NULL;
		}
		if (state->lost)
			log_loss(cpu, slot);
	}
	/* Atomic: an interrupt may log in between, and CPUs share the last slot. */
	__u32 position = __sync_fetch_and_add(&slot->position, 1);
	if (!rings && position % ICEPATH_FILL_STEP == 0) {
		struct icepath_fill *fill = bpf_map_lookup_elem(&fills, &slot_index);
		if (fill)
			fill->position = position;
	}
	if (!rings && position >= slot_capacity)
		return NULL;
	struct icepath_record *record = record_at(slot, position);
	fill_header(record, position, cpu, type, context, tid, end_ns);
	return record;
}

/*
 * Names a thread. Written again after an exec, which gives it another name: the latest one counts. Without a name its
 * records count as lost, so one that had no room is written as soon as there is.
 */
static __noinline void log_thread(struct icepath_task *thread, struct task_struct *task, __u64 now)
{
	struct icepath_record *record =
		begin_record(bpf_get_smp_processor_id(), ICEPATH_RECORD_THREAD, ICEPATH_CONTEXT_TASK, task->pid, now);
	thread->is_untold = rings && !record; /* of a ring that is full */
	if (!record)
		return;
	__builtin_memcpy(record->thread.comm, task->comm, sizeof(record->thread.comm));
	record->thread.tgid = task->tgid;
	record->thread.start_ns = task->start_time;
	end_record(record);
}

/* Names a thread whose name had no room, if there is some now: without, it would count as lost once more. */
static __noinline void log_thread_again(struct icepath_task *thread, struct task_struct *task)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 slot_index = cpu < MAX_CPUS ? slot_of_cpu[index_of(cpu)] : slot_count - 1;
	struct icepath_slot *slot = bpf_map_lookup_elem(&slots, &slot_index);
	if (slot && has_room(slot, slot_index))
		log_thread(thread, task, bpf_ktime_get_ns());
}

/* Resets a thread of a followed process at its first event in this block. */
static __noinline void begin_thread(struct icepath_task *thread, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 before = thread->block;
	/* Two CPUs may meet it at once, the waker's and its own: only one resets it. */
	if (before == block || __sync_val_compare_and_swap(&thread->block, before, block) != before)
		return;
	thread->out_ns = 0;
	thread->waking_ns = 0;
	thread->wakeup_ns = 0;
	thread->in_ns = 0;
	thread->call_ns = 0;
	thread->ipi_ns = 0;
	thread->fault_registers = 0;
	thread->reclaims = 0;
	thread->off_flags = 0;
	thread->moved_ns = 0;
	thread->pipe_lock = 0;
	/* it has had this CPU since before the block, so its switch-in wasn't seen */
	if (task == bpf_get_current_task_btf())
		watch(bpf_get_smp_processor_id());
	log_thread(thread, task, now);
}

/*
 * Whether a target's thread has rights that the target hadn't. Its mark is taken back then. Rights are compared where
 * they may have changed: new ones are in a new struct cred, and its address comes again only after an exec, which
 * compares as well (on_sched_process_exec).
 */
static __always_inline bool gained_rights(struct icepath_task *worker, struct task_struct *task)
{
	__u64 cred = (__u64)task->real_cred;
	if (worker->compared_cred == cred)
		return false;
	if (has_gained_rights(task, worker->family)) {
		__sync_fetch_and_add(&barred_tasks, 1);
		bpf_task_storage_delete(&workers, task);
		return true;
	}
	worker->compared_cred = cred;
	return false;
}

/* A thread that this block watches, or NULL. */
static __always_inline struct icepath_task *worker_of(struct task_struct *task)
{
	struct icepath_task *worker = bpf_task_storage_get(&workers, task, 0, 0);
	if (!worker)
		return NULL;
	if (compares_rights && must_not_be_watched(task))
		return NULL;
	if (target_count && gained_rights(worker, task))
		return NULL;
	bool follows = family_in_block[worker->family % ICEPATH_FAMILIES];
	if (follows && worker->block != block)
		begin_thread(worker, task);
	else if (follows && worker->is_untold)
		log_thread_again(worker, task);
	return follows || worker->in_block ? worker : NULL;
}

#endif
