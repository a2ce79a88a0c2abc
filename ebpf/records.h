/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_RECORDS_H
#define ICEPATH_EBPF_RECORDS_H
/*
 * The record layout, shared by the BPF programs and user space.
 *
 * Records go to *slots*: one for each CPU that runs a worker, and a last one for all other CPUs together. These are
 * recorded like a worker's CPU once a thread of a followed process runs there. A slot is a header and an array of
 * 64-byte records that user space maps. `seq` counts a slot's records from 0 without gaps, so a missing one is noticed.
 * `position` goes on counting when the slot is full, so the number of dropped records is known.
 *
 * A record is written once, when what it describes has ended (`end_ns`), and has the begin as well: this halves the
 * number of records. Times are bpf_ktime_get_ns(), which is CLOCK_MONOTONIC. 0 in a time field means "did not happen".
 *
 * Append only: a new record type or field goes to the end of its list. Wire it in four places: here, in the part of
 * capture.bpf.c that writes it, in profiler/decode/log.cc, and in profiler/rundir/type_table.cc.
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
	ICEPATH_RECORD_OFF_CPU = 1, /* a worker thread was off its CPU; written at its switch-in */
	ICEPATH_RECORD_WAKE = 2,       /* a waking of a worker thread that ended no off-CPU period (spurious or early) */
	ICEPATH_RECORD_FOREIGN_RUN = 3, /* another task ran on a watched CPU; written at its switch-out */
	ICEPATH_RECORD_INTERRUPT = 4,  /* hard interrupt or softirq on a watched CPU; written at its exit */
	ICEPATH_RECORD_DATA_READY = 5, /* sk_data_ready on a socket of the run */
	ICEPATH_RECORD_DEVICE_QUEUE = 6, /* net_dev_queue of a packet of a socket of the run */
	/* a worker took out bytes or a message: skb_copy_datagram_iovec, __skb_recv_udp, store_msg */
	ICEPATH_RECORD_TAKEN = 7,
	ICEPATH_RECORD_MIGRATE = 8, /* sched_migrate_task of a worker; its target isn't recorded */
	ICEPATH_RECORD_UNSEEN = 9, /* no program saw the switches of a worker between off.out_ns and end_ns */
	ICEPATH_RECORD_STILL_OFF = 10, /* written at the end of a block: a worker has been off its CPU since off.out_ns */
	ICEPATH_RECORD_ENQUEUED = 11, /* a message, or a part of it, is in its receiver's queue */
	ICEPATH_RECORD_CALL = 12, /* a system call of a worker; written at its return */
	ICEPATH_RECORD_THREAD = 13, /* a thread of a followed process; precedes the block's other records of it */
	ICEPATH_RECORD_SAMPLE = 14, /* the sampling timer expired while a worker had the CPU; in sampled blocks only */
	/* In sampled blocks only, of some periods; the OFF_CPU record of the same tid and time has the period itself. */
	ICEPATH_RECORD_SLEEP_STACK = 15, /* the stack with which a worker went to sleep, at off.out_ns */
	ICEPATH_RECORD_WAKER_STACK = 16, /* the stack of the task that woke it, at off.waking_ns */
	ICEPATH_RECORD_LOSS = 17, /* of rings: records of this CPU were dropped between loss.begin_ns and end_ns */
};

/* OFF_CPU: no program saw the switch-in itself; end_ns is an instant shortly after it. */
#define ICEPATH_FLAG_IN_LATE 1u
/* OFF_CPU: the thread went to sleep in a page fault; in memory reclaim; waiting for storage (in_iowait). */
#define ICEPATH_FLAG_IN_FAULT 2u
#define ICEPATH_FLAG_IN_RECLAIM 4u
#define ICEPATH_FLAG_IO_WAIT 8u
/* OFF_CPU, FOREIGN_RUN, on a worker's CPU: the CPU was idle until the switch-in, and no unseen task ran before. */
#define ICEPATH_FLAG_FROM_IDLE 16u
/* OFF_CPU: the CPU of the switch-in went idle although the thread was already runnable. */
#define ICEPATH_FLAG_WENT_IDLE 32u
/* INTERRUPT: a softirq that handled packets; `packets`, `run_packets` and `sockets` show whose. */
#define ICEPATH_FLAG_PACKETS 64u
/*
 * INTERRUPT: a softirq lost its CPU (PREEMPT_RT). What it did afterwards is in the next records of its kind and tid on
 * this CPU.
 */
#define ICEPATH_FLAG_GOES_ON 128u
/* The kind of probe that wrote the record, an icepath_tier, where a boundary has several candidates. */
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

/* What a system call does for a message that passes through it. */
enum icepath_call_kind {
	ICEPATH_CALL_OTHER = 0,
	ICEPATH_CALL_GIVE = 1, /* write, send and the like: puts bytes into `object` */
	ICEPATH_CALL_TAKE = 2, /* read, recv and the like: takes bytes out of `object` */
	ICEPATH_CALL_READINESS = 3, /* poll, select, epoll_wait: sleeps until something can be taken or given */
	ICEPATH_CALL_FUTEX_WAIT = 4, /* FUTEX_WAIT_BITSET and the like */
	ICEPATH_CALL_FUTEX_LOCK = 5, /* FUTEX_WAIT, FUTEX_LOCK_PI; `operation` distinguishes them */
	ICEPATH_CALL_FUTEX_WAKE = 6,
	ICEPATH_CALL_GIVE_MESSAGES = 7, /* sendmmsg: GIVE whose `result` counts messages */
	ICEPATH_CALL_TAKE_MESSAGES = 8, /* recvmmsg: the same for TAKE */
	ICEPATH_CALL_TRANSFER = 9, /* sendfile, splice: in a record GIVE if a socket took the bytes, else OTHER */
	/*
	 * Where programs that were already running are watched: begins of connections. Of a UNIX stream that was accepted,
	 * `object` is the accepting end, and `position` the name of the other one; of a socket pair, its first and second.
	 */
	ICEPATH_CALL_CONNECT = 10,
	ICEPATH_CALL_ACCEPT = 11,
	ICEPATH_CALL_PAIR = 12,
};

/* What an object is, where it is known. */
enum icepath_object_kind {
	ICEPATH_OBJECT_UNKNOWN = 0,
	ICEPATH_OBJECT_UNIX_STREAM = 1,
	ICEPATH_OBJECT_TCP = 2,
	ICEPATH_OBJECT_PIPE = 3,
	ICEPATH_OBJECT_FIFO = 4, /* a named pipe */
	ICEPATH_OBJECT_UNIX_DATAGRAM = 5,
	ICEPATH_OBJECT_UNIX_SEQPACKET = 6,
	ICEPATH_OBJECT_UDP = 7,
	ICEPATH_OBJECT_SOCKET = 8, /* of another kind */
	ICEPATH_OBJECT_QUEUE = 9, /* a POSIX message queue */
	ICEPATH_OBJECT_ANONYMOUS = 10, /* an eventfd, or another file without a name */
};

/*
 * 64 bytes. `tid` depends on the type. It is the thread that was off-CPU, woken, moved, calling or named (OFF_CPU,
 * WAKE, MIGRATE, CALL, THREAD, SLEEP_STACK, WAKER_STACK), the foreign task (FOREIGN_RUN), or the current task
 * (INTERRUPT, DATA_READY, DEVICE_QUEUE, TAKEN, ENQUEUED, SAMPLE). Thread ids are those of the initial pid namespace.
 */
struct icepath_record {
	ICEPATH_U8 type; /* icepath_record_type */
	ICEPATH_U8 version; /* ICEPATH_RECORD_VERSION */
	ICEPATH_U8 bytes; /* 64 */
	ICEPATH_U8 context; /* icepath_context: of the waker (OFF_CPU, WAKE), or of the event */
	ICEPATH_U32 seq; /* number of the record in its slot, from 0 in each block */
	ICEPATH_U32 tid;
	ICEPATH_U16 cpu; /* where the record was written */
	ICEPATH_U16 flags; /* ICEPATH_FLAG_* */
	ICEPATH_U64 end_ns; /* end of what it describes */
	union {
		struct { /* OFF_CPU: end_ns is the switch-in, on cpu. WAKE: end_ns is the wakeup */
			ICEPATH_U64 out_ns; /* switched out (WAKE: 0) */
			ICEPATH_U64 waking_ns; /* sched_waking, in the waker */
			ICEPATH_U64 wakeup_ns; /* sched_wakeup: runnable */
			ICEPATH_U32 waker_tid; /* current at sched_waking */
			ICEPATH_U32 ipi_after_ns; /* from waking_ns to the IPI's handler on this CPU; 0: none seen */
			ICEPATH_U32 idle_after_ns; /* from waking_ns to this CPU's idle exit; 0: it was not idle */
			ICEPATH_U16 out_cpu;
			ICEPATH_U8 reason; /* icepath_off_reason */
			ICEPATH_U8 waker_vector; /* of the waking softirq; for an interrupt its kind; for a task an icepath_waker */
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
			ICEPATH_U8 timer; /* icepath_timer */
			ICEPATH_U8 reserved[2];
			ICEPATH_U64 sockets[2]; /* keys of the run's sockets whose packets it handled; 0: none, or no second one */
			ICEPATH_U32 packets; /* all packets */
			ICEPATH_U32 run_packets; /* the packets of `sockets` among them */
		} interrupt;
		struct { /* DATA_READY, DEVICE_QUEUE, TAKEN, ENQUEUED: instants */
			/*
			 * The run's key of the socket, icepath_socket.key; for a library's own socket, its name as in CALL. 0 in
			 * TAKEN, and in ENQUEUED outside sockets.
			 */
			ICEPATH_U64 socket;
			ICEPATH_U64 reserved_too;
			/*
			 * TCP: where in the stream the last ready or queued byte ends, modulo 2^32. Both ends of a connection have
			 * the same for the same byte. It begins anywhere: the sequence number itself doesn't leave the kernel.
			 */
			ICEPATH_U32 stream_end;
			ICEPATH_U32 bytes; /* payload bytes of this packet or copy; 0: not known */
			ICEPATH_U8 has_stream_end;
			ICEPATH_U8 reserved[3];
			ICEPATH_U32
			woken_tid; /* ENQUEUED: the thread that the writer wakes next, asleep for the message or in its send */
		} socket;
		struct { /* CALL: end_ns is sys_exit */
			ICEPATH_U64 begin_ns; /* sys_enter */
			/*
			 * GIVE, TAKE: a name for the socket, pipe, message queue or eventfd that bytes go into or come out of,
			 * which no other one has, even if it gets the first one's address or descriptor (objects.bpf.h). FUTEX_…: a
			 * name for this word of this process. Otherwise 0.
			 */
			ICEPATH_U64 object;
			ICEPATH_U64 result; /* GIVE, TAKE: as the kernel returned it. Others: 0, or -errno for a failure */
			ICEPATH_U32 number; /* the call, by this machine's table */
			ICEPATH_U8 kind; /* icepath_call_kind */
			ICEPATH_U8 operation; /* FUTEX_…: the operation (FUTEX_CMD_MASK) */
			ICEPATH_U8 object_kind; /* icepath_object_kind; of a socket only if the call moved something */
			ICEPATH_U8 reserved[1];
			/*
			 * GIVE, TAKE, of a stream: where the bytes of this call end in the stream of its direction, counted from an
			 * origin that both ends share, plus 1. 0: not known.
			 */
			ICEPATH_U64 position;
		} call;
		struct { /* THREAD */
			char comm[16];
			ICEPATH_U32 tgid;
			ICEPATH_U32 reserved;
			ICEPATH_U64 start_ns; /* when it was started: with its number it names one thread for ever */
			ICEPATH_U64 reserved_too;
		} thread;
		struct { /* LOSS */
			ICEPATH_U64 begin_ns; /* end_ns of the first one */
			ICEPATH_U64 count;
			ICEPATH_U64 reserved[3];
		} loss;
		/* SAMPLE: end_ns is in the handler of its interrupt. SLEEP_STACK, WAKER_STACK: it is the event's */
		struct {
			ICEPATH_U64 planned_ns; /* when the timer was to expire; 0: this kernel doesn't tell programs */
			ICEPATH_U64 user_address; /* of the interrupted instruction, in user mode; 0 in a stored run */
			ICEPATH_U32 tgid; /* the process whose stack it is; 0: no user-mode part */
			/* Number of its icepath_stack + 1, in a stored run of its model::Window::stacks; 0: there was no room. */
			ICEPATH_U32 stack;
			ICEPATH_U64 reserved[2];
		} sample;
		ICEPATH_U64 words[5];
	};
};

/*
 * Head of a slot, one cache line. The records follow.
 *
 * Where programs that were already running are watched, a slot is a ring: the record with the number n is in place n
 * modulo `capacity`, a power of 2, and user space takes records while others are written. It may take one once its
 * `seq` is its number, which is written last (before that it is the number's complement). Those that it has taken, as
 * icepath_taken shows, make room.
 */
struct icepath_slot {
	ICEPATH_U32 position; /* records begun; in a slot that isn't a ring, those beyond `capacity` were dropped */
	ICEPATH_U32 capacity;
	ICEPATH_U32 reserved[14];
};

/*
 * How many of a ring's records user space has taken; written by it. A wrong number loses only its writer's records: it
 * is no index.
 */
struct icepath_taken {
	ICEPATH_U32 position;
	ICEPATH_U32 reserved[15];
};

/* Programs that nest, and CPUs that share the last ring, may begin so many records after a look at its room. */
#define ICEPATH_RING_MARGIN 64

/*
 * How far a slot is filled, in a map of its own, one cache line for each slot. Workers map this, to end a block before
 * records are lost, and nothing else of the capture: records contain names of other users' tasks. A worker that writes
 * here changes only when its blocks end.
 */
#define ICEPATH_FILL_STEP 64 /* records between two updates */
struct icepath_fill {
	ICEPATH_U32 position;
	ICEPATH_U32 reserved[15];
};

/* What the programs write, as user space sets it before a block. 0: nothing. */
enum icepath_capturing {
	ICEPATH_CAPTURING = 1,
	ICEPATH_CAPTURING_STACKS = 2, /* stacks of some switches and wakings as well */
};
#define ICEPATH_EVENT_STACK_ONE_IN 8 /* switches, and wakings */

/*
 * The kernel's part of a stack, the innermost address first. Only the root helper sees it: it gives icepath functions'
 * names instead (profiler/capture/named_stacks.h).
 */
#define ICEPATH_STACK_DEPTH 127 /* of the kernel: PERF_MAX_STACK_DEPTH */
/* The part of a stack that icepath is given. */
enum icepath_stack_part {
	ICEPATH_STACK_WHOLE = 0,
	ICEPATH_STACK_FROM_INTERRUPT = 1, /* if an interrupt is on it, what that did, else all */
	ICEPATH_STACK_OF_INTERRUPT = 2, /* if an interrupt is on it, what that did, else nothing */
};
struct icepath_stack {
	ICEPATH_U32 depth; /* 0: user code was interrupted, or the stack couldn't be read */
	ICEPATH_U32 part; /* icepath_stack_part */
	ICEPATH_U64 addresses[ICEPATH_STACK_DEPTH];
};

/* Task storage of a worker's thread: what is known of its current or next off-CPU period. */
struct icepath_task {
	ICEPATH_U64 out_ns, waking_ns, wakeup_ns;
	ICEPATH_U64 in_ns; /* last switch-in; 0: none in this block yet */
	ICEPATH_U64 pipe_lock; /* address of the mutex of the pipe that it writes to */
	ICEPATH_U64 pipe_writes; /* how many writes it had made before that one */
	ICEPATH_U64 call_ns; /* begin of the current system call; 0: none, or not seen */
	ICEPATH_U64 call_object;
	ICEPATH_U64 ipi_ns; /* begin of the interrupt in which the wakeup ran on the target CPU */
	/*
	 * Of the last page fault: the address of its registers (0: it is over), and, as it began, the instruction pointer
	 * and the thread's number of faults.
	 */
	ICEPATH_U64 fault_registers;
	ICEPATH_U64 fault_ip, fault_count;
	ICEPATH_U32 call_number;
	ICEPATH_U32 waker_tid;
	ICEPATH_U32 block; /* of a followed process's thread: the block to which the state belongs */
	ICEPATH_U16 family; /* the followed process that it and its clones belong to; 0: none */
	ICEPATH_U16 out_cpu;
	ICEPATH_U8 reason, context, vector;
	ICEPATH_U8 in_block; /* 0: a worker of another cell, which this block treats like any other task */
	ICEPATH_U8 call_kind;
	ICEPATH_U8 call_operation;
	ICEPATH_U8 reclaims; /* in memory reclaim now */
	ICEPATH_U16 off_flags; /* of its next OFF_CPU record */
	ICEPATH_U64 moved_ns; /* last move to another CPU's queue */
	/* Of the current call, as its record has it; and in a stream's give 1 + where the queue ended (streams.bpf.h). */
	ICEPATH_U64 call_position, queued_end;
	ICEPATH_U64 queued_taken; /* what the other end had handed out by then */
	ICEPATH_U8 call_object_kind;
	ICEPATH_U8 is_untold; /* its name had no room in a ring */
	ICEPATH_U64 compared_cred; /* of a target's family: the credentials that its rights were compared with last */
};

/* Timers that expired in an interrupt: the present one, and which took longest before it. */
struct icepath_expired {
	ICEPATH_U64 since_ns; /* 0: none yet */
	ICEPATH_U64 longest_ns;
	ICEPATH_U8 timer, longest; /* icepath_timer */
	ICEPATH_U8 reserved[6];
};

/* Task storage of a softirq that lost its CPU: the CPU's state of it. */
struct icepath_softirq {
	ICEPATH_U64 packet_sockets[2];
	ICEPATH_U32 packets, run_packets;
	ICEPATH_U32 block; /* to which the state belongs */
	ICEPATH_U8 vector;
	ICEPATH_U8 is_on; /* 0: none */
	ICEPATH_U8 reserved[2];
	struct icepath_expired expired;
};

/* Numbers of followed families go from 1 to this minus 1. */
#define ICEPATH_FAMILIES 1024

/* The kernel's functions by which timers are told, at most. */
#define ICEPATH_TIMER_FUNCTIONS 16

struct icepath_timer_function {
	ICEPATH_U64 address; /* 0: not in this kernel */
	ICEPATH_U8 timer; /* icepath_timer */
	ICEPATH_U8 reserved[7];
};

/* Most programs that one capture attaches to. A power of 2. */
#define ICEPATH_TARGETS 64

/* What a program that was running might do when it was named. */
struct icepath_rights {
	ICEPATH_U32 users[4], groups[4]; /* real, effective, saved, of files */
	ICEPATH_U64 capabilities; /* permitted, in the initial user namespace */
};

/* Socket storage: marks a socket of the run. */
struct icepath_socket {
	ICEPATH_U64 key; /* chosen by user space: cell number and side; never 0 */
};

/* The programs' own state of a CPU. Only programs on that CPU use it. */
struct icepath_cpu_state {
	ICEPATH_U64 foreign_in_ns; /* since when a task without a worker's storage has been running */
	ICEPATH_U64 idle_exit_ns; /* last idle exit */
	ICEPATH_U64 idle_enter_ns; /* last idle entry */
	ICEPATH_U64 softirq_begin_ns;
	ICEPATH_U64 hardirq_begin_ns;
	ICEPATH_U32 hardirq_vector;
	ICEPATH_U8 hardirq_kind;
	ICEPATH_U8 in_hardirq, in_softirq;
	ICEPATH_U8 softirq_vector;
	ICEPATH_U32 foreign_tid; /* the task of foreign_in_ns */
	ICEPATH_U8 foreign_from_idle; /* the CPU was idle as that task came in */
	ICEPATH_U8 watched; /* a thread of a followed process ran here in this block, or was moved here */
	ICEPATH_U64 packet_sockets[2]; /* of the current softirq, as in its record; so are the next two */
	ICEPATH_U32 packets, run_packets;
	ICEPATH_U64 lost_since_ns; /* of a ring: end_ns of the first record that no LOSS counts yet */
	ICEPATH_U32 lost;
	ICEPATH_U8 announced[4]; /* by context: on_sk_data_ready has run, and what follows it hasn't */
	struct icepath_expired expired[3]; /* by context: in the current softirq or hard interrupt */
} __attribute__((aligned(64)));

#ifdef __cplusplus
static_assert(sizeof(struct icepath_record) == 64, "a record is one cache line");
static_assert(sizeof(struct icepath_slot) == 64, "records are aligned to cache lines");
#else
_Static_assert(sizeof(struct icepath_record) == 64, "a record is one cache line");
_Static_assert(sizeof(struct icepath_slot) == 64, "records are aligned to cache lines");
#endif
#endif
