/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_STREAMS_BPF_H
#define ICEPATH_EBPF_STREAMS_BPF_H
/*
 * Where in its stream the bytes of a call end, so that a record that is lost makes no later one wrong. Part of
 * capture.bpf.c.
 *
 * TCP has numbers for this. Otherwise both ends are counted: a take by what its end has handed out since it was first
 * seen, a give by what its end has accepted, shifted into the numbers of the other end (shift.h): what was given last
 * ends where all that was taken ends, and then all that is queued.
 */

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct icepath_stream);
} socket_streams SEC(".maps");

/* Both ends of a pipe are one object, so they share this. By name. One that had to leave begins anew. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct icepath_stream);
} pipe_streams SEC(".maps");

/* As CALL.position has it. */
static __always_inline __u64 position_of_give(struct icepath_stream *stream, __u64 bytes, __u32 giver, __u64 now)
{
	__u64 given = __sync_fetch_and_add(&stream->given, bytes) + bytes;
	stream->giver = giver;
	stream->gave_ns = now;
	return stream->is_shifted ? given + stream->shift + 1 : 0;
}

static __always_inline __u64 position_of_take(struct icepath_stream *stream, __u64 bytes)
{
	return __sync_fetch_and_add(&stream->taken, bytes) + bytes + 1;
}

static __always_inline bool is_locked(struct mutex *lock)
{
	/* With PREEMPT_RT it has no such word, and lengths are compared all the same. */
	return bpf_core_field_exists(lock->owner) && BPF_CORE_READ(lock, owner.counter);
}

/* Linux 6.17 and newer count what a UNIX socket has queued. */
struct unix_sock___counted {
	int inq_len;
} __attribute__((preserve_access_index));

#define QUEUED_BUFFERS 32 /* so many are added up at most */

/*
 * What a UNIX stream socket has queued, and whether that is known. Nobody stops others from giving and taking
 * meanwhile: then the sum is of no instant, as any look may be (shift.h).
 */
static __always_inline bool is_queued(struct sock *sk, __u64 *bytes)
{
	if (bpf_core_field_exists(((struct unix_sock___counted *)sk)->inq_len)) {
		*bytes = BPF_CORE_READ((struct unix_sock___counted *)sk, inq_len);
		return true;
	}
	const struct sk_buff *end = (const struct sk_buff *)&sk->sk_receive_queue;
	const struct sk_buff *first = BPF_CORE_READ(sk, sk_receive_queue.next), *buffer = first;
	*bytes = 0;
	for (int i = 0; i < QUEUED_BUFFERS && buffer != end; i++) {
		const struct unix_skb_parms *part = (const struct unix_skb_parms *)&buffer->cb;
		*bytes += BPF_CORE_READ(buffer, len) - BPF_CORE_READ(part, consumed);
		buffer = BPF_CORE_READ(buffer, next);
	}
	return buffer == end && BPF_CORE_READ(sk, sk_receive_queue.next) == first;
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
	if (sk->__sk_common.skc_family != 1 || sk->sk_type != 1)
		return;
	task->queued_end = 0; /* of what this call had queued before */
	struct icepath_stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!stream || is_locked(&((struct unix_sock *)sk)->iolock))
		return;
	/* In this order: what is taken meanwhile is missing in both then, and not in both. */
	const __u64 taken = *(volatile __u64 *)&stream->taken;
	__u64 queued = 0;
	if (!is_queued(sk, &queued) || is_locked(&((struct unix_sock *)sk)->iolock))
		return;
	task->queued_taken = taken;
	task->queued_end = taken + queued + 1;
}

/* Nothing was given or taken before what was counted. */
static __always_inline bool began_watched(struct sock *sk)
{
	__u64 number = number_of(sk);
	struct library_socket *seen = number ? bpf_map_lookup_elem(&library_sockets, &number) : NULL;
	return seen && seen->is_new;
}

/* Of a give by this task, or by one that isn't watched. */
static __always_inline __u64 position_in_socket(struct icepath_stream *stream, struct icepath_task *task,
												struct sock *sk, __u64 bytes)
{
	const __u32 giver = task ? (__u32)bpf_get_current_pid_tgid() : 0;
	const __u64 now = bpf_ktime_get_ns();
	const bool alone = was_alone(stream, giver, task ? task->call_ns : 0);
	const bool looked = task && task->queued_end;
	const __u64 candidate = looked ? task->queued_end - 1 - stream->given - bytes : 0;
	if (!stream->given && !stream->is_shifted && !candidate && began_watched(sk))
		set_shift(stream, 0, now);
	if (alone && looked)
		look(stream, candidate, task->queued_taken, now);
	return position_of_give(stream, bytes, giver, now);
}

/* Bytes were put into the stream of this socket, by whoever is current. */
static __noinline int note_given(struct sock *sk, int bytes)
{
	if (!capturing || bytes <= 0)
		return 0;
	struct icepath_task *task = worker_of(bpf_get_current_task_btf());
	struct icepath_stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, task ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!stream)
		return 0;
	const __u8 kind = kind_of_socket(sk);
	__u64 position = 0;
	if (kind == ICEPATH_OBJECT_UNIX_STREAM)
		position = position_in_socket(stream, task, sk, bytes);
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

SEC("?tp_btf/sock_send_length")
int BPF_PROG(on_sock_send_length, struct sock *sk, int bytes, int flags) { return note_given(sk, bytes); }

/* Before Linux 6.3. */
SEC("?fexit/unix_stream_sendmsg")
int BPF_PROG(fexit_unix_stream_sendmsg, struct socket *socket, struct msghdr *message, size_t size, int bytes)
{
	return note_given(socket->sk, bytes);
}

SEC("?fexit/tcp_sendmsg")
int BPF_PROG(fexit_tcp_sendmsg, struct sock *sk, struct msghdr *message, size_t size, int bytes)
{
	return note_given(sk, bytes);
}

/* What sendfile and splice call there. */
SEC("?fexit/unix_stream_sendpage")
int BPF_PROG(fexit_unix_stream_sendpage, struct socket *socket, struct page *page, int offset, size_t size, int flags,
			 long bytes)
{
	return note_given(socket->sk, bytes);
}

SEC("?fexit/tcp_sendpage")
int BPF_PROG(fexit_tcp_sendpage, struct sock *sk, struct page *page, int offset, size_t size, int flags, int bytes)
{
	return note_given(sk, bytes);
}

/* Bytes were handed out of the stream of this socket. */
static __noinline int note_taken(struct sock *sk, int bytes, int flags)
{
	if (!capturing || bytes <= 0)
		return 0;
	struct icepath_task *task = worker_of(bpf_get_current_task_btf());
	if (flags & MSG_PEEK) {
		if (task && task->call_kind == ICEPATH_CALL_TAKE)
			task->call_kind = ICEPATH_CALL_OTHER;
		return 0;
	}
	struct icepath_stream *stream = bpf_sk_storage_get(&socket_streams, sk, 0, task ? BPF_SK_STORAGE_GET_F_CREATE : 0);
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

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(on_sock_recv_length, struct sock *sk, int bytes, int flags) { return note_taken(sk, bytes, flags); }

SEC("?fexit/unix_stream_recvmsg")
int BPF_PROG(fexit_unix_stream_recvmsg, struct socket *socket, struct msghdr *message, size_t size, int flags,
			 int bytes)
{
	return note_taken(socket->sk, bytes, flags);
}

SEC("?fexit/tcp_recvmsg")
int BPF_PROG(fexit_tcp_recvmsg, struct sock *sk, struct msghdr *message, size_t size, int flags, int *address_size,
			 int bytes)
{
	return note_taken(sk, bytes, flags);
}

/* Pipes. */

static __always_inline bool is_pipe(__u8 object_kind)
{
	return object_kind == ICEPATH_OBJECT_PIPE || object_kind == ICEPATH_OBJECT_FIFO;
}

static __always_inline struct icepath_stream *stream_of_pipe(__u64 name)
{
	struct icepath_stream *stream = bpf_map_lookup_elem(&pipe_streams, &name);
	if (stream)
		return stream;
	/* Eight numbers for each ns, more than bytes pass: a pipe that had to leave this map has none of them twice. */
	const struct icepath_stream none = {.taken = bpf_ktime_get_ns() << 3};
	bpf_map_update_elem(&pipe_streams, &name, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&pipe_streams, &name);
}

#define PIPE_BUFFERS 16 /* PIPE_DEF_BUFFERS: others hold more only if somebody asked for it */

/* As a watched task begins to write: compares what the pipe holds with what was counted. */
static __always_inline void note_pipe(struct task_struct *task, __u32 fd, __u64 name)
{
	struct icepath_stream *stream = stream_of_pipe(name);
	struct file *file = stream && !stream->is_shifted ? file_of(task, fd) : NULL;
	if (!file)
		return;
	struct pipe_inode_info *pipe = BPF_CORE_READ(file, f_inode, i_pipe);
	const __u64 taken = *(volatile __u64 *)&stream->taken;
	__u32 head = BPF_CORE_READ(pipe, head), tail = BPF_CORE_READ(pipe, tail), size = BPF_CORE_READ(pipe, ring_size);
	struct pipe_buffer *buffers = BPF_CORE_READ(pipe, bufs);
	if (is_locked(&pipe->mutex) || head - tail > PIPE_BUFFERS || size > PIPE_BUFFERS)
		return;
	__u64 held = 0;
	for (__u32 i = 0; i < PIPE_BUFFERS; i++)
		if (tail + i != head && i < head - tail)
			held += BPF_CORE_READ(&buffers[(tail + i) & (size - 1)], len);
	const __u64 now = bpf_ktime_get_ns();
	look(stream, taken + held - stream->given, taken, now);
	stream->giver = task->pid;
	stream->gave_ns = now;
}

/* A call of a watched task has moved bytes through a pipe. */
static __always_inline __u64 position_in_pipe(__u8 call_kind, __u64 name, __u64 bytes, __u64 begin_ns, __u64 now)
{
	struct icepath_stream *stream = stream_of_pipe(name);
	if (!stream)
		return 0;
	if (call_kind != ICEPATH_CALL_GIVE)
		return position_of_take(stream, bytes);
	const __u32 giver = (__u32)bpf_get_current_pid_tgid();
	(void)was_alone(stream, giver, begin_ns);
	return position_of_give(stream, bytes, giver, now);
}

#endif
