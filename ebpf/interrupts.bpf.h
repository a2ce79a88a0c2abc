/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_INTERRUPTS_BPF_H
#define ICEPATH_EBPF_INTERRUPTS_BPF_H
/*
 * Interrupts on watched CPUs, the packets that they handle, and the context of all other events. Part of capture.bpf.c.
 *
 * The interrupt and softirq probes keep the context per CPU. preempt_count has it too, but its symbol isn't in kallsyms
 * everywhere, and a program that names it doesn't load there.
 */

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
	forget_timers(state, ICEPATH_CONTEXT_HARDIRQ);
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
	if (!capturing)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	log_interrupt(cpu, begin_ns, now, state->hardirq_kind, state->hardirq_vector, ICEPATH_CONTEXT_HARDIRQ,
				  longest_timer(state, ICEPATH_CONTEXT_HARDIRQ, now));
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
	state->packets = 0;
	state->run_packets = 0;
	state->packet_sockets[0] = 0;
	state->packet_sockets[1] = 0;
	state->announced[ICEPATH_CONTEXT_SOFTIRQ] = 0;
	forget_timers(state, ICEPATH_CONTEXT_SOFTIRQ);
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
	if (!capturing || is_of_anothers_packets(state))
		return 0;
	struct icepath_record *record =
		begin_interrupt(cpu, begin_ns, bpf_ktime_get_ns(), ICEPATH_INTERRUPT_SOFTIRQ, vector, ICEPATH_CONTEXT_SOFTIRQ);
	if (!record)
		return 0;
	record->interrupt.timer = longest_timer(state, ICEPATH_CONTEXT_SOFTIRQ, record->end_ns);
	if (state->packets) {
		record->flags = ICEPATH_FLAG_PACKETS;
		record->interrupt.sockets[0] = state->packet_sockets[0];
		record->interrupt.sockets[1] = state->packet_sockets[1];
		record->interrupt.packets = state->packets;
		record->interrupt.run_packets = state->run_packets;
	}
	end_record(record);
	return 0;
}

/*
 * Finds whose packets a softirq handles: netif_receive_skb counts all of them, and tcp_probe (first in
 * tcp_rcv_established()) names the socket of those on an established connection. A packet for a socket that its owner
 * has locked waits for the owner (tcp_add_backlog()), so it is counted and not named. Datagrams name their socket where
 * they are announced (log_arrival()).
 */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(on_netif_receive_skb, struct sk_buff *skb)
{
	struct icepath_cpu_state *state = receiving();
	if (state)
		state->packets++;
	return 0;
}

SEC("?tp_btf/tcp_probe")
int BPF_PROG(on_tcp_probe, struct sock *sk)
{
	struct icepath_cpu_state *state = receiving();
	__u64 key = state ? key_of(sk) : 0;
	if (!key)
		return 0;
	count_own_packet(state, key);
	return 0;
}

/*
 * What a timer does, by its function. The first one is the tick's (capture/timer_functions.h): where its address isn't
 * known, none is, as the kernel hides them from users without rights.
 */
const volatile struct icepath_timer_function timer_functions[ICEPATH_TIMER_FUNCTIONS];

static __always_inline int note_timer(__u64 function)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state || !capturing || !timer_functions[0].address || !(state->in_hardirq || state->in_softirq))
		return 0;
	__u8 timer = ICEPATH_TIMER_OTHER;
	for (int i = 0; i < ICEPATH_TIMER_FUNCTIONS; i++)
		if (timer_functions[i].address == function) {
			timer = timer_functions[i].timer;
			break;
		}
	if (state->in_hardirq)
		begin_timer(state, ICEPATH_CONTEXT_HARDIRQ, timer, bpf_ktime_get_ns());
	else
		begin_timer(state, ICEPATH_CONTEXT_SOFTIRQ, timer, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_expire_entry, struct hrtimer *timer) { return note_timer((__u64)timer->function); }
SEC("?tp_btf/timer_expire_entry")
int BPF_PROG(on_timer_expire_entry, struct timer_list *timer) { return note_timer((__u64)timer->function); }

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
/* Sent to several CPUs at once, and handled in the same way: generic_smp_call_function_interrupt() handles both. */
SEC("?tp_btf/call_function_entry")
int BPF_PROG(on_call_function_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_CALL_FUNCTION, vector); }
SEC("?tp_btf/call_function_exit")
int BPF_PROG(on_call_function_exit, int vector) { return leave_hardirq(); }
SEC("?tp_btf/irq_work_entry")
int BPF_PROG(on_irq_work_entry, int vector) { return enter_hardirq(ICEPATH_INTERRUPT_IRQ_WORK, vector); }
SEC("?tp_btf/irq_work_exit")
int BPF_PROG(on_irq_work_exit, int vector) { return leave_hardirq(); }

/*
 * nmi_handle() reports each handler at its end, with its duration. An NMI can interrupt any program here, so this one
 * doesn't change the CPU's state.
 */
SEC("?tp_btf/nmi_handler")
int BPF_PROG(on_nmi_handler, void *handler, s64 delta_ns, int handled)
{
	if (!capturing || delta_ns <= 0)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	log_interrupt(bpf_get_smp_processor_id(), now - delta_ns, now, ICEPATH_INTERRUPT_NMI, 0, ICEPATH_CONTEXT_HARDIRQ,
				  0);
	return 0;
}

#endif
