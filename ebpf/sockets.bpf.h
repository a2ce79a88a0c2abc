/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SOCKETS_BPF_H
#define ICEPATH_EBPF_SOCKETS_BPF_H
/* What the run's sockets announce, queue and hand out. Part of capture.bpf.c. */

static __always_inline void log_socket_waking(__u8 type, enum icepath_tier tier, __u64 key, __u32 bytes,
											  bool has_stream_end, __u32 stream_end, __u32 woken_tid)
{
	__u32 cpu;
	struct icepath_cpu_state *state = this_cpu(&cpu);
	if (!state)
		return;
	struct icepath_record *record =
		begin_record(cpu, type, context_of(state), (__u32)bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	if (!record)
		return;
	record->flags = tier << ICEPATH_FLAG_TIER_SHIFT;
	record->socket.socket = key;
	record->socket.stream_end = stream_end;
	record->socket.bytes = bytes;
	record->socket.has_stream_end = has_stream_end;
	record->socket.woken_tid = woken_tid;
	end_record(record);
}

static __always_inline void log_socket(__u8 type, enum icepath_tier tier, __u64 key, __u32 bytes, bool has_stream_end,
									   __u32 stream_end)
{
	log_socket_waking(type, tier, key, bytes, has_stream_end, stream_end, 0);
}

/* The end of what a TCP socket has received, in the words of the socket that sent it. */
static __always_inline __u32 arrived_end(struct sock *sk, __u32 sequence)
{
	return named_end(bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)), BPF_CORE_READ(sk, __sk_common.skc_num),
					 sequence);
}

/* The CPU's state while it handles packets in a softirq, or NULL. */
static __always_inline struct icepath_cpu_state *receiving(void)
{
	__u32 cpu;
	struct icepath_cpu_state *state = capturing ? this_cpu(&cpu) : NULL;
	return state && state->in_softirq && !state->in_hardirq ? state : NULL;
}

/* Counts a packet of the run's socket with this key. */
static __always_inline void count_own_packet(struct icepath_cpu_state *state, __u64 key)
{
	__u64 *seen = state->packet_sockets;
	if (!seen[0] || seen[0] == key)
		seen[0] = key;
	else if (!seen[1] || seen[1] == key)
		seen[1] = key;
	else
		return; /* of a third socket: counts as foreign */
	state->run_packets++;
}

/* TCP's receive path advances rcv_nxt first (tcp_rcv_nxt_update()): every byte before it is in the queue. */
static __always_inline void log_arrival(enum icepath_tier tier, __u64 key, struct sock *sk)
{
	if (!key)
		return;
	bool is_tcp = BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP;
	struct icepath_cpu_state *state = is_tcp ? NULL : receiving(); /* tcp_probe counts TCP's */
	if (state)
		count_own_packet(state, key);
	log_socket(ICEPATH_RECORD_DATA_READY, tier, key, 0, is_tcp,
			   is_tcp ? arrived_end(sk, BPF_CORE_READ((struct tcp_sock *)sk, rcv_nxt)) : 0);
}

/*
 * A packet may come by an interrupt while on_sk_data_ready runs for another socket. The kernel then skips the inner
 * run. So a second program follows at the same tracepoint, which calls programs in the order in which they were
 * attached (func_add()), and does what the first was skipped for; a flag tells it that the first has run. Events of one
 * context don't nest, so each context of a CPU has a flag of its own. In a softirq that interrupted the first program
 * only the second runs. In one that interrupted the second only the first does, which leaves the flag set, so each
 * softirq begins without it (on_softirq_entry, on which this rests). None is lost: only a hard interrupt could come
 * while both programs run, and no socket of a run announces anything there.
 */
static __always_inline __u8 *announced(void)
{
	__u32 cpu;
	struct icepath_cpu_state *state = capturing ? this_cpu(&cpu) : NULL;
	return state ? &state->announced[context_of(state) & 3] : NULL;
}

static __always_inline void note_announced(struct sock *sk)
{
	struct icepath_task *task = target_count ? worker_of(bpf_get_current_task_btf()) : NULL;
	if (task && task->call_ns)
		note_queued(task, sk);
}

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(on_sk_data_ready, struct sock *sk)
{
	__u8 *done = announced();
	if (!done)
		return 0;
	note_announced(sk);
	log_arrival(ICEPATH_TIER_TRACEPOINT, key_of(sk), sk);
	*done = 1;
	return 0;
}

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(after_sk_data_ready, struct sock *sk)
{
	__u8 *done = announced();
	if (done && !*done)
		log_arrival(ICEPATH_TIER_TRACEPOINT, key_of(sk), sk);
	else if (done)
		*done = 0;
	return 0;
}

/* The default of sk->sk_data_ready (sock_init_data_uid()); the tracepoint is its first statement. */
SEC("?fentry/sock_def_readable")
int BPF_PROG(fentry_sock_def_readable, struct sock *sk)
{
	if (!capturing)
		return 0;
	note_announced(sk);
	log_arrival(ICEPATH_TIER_FENTRY, key_of(sk), sk);
	return 0;
}

SEC("?kprobe/sock_def_readable")
int BPF_KPROBE(kprobe_sock_def_readable, struct sock *sk)
{
	if (capturing)
		log_arrival(ICEPATH_TIER_KPROBE, key_at((__u64)sk), sk);
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
	__u64 key = key_of(sk);
	if (!key)
		return 0;
	unsigned char *header = skb->head + skb->transport_header;
	__u32 before = header - skb->data; /* link and network headers */
	if (sk->sk_protocol == IPPROTO_TCP) {
		struct tcphdr tcp;
		if (bpf_probe_read_kernel(&tcp, sizeof(tcp), header))
			return 0;
		__u32 bytes = skb->len - before - tcp.doff * 4u;
		if (bytes) /* not a bare acknowledgement */
			log_socket(ICEPATH_RECORD_DEVICE_QUEUE, ICEPATH_TIER_TRACEPOINT, key, bytes, true,
					   named_end(bpf_ntohs(tcp.source), bpf_ntohs(tcp.dest), bpf_ntohl(tcp.seq) + bytes));
	} else {
		log_socket(ICEPATH_RECORD_DEVICE_QUEUE, ICEPATH_TIER_TRACEPOINT, key, skb->len - before - sizeof(struct udphdr),
				   false, 0);
	}
	return 0;
}

static __always_inline bool by_worker(void) { return capturing && worker_of(bpf_get_current_task_btf()); }

static __always_inline int log_taken(enum icepath_tier tier, __u32 bytes)
{
	if (by_worker())
		log_socket(ICEPATH_RECORD_TAKEN, tier, 0, bytes, false, 0);
	return 0;
}

SEC("?tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(on_skb_copy_datagram_iovec, const struct sk_buff *skb, int bytes)
{
	return log_taken(ICEPATH_TIER_TRACEPOINT, bytes);
}

/* The tracepoint is its first statement. */
SEC("?fentry/skb_copy_datagram_iter")
int BPF_PROG(fentry_skb_copy_datagram_iter, const struct sk_buff *skb, int offset, struct iov_iter *to, int bytes)
{
	return log_taken(ICEPATH_TIER_FENTRY, bytes);
}

SEC("?kprobe/skb_copy_datagram_iter")
int BPF_KPROBE(kprobe_skb_copy_datagram_iter, const struct sk_buff *skb, int offset, struct iov_iter *to, int bytes)
{
	return log_taken(ICEPATH_TIER_KPROBE, bytes);
}

#endif
