/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_QUEUES_BPF_H
#define ICEPATH_EBPF_QUEUES_BPF_H
/*
 * When a message enters its receiver's queue and when it is taken out, for which there are no tracepoints. Part of
 * capture.bpf.c.
 *
 * Each boundary is a kernel function called there, probed as fentry or fexit and as kprobe or kretprobe. Functions that
 * put a message into a queue are probed at entry, so that no receiver is faster than the record. Functions without a
 * socket argument are attributed to the calling worker, whose stamps show the call.
 */

static __always_inline int log_enqueued(enum icepath_tier tier)
{
	if (by_worker())
		log_socket(ICEPATH_RECORD_ENQUEUED, tier, 0, 0, false, 0);
	return 0;
}

/*
 * UNIX sockets: the function then locks the peer's receive queue and inserts. Streams don't call it since 6.17
 * (unix_stream_sendmsg()).
 */
static __always_inline int log_queue_tail(enum icepath_tier tier, __u64 queue)
{
	if (!by_worker())
		return 0;
	__u64 sk = queue - bpf_core_field_offset(struct sock, sk_receive_queue);
	__u16 family = 0; /* the queue may be in another structure, whose bytes could be taken for a cookie or a number */
	bpf_probe_read_kernel(&family, sizeof(family),
						  (void *)(sk + bpf_core_field_offset(struct sock, __sk_common.skc_family)));
	const bool is_socket = family == 1 /* AF_UNIX */ && (__u64)BPF_CORE_READ((struct sock *)sk, sk_socket, sk) == sk;
	__u64 key = is_socket ? key_at(sk) : 0;
	if (key)
		log_socket(ICEPATH_RECORD_ENQUEUED, tier, key, 0, false, 0);
	return 0;
}

SEC("?fentry/skb_queue_tail")
int BPF_PROG(fentry_skb_queue_tail, struct sk_buff_head *queue)
{
	return log_queue_tail(ICEPATH_TIER_FENTRY, (__u64)queue);
}

SEC("?kprobe/skb_queue_tail")
int BPF_KPROBE(kprobe_skb_queue_tail, struct sk_buff_head *queue)
{
	return log_queue_tail(ICEPATH_TIER_KPROBE, (__u64)queue);
}

/* TCP: a segment that continues the stream. Its socket stays locked until it has been announced. */
static __always_inline int log_segment(enum icepath_tier tier, __u64 key, struct sock *sk, struct sk_buff *skb)
{
	__u32 end = 0;
	if (key && !bpf_probe_read_kernel(&end, sizeof(end),
									  (void *)((__u64)skb + bpf_core_field_offset(struct sk_buff, cb) +
											   bpf_core_field_offset(struct tcp_skb_cb, end_seq))))
		log_socket(ICEPATH_RECORD_ENQUEUED, tier, key, 0, true, arrived_end(sk, end));
	return 0;
}

SEC("?fentry/tcp_queue_rcv")
int BPF_PROG(fentry_tcp_queue_rcv, struct sock *sk, struct sk_buff *skb)
{
	return capturing ? log_segment(ICEPATH_TIER_FENTRY, key_of(sk), sk, skb) : 0;
}

SEC("?kprobe/tcp_queue_rcv")
int BPF_KPROBE(kprobe_tcp_queue_rcv, struct sock *sk, struct sk_buff *skb)
{
	return capturing ? log_segment(ICEPATH_TIER_KPROBE, key_at((__u64)sk), sk, skb) : 0;
}

/* UDP: a datagram was taken out of its socket's queue. */
SEC("?fexit/__skb_recv_udp")
int BPF_PROG(fexit_skb_recv_udp, struct sock *sk, unsigned int flags, int *off, int *err, struct sk_buff *skb)
{
	return skb ? log_taken(ICEPATH_TIER_FENTRY, 0) : 0;
}

SEC("?kretprobe/__skb_recv_udp")
int BPF_KRETPROBE(kretprobe_skb_recv_udp, struct sk_buff *skb) { return skb ? log_taken(ICEPATH_TIER_KPROBE, 0) : 0; }

/*
 * Pipes: pipe_write() holds the pipe's mutex until all bytes are in, and wakes after that. If the pipe is full, it
 * releases the mutex to wait for room. The functions that copy the bytes (lib/iov_iter.c) can't be probed everywhere,
 * so the unlocking marks the end.
 *
 * Until the writing call ends, its file keeps the pipe. Then the kernel counts the call (inc_syscw() in vfs_write()),
 * and the mutex's address means nothing any more: another one may be there.
 */
static __always_inline __u64 writes_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.syscw) ? BPF_CORE_READ(task, ioac.syscw) : 0;
}

static __always_inline int remember_pipe(struct kiocb *iocb)
{
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct icepath_task *task = capturing ? worker_of(current_task) : NULL;
	if (!task)
		return 0;
	task->pipe_lock =
		(__u64)BPF_CORE_READ(iocb, ki_filp, private_data) + bpf_core_field_offset(struct pipe_inode_info, mutex);
	task->pipe_writes = writes_of(current_task);
	return 0;
}

SEC("?fentry/pipe_write")
int BPF_PROG(fentry_pipe_write, struct kiocb *iocb) { return remember_pipe(iocb); }
SEC("?fentry/anon_pipe_write") /* its name since 6.16 */
int BPF_PROG(fentry_anon_pipe_write, struct kiocb *iocb) { return remember_pipe(iocb); }
SEC("?kprobe/pipe_write")
int BPF_KPROBE(kprobe_pipe_write, struct kiocb *iocb) { return remember_pipe(iocb); }
SEC("?kprobe/anon_pipe_write")
int BPF_KPROBE(kprobe_anon_pipe_write, struct kiocb *iocb) { return remember_pipe(iocb); }

static __always_inline int log_unlock(enum icepath_tier tier, __u64 lock)
{
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct icepath_task *task = capturing ? worker_of(current_task) : NULL;
	if (task && task->pipe_lock == lock && task->pipe_writes == writes_of(current_task))
		log_socket(ICEPATH_RECORD_ENQUEUED, tier, 0, 0, false, 0);
	return 0;
}

SEC("?fentry/mutex_unlock")
int BPF_PROG(fentry_mutex_unlock, struct mutex *lock) { return log_unlock(ICEPATH_TIER_FENTRY, (__u64)lock); }
SEC("?kprobe/mutex_unlock")
int BPF_KPROBE(kprobe_mutex_unlock, struct mutex *lock) { return log_unlock(ICEPATH_TIER_KPROBE, (__u64)lock); }

/*
 * POSIX message queues, under the queue's lock: a message enters the queue, or is handed to a sleeping worker a few
 * instructions after that worker's state was set (__pipelined_op()). A receiver that makes room in a full queue also
 * inserts the sleeping sender's message (pipelined_receive()); the sender's waking, a few instructions later, shows
 * whose message that is.
 */
static __always_inline int log_handed_over(enum icepath_tier tier, struct task_struct *sleeper)
{
	if (by_worker())
		log_socket_waking(ICEPATH_RECORD_ENQUEUED, tier, 0, 0, false, 0, BPF_CORE_READ(sleeper, pid));
	return 0;
}

SEC("?fentry/msg_insert")
int BPF_PROG(fentry_msg_insert) { return log_enqueued(ICEPATH_TIER_FENTRY); }

SEC("?kprobe/msg_insert")
int BPF_KPROBE(kprobe_msg_insert) { return log_enqueued(ICEPATH_TIER_KPROBE); }

SEC("?fentry/wake_q_add_safe")
int BPF_PROG(fentry_wake_q_add_safe, struct wake_q_head *queue, struct task_struct *sleeper)
{
	return capturing && worker_of(sleeper) ? log_handed_over(ICEPATH_TIER_FENTRY, sleeper) : 0;
}

/* A kprobe can't look up whether that is a worker. Futexes and locks call this function, too. */
SEC("?kprobe/wake_q_add_safe")
int BPF_KPROBE(kprobe_wake_q_add_safe, struct wake_q_head *queue, struct task_struct *sleeper)
{
	return log_handed_over(ICEPATH_TIER_KPROBE, sleeper);
}

/* Message queues: taken out of the queue, before the copy to the receiver. */
SEC("?fentry/store_msg")
int BPF_PROG(fentry_store_msg, void *to, struct msg_msg *message, size_t bytes)
{
	return log_taken(ICEPATH_TIER_FENTRY, bytes);
}

SEC("?kprobe/store_msg")
int BPF_KPROBE(kprobe_store_msg, void *to, struct msg_msg *message, size_t bytes)
{
	return log_taken(ICEPATH_TIER_KPROBE, bytes);
}

#endif
