/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_CONTEXTS_H
#define ICEPATH_EBPF_CONTEXTS_H
/* The kernel's contexts, interrupts and wakers, as records and paths name them. Append only. */

/* The context that an event ran in: shows whether `current` acted or was only interrupted. */
enum icepath_context {
	ICEPATH_CONTEXT_TASK = 0,
	ICEPATH_CONTEXT_SOFTIRQ = 1,
	ICEPATH_CONTEXT_HARDIRQ = 2,
};

/* The kind of task that woke, if the context is a task's. */
enum icepath_waker {
	ICEPATH_WAKER_THREAD = 0,
	ICEPATH_WAKER_KERNEL_THREAD = 1, /* PF_KTHREAD: a kworker, ksoftirqd */
};

/* INTERRUPT: the kind, and so the meaning of `vector`. */
enum icepath_interrupt_kind {
	ICEPATH_INTERRUPT_SOFTIRQ = 0, /* vector: the softirq's number (NET_RX is 3) */
	ICEPATH_INTERRUPT_DEVICE = 1, /* vector: the irq number */
	ICEPATH_INTERRUPT_TIMER = 2, /* local APIC timer */
	ICEPATH_INTERRUPT_RESCHEDULE = 3,
	ICEPATH_INTERRUPT_CALL_FUNCTION = 4, /* of one CPU or of several */
	ICEPATH_INTERRUPT_IRQ_WORK = 5,
	ICEPATH_INTERRUPT_NMI = 6, /* one handler's run, without entry and exit; vector: 0 */
};

/* INTERRUPT: the kernel's timer that took longest in it, by its function. */
enum icepath_timer {
	ICEPATH_TIMER_NOT_TOLD = 0, /* none expired, or it isn't known which */
	ICEPATH_TIMER_TICK = 1, /* the scheduler's tick */
	ICEPATH_TIMER_WAKES = 2, /* ends a task's sleep */
	ICEPATH_TIMER_PACING = 3, /* TCP may send again */
	ICEPATH_TIMER_RESEND = 4, /* TCP's retransmission */
	ICEPATH_TIMER_DELAYED_ACK = 5, /* TCP's delayed acknowledgement */
	ICEPATH_TIMER_PROGRAM = 6, /* a program's: timerfd, setitimer(), timer_create() */
	ICEPATH_TIMER_PERF = 7, /* a perf event's */
	ICEPATH_TIMER_OTHER = 8,
};

#endif
