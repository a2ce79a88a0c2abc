/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SOCKETS_BPF_H
#define ICEPATH_EBPF_SOCKETS_BPF_H
/* What sockets of the run announce, queue and hand out. Part of capture.bpf.c. */

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

#endif
