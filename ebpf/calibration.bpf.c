// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Watchpoints of `icepath calibrate`: where within a call the kernel changes the queue that a message passes. User
 * space (profiler/calibrate/watchpoints.h) opens the breakpoint for its own thread only, and never runs the capture at
 * the same time.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "watched.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Input of find_object, set by user space, and its result: the word's address and size; 0: not found. */
__u32 wanted_tgid, wanted_fd, wanted;
__u64 word_at;
__u32 word_bytes;

/* Instants of the hits, in order. `hit_count` also counts those that didn't fit. */
__u64 hit_ns[ICEPATH_MOST_HITS];
__u32 hit_count;

/* store_anchor writes this word `store_count` times, to measure what hits cost before and after their instants. */
__u64 anchor, anchor_at, before_ns, after_ns;
__u32 store_count;

SEC("iter/task_file")
int find_object(struct bpf_iter__task_file *context)
{
	struct file *file = context->file;
	struct task_struct *task = context->task;
	if (!file || !task || (__u32)task->tgid != wanted_tgid || context->fd != wanted_fd)
		return 0;
	void *data = BPF_CORE_READ(file, private_data);
	word_bytes = 8;
	switch (wanted) {
	case ICEPATH_WATCH_PIPE_LOCK: {
		struct pipe_inode_info *pipe = data;
		if (bpf_core_field_exists(pipe->mutex.owner)) /* not with PREEMPT_RT */
			word_at = (__u64)__builtin_preserve_access_index(&pipe->mutex.owner);
		break;
	}
	case ICEPATH_WATCH_EVENTFD_COUNT:
		if (bpf_core_type_exists(struct eventfd_ctx))
			word_at = (__u64)__builtin_preserve_access_index(&((struct eventfd_ctx *)data)->count);
		break;
	case ICEPATH_WATCH_MESSAGE_COUNT: {
		if (!bpf_core_type_exists(struct mqueue_inode_info))
			break;
		__u64 queue = (__u64)BPF_CORE_READ(file, f_inode) - bpf_core_field_offset(struct mqueue_inode_info, vfs_inode);
		word_at = queue + bpf_core_field_offset(struct mqueue_inode_info, attr) +
				  bpf_core_field_offset(struct mq_attr, mq_curmsgs);
		break;
	}
	case ICEPATH_WATCH_SOCKET_QUEUE:
		word_at = (__u64)BPF_CORE_READ((struct socket *)data, sk) +
				  bpf_core_field_offset(struct sock, sk_receive_queue) +
				  bpf_core_field_offset(struct sk_buff_head, qlen);
		word_bytes = 4;
		break;
	}
	return 0;
}

SEC("perf_event")
int on_hit(struct bpf_perf_event_data *context)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 hit = hit_count++;
	if (hit < ICEPATH_MOST_HITS)
		hit_ns[hit] = now;
	return 0;
}

SEC("syscall")
int store_anchor(void *context)
{
	anchor_at = (__u64)&anchor;
	before_ns = bpf_ktime_get_ns();
	for (__u32 i = 0; i < ICEPATH_MOST_HITS && i < store_count; i++)
		*(volatile __u64 *)&anchor = i;
	after_ns = bpf_ktime_get_ns();
	return 0;
}
