/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_WATCHED_H
#define ICEPATH_EBPF_WATCHED_H
/* What calibration.bpf.c can locate. */
enum icepath_watched {
	ICEPATH_WATCH_PIPE_LOCK = 1, /* pipe_inode_info.mutex.owner: written at lock and unlock */
	ICEPATH_WATCH_EVENTFD_COUNT = 2, /* eventfd_ctx.count */
	ICEPATH_WATCH_MESSAGE_COUNT = 3, /* mqueue_inode_info.attr.mq_curmsgs: msg_insert(), msg_get() */
	ICEPATH_WATCH_SOCKET_QUEUE = 4,  /* sock.sk_receive_queue.qlen */
};

#define ICEPATH_MOST_HITS 64 /* of one message */
#endif
