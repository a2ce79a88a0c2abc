/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_RECORDS_H
#define ICEPATH_EBPF_RECORDS_H
/*
 * The one record layout, shared by the BPF programs and user space.
 *
 * Records go to *slots*: one slot for each CPU that runs a worker, and one more, the last, for every other CPU together. What is
 * recorded of a worker's CPU is recorded of any other, too, once a thread of a followed process runs there.
 * A slot is a header and an array of 64-byte records that user space maps. `seq` counts the records of a slot from 0
 * without a gap, so a missing one is seen, and `position` goes on counting when the slot is full, so that what was
 * dropped is known.
 *
 * A record is written once, at the end of what it tells (`end_ns`), and carries its beginning: folding halves the number
 * of records. Times are bpf_ktime_get_ns(), which is CLOCK_MONOTONIC. 0 in a time field means "did not happen".
 *
 * Append only: a new record type or field goes to the end of its list, and is wired in three places: here, in the
 * part of capture.bpf.c that writes it, and in profiler/decode/log.cc.
 */
#include "contexts.h"

#ifndef __VMLINUX_H__
#include <stdint.h>
#define ICEPATH_U8 uint8_t
#define ICEPATH_U16 uint16_t
#define ICEPATH_U32 uint32_t
#define ICEPATH_U64 uint64_t
#else
#define ICEPATH_U8 __u8
#define ICEPATH_U16 __u16
#define ICEPATH_U32 __u32
#define ICEPATH_U64 __u64
#endif

#define ICEPATH_RECORD_VERSION 1

enum icepath_record_type {
	ICEPATH_RECORD_NONE = 0,
	ICEPATH_RECORD_OFF_CPU = 1,    /* a worker thread was off its CPU; written when it is switched in */
	ICEPATH_RECORD_WAKE = 2,       /* a waking of a worker thread that ended no off-CPU period (spurious or early) */
	ICEPATH_RECORD_FOREIGN_RUN = 3, /* another task ran on a watched CPU; written when it is switched out */
	ICEPATH_RECORD_INTERRUPT = 4,  /* hard interrupt or softirq on a watched CPU; written at its exit */
	ICEPATH_RECORD_DATA_READY = 5, /* sk_data_ready on a socket of the run */
	ICEPATH_RECORD_DEVICE_QUEUE = 6, /* net_dev_queue of a packet of a socket of the run */
	ICEPATH_RECORD_TAKEN = 7,      /* skb_copy_datagram_iovec by a worker */
	ICEPATH_RECORD_MIGRATE = 8,    /* sched_migrate_task of a worker: that it moved is all that is told */
	ICEPATH_RECORD_UNSEEN = 9, /* switches of a worker between off.out_ns and end_ns were seen by no program */
	ICEPATH_RECORD_STILL_OFF = 10, /* written at the end of a block: a worker has been off its CPU since off.out_ns */
	ICEPATH_RECORD_ENQUEUED = 11, /* a message, or a part of it, is in the queue that its receiver takes it from */
	ICEPATH_RECORD_CALL = 12, /* a system call of a worker; written when it comes back */
	ICEPATH_RECORD_THREAD = 13, /* a thread of a followed process, before any other record of the block about it */
};

/* OFF_CPU: the switch-in itself was seen by no program; end_ns is an instant soon after it. */
#define ICEPATH_FLAG_IN_LATE 1u
/* OFF_CPU: the thread went to sleep within a page fault; within reclaim of memory; as one that waits for storage (in_iowait). */
#define ICEPATH_FLAG_IN_FAULT 2u
#define ICEPATH_FLAG_IN_RECLAIM 4u
#define ICEPATH_FLAG_IO_WAIT 8u
/* OFF_CPU, FOREIGN_RUN, on a worker's CPU: the CPU was idle when it was switched in, and no task that no program saw ran before. */
#define ICEPATH_FLAG_FROM_IDLE 16u
/* OFF_CPU: the CPU of the switch-in went idle although the thread was runnable already. */
#define ICEPATH_FLAG_WENT_IDLE 32u
/* INTERRUPT: a softirq that handled packets; `packets` and what stands beside it tell whose. */
#define ICEPATH_FLAG_PACKETS 64u
/* INTERRUPT: a softirq lost its CPU in the middle (PREEMPT_RT). What it did when it had it again is in the next records of its kind, with
 * the same tid, on this CPU. */
#define ICEPATH_FLAG_GOES_ON 128u
/* Which kind of probe wrote it: an icepath_tier, where a boundary has several candidates. */
#define ICEPATH_FLAG_TIER_SHIFT 8
#define ICEPATH_FLAG_TIER_MASK 0x0300u

enum icepath_tier {
	ICEPATH_TIER_TRACEPOINT = 0,
	ICEPATH_TIER_FENTRY = 1,
	ICEPATH_TIER_KPROBE = 2,
};

/* Why a thread went off its CPU. */
enum icepath_off_reason {
	ICEPATH_OFF_BLOCKED = 0, /* it went to sleep */
	ICEPATH_OFF_PREEMPTED = 1, /* sched_switch's preempt flag, or switched out while runnable */
};

/* What a system call is to a message that passes by it. */
enum icepath_call_kind {
	ICEPATH_CALL_OTHER = 0,
	ICEPATH_CALL_GIVE = 1, /* write, send and their like: puts bytes into `object` */
	ICEPATH_CALL_TAKE = 2, /* read, recv and their like: takes bytes out of `object` */
	ICEPATH_CALL_READINESS = 3, /* poll, select, epoll_wait: sleeps until something can be taken or given */
	ICEPATH_CALL_FUTEX_WAIT = 4, /* FUTEX_WAIT_BITSET and its like */
	ICEPATH_CALL_FUTEX_LOCK = 5, /* FUTEX_WAIT, FUTEX_LOCK_PI: `operation` tells them apart */
	ICEPATH_CALL_FUTEX_WAKE = 6,
	ICEPATH_CALL_GIVE_MESSAGES = 7, /* sendmmsg: GIVE whose `result` counts messages */
	ICEPATH_CALL_TAKE_MESSAGES = 8, /* recvmmsg: likewise */
};

/*
 * 64 bytes. `tid` is, by type: the thread that was off-CPU, woken or called, or that it names (OFF_CPU, WAKE, MIGRATE, CALL,
 * THREAD), the foreign task
 * (FOREIGN_RUN), the task that was current (INTERRUPT, DATA_READY, DEVICE_QUEUE, TAKEN, ENQUEUED). Thread ids are those of the
 * initial pid namespace.
 */
struct icepath_record {
	ICEPATH_U8 type; /* icepath_record_type */
	ICEPATH_U8 version; /* ICEPATH_RECORD_VERSION */
	ICEPATH_U8 bytes; /* 64 */
	ICEPATH_U8 context; /* icepath_context: of the waker (OFF_CPU, WAKE), else of the event */
	ICEPATH_U32 seq; /* counts this slot's records, from 0 in each block */
	ICEPATH_U32 tid;
	ICEPATH_U16 cpu; /* where the record was written */
	ICEPATH_U16 flags; /* ICEPATH_FLAG_* */
	ICEPATH_U64 end_ns; /* when what it tells ended */
	union {
		struct { /* OFF_CPU: end_ns is the switch-in, cpu is where. WAKE: end_ns is the wakeup */
			ICEPATH_U64 out_ns; /* switched out (WAKE: 0) */
			ICEPATH_U64 waking_ns; /* sched_waking, in the waker */
			ICEPATH_U64 wakeup_ns; /* sched_wakeup, runnable */
			ICEPATH_U32 waker_tid; /* current at sched_waking */
			ICEPATH_U32 ipi_after_ns; /* from waking_ns to the IPI's handler on this CPU; 0: none seen */
			ICEPATH_U32 idle_after_ns; /* from waking_ns to this CPU's leaving idle; 0: it was not idle */
			ICEPATH_U16 out_cpu;
			ICEPATH_U8 reason; /* icepath_off_reason */
			ICEPATH_U8 waker_vector; /* of the softirq that woke; of an interrupt its kind; of a task: icepath_waker */
		} off;
		struct { /* FOREIGN_RUN */
			ICEPATH_U64 in_ns;
			char comm[16];
			ICEPATH_U64 reserved;
		} run;
		struct { /* INTERRUPT */
			ICEPATH_U64 begin_ns;
			ICEPATH_U32 vector;
			ICEPATH_U8 kind; /* icepath_interrupt_kind */
			ICEPATH_U8 reserved[3];
			ICEPATH_U64 sockets[2]; /* keys of those of the run whose packets it handled; 0: none, or no second one */
			ICEPATH_U32 packets; /* of anybody's */
			ICEPATH_U32 run_packets; /* of them, those of `sockets` */
		} interrupt;
		struct { /* DATA_READY, DEVICE_QUEUE, TAKEN, ENQUEUED: instants */
			/*
			 * The run's key of the socket: icepath_socket.key; of a library's own socket, its name as in CALL. TAKEN, and ENQUEUED in
			 * what is no socket: 0.
			 */
			ICEPATH_U64 socket;
			ICEPATH_U64 reserved_too;
			ICEPATH_U32 stream_end; /* TCP: the sequence number after the last byte that is ready or queued */
			ICEPATH_U32 bytes; /* payload bytes of this packet or copy; 0 where it isn't told */
			ICEPATH_U8 has_stream_end;
			ICEPATH_U8 reserved[3];
			ICEPATH_U32
			woken_tid; /* ENQUEUED by who then wakes this thread: the one that sleeps for the message, or with it */
		} socket;
		struct { /* CALL: end_ns is sys_exit */
			ICEPATH_U64 begin_ns; /* sys_enter */
			/*
			 * What bytes go into or come out of (GIVE, TAKE): a name of the socket, of the pipe's inode, or of the file, the same
			 * in all records of a run. Of FUTEX_…: the word's address in its process. Else 0.
			 */
			ICEPATH_U64 object;
			ICEPATH_U64 result; /* as the kernel returned it: -errno where it failed */
			ICEPATH_U32 number; /* which call, by this machine's table */
			ICEPATH_U8 kind; /* icepath_call_kind */
			ICEPATH_U8 operation; /* FUTEX_…: FUTEX_CMD_MASK of what it was asked to do */
			ICEPATH_U8 reserved[2];
			ICEPATH_U64 reserved_too;
		} call;
		struct { /* THREAD */
			char comm[16];
			ICEPATH_U32 tgid;
			ICEPATH_U32 reserved[5];
		} thread;
		ICEPATH_U64 words[5];
	};
};

/* Head of a slot; one cache line. The records follow. */
struct icepath_slot {
	ICEPATH_U32 position; /* records begun; more than `capacity` means that the rest was dropped */
	ICEPATH_U32 capacity;
	ICEPATH_U32 reserved[14];
};

/*
 * How far a slot is filled, in a map of its own: one cache line a slot. Workers map it, to end a block before records are lost, and
 * nothing else of the capture: records have the names of other users' tasks. What a worker writes here changes when its blocks end.
 */
#define ICEPATH_FILL_STEP 64 /* records, between two updates */
struct icepath_fill {
	ICEPATH_U32 position;
	ICEPATH_U32 reserved[15];
};

/* Value of the task storage: what is known of a worker's thread that is off-CPU or about to be. */
struct icepath_task {
	ICEPATH_U64 out_ns, waking_ns, wakeup_ns;
	ICEPATH_U64 in_ns; /* last switched in; 0: not yet in this block */
	ICEPATH_U64 pipe_lock; /* address of the mutex of the pipe that it wrote to last */
	ICEPATH_U64 call_ns; /* the system call that it is in began; 0: none, or not seen */
	ICEPATH_U64 call_object;
	ICEPATH_U64 ipi_ns; /* begin of the interrupt in which the wakeup ran on the target CPU */
	ICEPATH_U64
	fault_registers; /* of the page fault that it had last: where they lie, and two of what they were; 0: it is over */
	ICEPATH_U64 fault_ip, fault_count;
	ICEPATH_U32 call_number;
	ICEPATH_U32 waker_tid;
	ICEPATH_U32 block; /* of a followed process's thread: in which this was last true */
	ICEPATH_U16 family; /* the followed process that it is of, and that its threads and children will be of; 0: none */
	ICEPATH_U16 out_cpu;
	ICEPATH_U8 reason, context, vector;
	ICEPATH_U8 in_block; /* 0: a worker of another cell, to this block a task like any other */
	ICEPATH_U8 call_kind;
	ICEPATH_U8 call_operation;
	ICEPATH_U8 reclaims; /* memory, now */
	ICEPATH_U8 reserved;
	ICEPATH_U16 off_flags; /* of the OFF_CPU to come */
	ICEPATH_U64 moved_ns; /* last, to another CPU's queue */
};

/* Value of a task's storage: the softirq that it was in the middle of as it lost its CPU, as its CPU's state had it. */
struct icepath_softirq {
	ICEPATH_U64 packet_sockets[2];
	ICEPATH_U32 packets, run_packets;
	ICEPATH_U32 block; /* in which that was */
	ICEPATH_U8 vector;
	ICEPATH_U8 is_on; /* 0: none */
	ICEPATH_U8 reserved[2];
};

/* Families that can be followed: numbers from 1 to one less. */
#define ICEPATH_FAMILIES 1024

/* Value of the socket storage: marks a socket as one of the run. */
struct icepath_socket {
	ICEPATH_U64 key; /* chosen by user space: cell number and side; never 0 */
};

/* The programs' own: what a CPU is in the middle of. Only programs on that CPU touch it. */
struct icepath_cpu_state {
	ICEPATH_U64 foreign_in_ns; /* a task without a worker's storage runs since */
	ICEPATH_U64 idle_exit_ns; /* left idle last */
	ICEPATH_U64 idle_enter_ns; /* went idle last */
	ICEPATH_U64 softirq_begin_ns;
	ICEPATH_U64 hardirq_begin_ns;
	ICEPATH_U32 hardirq_vector;
	ICEPATH_U8 hardirq_kind;
	ICEPATH_U8 in_hardirq, in_softirq;
	ICEPATH_U8 softirq_vector;
	ICEPATH_U32 foreign_tid; /* which task that is */
	ICEPATH_U8 foreign_from_idle; /* the task of foreign_in_ns came in on an idle CPU */
	ICEPATH_U8 watched; /* a thread of a followed process ran here in this block, or was moved here */
	ICEPATH_U64 packet_sockets[2]; /* these and the next: of the softirq at hand, as in its record */
	ICEPATH_U32 packets, run_packets;
} __attribute__((aligned(64)));

#ifdef __cplusplus
static_assert(sizeof(struct icepath_record) == 64, "a record is one cache line");
static_assert(sizeof(struct icepath_slot) == 64, "records are aligned to cache lines");
#else
_Static_assert(sizeof(struct icepath_record) == 64, "a record is one cache line");
_Static_assert(sizeof(struct icepath_slot) == 64, "records are aligned to cache lines");
#endif
#endif
