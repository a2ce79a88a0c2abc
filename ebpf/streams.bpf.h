/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_STREAMS_BPF_H
#define ICEPATH_EBPF_STREAMS_BPF_H
/*
 * Where in its stream the bytes of a call end, so that a record that is lost makes no later one wrong. Part of
 * capture.bpf.c.
 *
 * TCP has numbers for this. Otherwise both ends are counted: a take by what its end has handed out since it was first
 * seen, a give by what its end has accepted, shifted into the numbers of the other end. The shift is known from the
 * length of the queue: what was given last ends where all that was taken ends, and then all that is queued. This is
 * wrong while a take is under way that isn't counted yet, so the queue must be unlocked, and several lengths in a row
 * must agree. A wrong one never agrees for long, and then another shift is adopted.
 */

struct stream {
	__u64 given, taken; /* bytes */
	__u64 shift; /* from `given` to the other end's numbers; valid once it has agreed */
	__u64 candidate; /* of the last length, agreed `agreeing` times in a row */
	__u32 agreeing;
	__u32 is_shifted;
};

#define SHIFTS_THAT_AGREE 8

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stream);
} socket_streams SEC(".maps");

/* Both ends of a pipe are one object, so they share this. By name. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct stream);
} pipe_streams SEC(".maps");

static __always_inline void agree(struct stream *stream, __u64 candidate)
{
	if (candidate != stream->candidate) {
		stream->candidate = candidate;
		stream->agreeing = 0;
	}
	if (stream->agreeing < SHIFTS_THAT_AGREE && ++stream->agreeing == SHIFTS_THAT_AGREE) {
		stream->shift = candidate;
		stream->is_shifted = 1;
	}
}

/* As CALL.position has it. */
static __always_inline __u64 position_of_give(struct stream *stream, __u64 bytes)
{
	__u64 given = __sync_fetch_and_add(&stream->given, bytes) + bytes;
	return stream->is_shifted ? given + stream->shift + 1 : 0;
}

static __always_inline __u64 position_of_take(struct stream *stream, __u64 bytes)
{
	return __sync_fetch_and_add(&stream->taken, bytes) + bytes + 1;
}

/* Linux 6.17 and newer count what a socket has queued; before that nothing does. */
struct unix_sock___counted {
	int inq_len;
} __attribute__((preserve_access_index));

static __always_inline bool is_locked(struct mutex *lock)
{
	/* With PREEMPT_RT it has no such word, and lengths are compared all the same. */
	return bpf_core_field_exists(lock->owner) && BPF_CORE_READ(lock, owner.counter);
}

static __always_inline __u8 kind_of_socket(struct sock *sk)
{
	const __u16 family = sk->__sk_common.skc_family, type = sk->sk_type;
	const bool is_unix = family == 1, is_internet = family == 2 || family == 10; /* include/linux/socket.h */
	if (type == 1) /* SOCK_STREAM */
		return is_unix                                         ? ICEPATH_OBJECT_UNIX_STREAM
			   : is_internet && sk->sk_protocol == IPPROTO_TCP ? ICEPATH_OBJECT_TCP
															   : ICEPATH_OBJECT_SOCKET;
	if (type == 2) /* SOCK_DGRAM */
		return is_unix                                         ? ICEPATH_OBJECT_UNIX_DATAGRAM
			   : is_internet && sk->sk_protocol == IPPROTO_UDP ? ICEPATH_OBJECT_UDP
															   : ICEPATH_OBJECT_SOCKET;
	return is_unix && type == 5 ? ICEPATH_OBJECT_UNIX_SEQPACKET : ICEPATH_OBJECT_SOCKET;
}

/* A watched task has put bytes into the queue of this socket, and is still in its call. */
static __always_inline void note_queued(struct icepath_task *task, struct sock *sk)
{
	if (sk->__sk_common.skc_family != 1 || sk->sk_type != 1 ||
		!bpf_core_field_exists(((struct unix_sock___counted *)sk)->inq_len))
		return;
	struct stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!stream || is_locked(&((struct unix_sock *)sk)->iolock))
		return;
	task->queued_end = stream->taken + BPF_CORE_READ((struct unix_sock___counted *)sk, inq_len) + 1;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(on_sock_send_length, struct sock *sk, int bytes, int flags)
{
	if (!capturing || bytes <= 0)
		return 0;
	struct icepath_task *task = worker_of(bpf_get_current_task_btf());
	struct stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, task ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!stream)
		return 0;
	const __u8 kind = kind_of_socket(sk);
	__u64 position = 0;
	if (kind == ICEPATH_OBJECT_UNIX_STREAM) {
		if (task && task->queued_end)
			agree(stream, task->queued_end - 1 - stream->given - bytes);
		position = position_of_give(stream, bytes);
	}
	if (!task || !task->call_ns)
		return 0;
	if (kind == ICEPATH_OBJECT_TCP) {
		struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
		if (tcp)
			position = 1ull + named_end(sk->__sk_common.skc_num, bpf_ntohs(sk->__sk_common.skc_dport), tcp->write_seq);
	}
	if (task->call_kind == ICEPATH_CALL_TRANSFER) { /* sendfile, splice: now its object is known */
		task->call_kind = ICEPATH_CALL_GIVE;
		task->call_object = use_socket(number_of(sk));
	}
	task->call_position = position;
	task->call_object_kind = kind;
	task->queued_end = 0;
	return 0;
}

#define MSG_PEEK 2
#define RCV_SHUTDOWN 1 /* include/net/sock.h */

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(on_sock_recv_length, struct sock *sk, int bytes, int flags)
{
	if (!capturing || bytes <= 0)
		return 0;
	struct icepath_task *task = worker_of(bpf_get_current_task_btf());
	if (flags & MSG_PEEK) {
		if (task && task->call_kind == ICEPATH_CALL_TAKE)
			task->call_kind = ICEPATH_CALL_OTHER;
		return 0;
	}
	struct stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, task ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!stream)
		return 0;
	const __u8 kind = kind_of_socket(sk);
	__u64 position = kind == ICEPATH_OBJECT_UNIX_STREAM ? position_of_take(stream, bytes) : 0;
	if (!task || !task->call_ns)
		return 0;
	if (kind == ICEPATH_OBJECT_TCP) {
		struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
		if (tcp) { /* the end of the connection counts as a byte (tcp_recvmsg_locked(), found_fin_ok) */
			const bool has_end = (sk->sk_shutdown & RCV_SHUTDOWN) && tcp->copied_seq == tcp->rcv_nxt;
			position = 1ull + named_end(bpf_ntohs(sk->__sk_common.skc_dport), sk->__sk_common.skc_num,
										tcp->copied_seq - has_end);
		}
	}
	task->call_position = position;
	task->call_object_kind = kind;
	return 0;
}

/* Pipes. */

static __always_inline bool is_pipe(__u8 object_kind)
{
	return object_kind == ICEPATH_OBJECT_PIPE || object_kind == ICEPATH_OBJECT_FIFO;
}

static __always_inline struct stream *stream_of_pipe(__u64 name)
{
	struct stream *stream = bpf_map_lookup_elem(&pipe_streams, &name);
	if (stream)
		return stream;
	const struct stream none = {};
	bpf_map_update_elem(&pipe_streams, &name, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&pipe_streams, &name);
}

#define PIPE_BUFFERS 16 /* PIPE_DEF_BUFFERS: others hold more only if somebody asked for it */

/* As a watched task begins to write: compares what the pipe holds with what was counted. */
static __always_inline void note_pipe(struct task_struct *task, __u32 fd, __u64 name)
{
	struct stream *stream = stream_of_pipe(name);
	struct file *file = stream && stream->agreeing < SHIFTS_THAT_AGREE ? file_of(task, fd) : NULL;
	if (!file)
		return;
	struct pipe_inode_info *pipe = BPF_CORE_READ(file, f_inode, i_pipe);
	__u32 head = BPF_CORE_READ(pipe, head), tail = BPF_CORE_READ(pipe, tail), size = BPF_CORE_READ(pipe, ring_size);
	struct pipe_buffer *buffers = BPF_CORE_READ(pipe, bufs);
	if (is_locked(&pipe->mutex) || head - tail > PIPE_BUFFERS || size > PIPE_BUFFERS)
		return;
	__u64 held = 0;
	for (__u32 i = 0; i < PIPE_BUFFERS; i++)
		if (tail + i != head && i < head - tail)
			held += BPF_CORE_READ(&buffers[(tail + i) & (size - 1)], len);
	agree(stream, stream->taken + held - stream->given);
}

/* A call of a watched task has moved bytes through a pipe. */
static __always_inline __u64 position_in_pipe(__u8 call_kind, __u64 name, __u64 bytes)
{
	struct stream *stream = stream_of_pipe(name);
	if (!stream)
		return 0;
	return call_kind == ICEPATH_CALL_GIVE ? position_of_give(stream, bytes) : position_of_take(stream, bytes);
}

#endif
