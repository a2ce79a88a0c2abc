/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ICEPATH_PLUGIN_H
#define ICEPATH_PLUGIN_H
/*
 * The interface of every transport and middleware adapter.
 *
 * A plug-in is a shared object named icepath-<name>.so that exports one symbol,
 *
 *     const struct icepath_plugin *icepath_plugin_get(void);
 *
 * and offers one or more *targets* ("uds-stream"). An icepath-worker process loads exactly one plug-in and opens
 * endpoints of one target: one, or, to send to several receivers, one for each. It may hold both ends of a channel, in
 * two threads or in one. Two endpoints make a channel, in these steps:
 *
 *     describe            once, nothing opened
 *     open    side 0      fills `address`: bytes and file descriptors for the peer
 *     open    side 1      likewise
 *     connect side 1      with side 0's address, then
 *     connect side 0      with side 1's address; from here on the channel carries messages
 *     send / recv         any number of times, by one thread per endpoint
 *     close
 *
 * A transport that needs names in a namespace that outlives it (queues, shared-memory files) removes them as soon as
 * both sides have them open: in `connect` of side 0, which comes last. SIGKILL must leave nothing behind.
 *
 * In a fan-in, one endpoint of side 1 receives what several endpoints of side 0 send, each from its own process or
 * thread. All are opened, with the number of senders in `peers`, before the first is connected. Then, for each sender
 * in turn, side 1 is connected with that sender's address, and that sender with side 1's. recv() takes from any of
 * them, and needn't report from which.
 *
 * Rules
 *  - Times are nanoseconds of CLOCK_MONOTONIC, sizes are bytes.
 *  - The caller owns every buffer that it passes; a pointer that a plug-in returns lives as long as the endpoint.
 *  - No exception leaves a plug-in. A function that fails returns an icepath_status below zero and leaves one clear
 *    sentence (what failed, on what, why) for `error`.
 *  - The thread that opened an endpoint makes all of its calls but `cancel` and those of a handler. Other threads of
 *    the process may use other endpoints at the same time, the peer among them. `cancel` comes from another thread,
 *    perhaps repeatedly: it makes a blocked or polling call, and every later one, return ICEPATH_CANCELLED. The caller
 *    enforces deadlines with it, so that the measured calls carry no timer of their own. The caller also sends the
 *    blocked thread a signal whose handler does nothing (no SA_RESTART), so a plug-in only has to check its flag when
 *    a call fails with EINTR.
 *  - The death of the peer is ICEPATH_CLOSED wherever the mechanism reports it.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this interface, by semantic versioning. icepath loads plug-ins that were built for its own major
 * number and for its own minor number or a lower one.
 *
 * The minor number is raised when a struct gains members at its end, or an enum values. A struct that a plug-in makes
 * begins with `size`, its sizeof there: icepath takes what lies beyond as zero, which therefore means what there was
 * before. A struct that icepath makes may be longer than a plug-in knows. Members begin where the struct ended, and no
 * struct ends with padding. The major number is raised when anything else changes, also in icepath_address, icepath_qos
 * and icepath_handler, which don't grow.
 */
#define ICEPATH_PLUGIN_ABI_MAJOR 9u
#define ICEPATH_PLUGIN_ABI_MINOR 1u
#define ICEPATH_PLUGIN_ABI (ICEPATH_PLUGIN_ABI_MINOR << 16 | ICEPATH_PLUGIN_ABI_MAJOR)

enum icepath_status {
	ICEPATH_OK = 0,
	ICEPATH_CANCELLED = -1,   /* cancel() was called */
	ICEPATH_CLOSED = -2,      /* the peer is gone */
	ICEPATH_UNSUPPORTED = -3, /* this target doesn't do that (wait, size, side) */
	ICEPATH_FAILED = -4,      /* anything else: see error() */
};

/* How a thread waits for a message, or for room to send one. Bits, so that a target can list what it supports. */
enum icepath_wait {
	ICEPATH_WAIT_BLOCK = 1u << 0, /* sleep inside the receiving call itself */
	ICEPATH_WAIT_POLL = 1u << 1,  /* make the receiving call again until it succeeds; never sleeps */
	ICEPATH_WAIT_EPOLL = 1u << 2, /* sleep in a readiness wait, then make the receiving call */
	ICEPATH_WAIT_SPIN = 1u << 3, /* read shared memory until the message is there; no system call */
	ICEPATH_WAIT_CALLBACK = 1u << 4, /* a thread of the library calls icepath_open::handler */
};

/* What the kernel does for a message of this target: decides which probes a cell needs. Bits. */
enum icepath_mechanism {
	ICEPATH_USES_SOCKET = 1u << 0,    /* ready is announced by sk_data_ready on the receiving socket */
	ICEPATH_USES_NETDEV = 1u << 1,    /* passes a device queue (loopback counts) */
	ICEPATH_USES_SKB_COPY = 1u << 2,  /* taken by skb_copy_datagram_iovec */
	ICEPATH_USES_USER_SLOT = 1u << 3, /* published and observed in user space: publish_ns and observe_ns are filled */
	ICEPATH_USES_BYTE_STREAM = 1u << 4, /* no message boundaries: a byte range is the identity */
	ICEPATH_USES_PIPE = 1u << 5,          /* passes a pipe */
	ICEPATH_USES_MESSAGE_QUEUE = 1u << 6, /* passes a POSIX message queue */
	/* The kernel may put a message into a queue that the receiver maps: observe_ns is filled where no call took it. */
	ICEPATH_USES_MAPPED_QUEUE = 1u << 7,
	/* A kernel thread carries messages on to the receiving end, perhaps after the sending call has returned. */
	ICEPATH_USES_KERNEL_THREAD = 1u << 8,
	/*
	 * Library functions move messages from user space to user space: call_ns to return_ns, and take_call_ns to
	 * take_return_ns, enclose them. The message enters the queue at some time within the first. System calls of the
	 * workers are traced.
	 */
	ICEPATH_USES_LIBRARY_CALLS = 1u << 9,
	/*
	 * With ICEPATH_USES_LIBRARY_CALLS: threads of the library or of a daemon carry messages on, after the sender's
	 * function returned or while it waits. The threads of the workers and of the daemon are followed.
	 */
	ICEPATH_USES_LIBRARY_THREADS = 1u << 10,
	/* With ICEPATH_USES_LIBRARY_THREADS: they may pass messages in shared memory, with no call to an awake reader. */
	ICEPATH_USES_SHARED_MEMORY = 1u << 11,
	/*
	 * With ICEPATH_USES_USER_SLOT: the receiver looks at a slot only after the sender has rung for it (an eventfd), in
	 * the call from call_ns to return_ns. Before that call the message can't be received, whatever the memory holds:
	 * publish_ns is ignored.
	 */
	ICEPATH_USES_BELL = 1u << 12,
};

enum icepath_capability {
	ICEPATH_CAN_LOAN = 1u << 0, /* loan/send_loaned and take/give_back are real zero-copy */
	ICEPATH_IS_LOSSY = 1u << 1, /* messages may be lost without an error (UDP) */
	ICEPATH_NOT_IPC = 1u << 2, /* tests icepath itself (null); left out of comparisons */
	ICEPATH_CAN_FANIN = 1u << 3, /* one endpoint may receive from several senders, with `fanin_waits` */
	ICEPATH_IS_RENDEZVOUS =
		1u << 4, /* send, or the next one, returns only once the message was taken: not within one thread */
	/* Both ends are in one process; connect() refuses two processes, with the reason. */
	ICEPATH_WITHIN_PROCESS = 1u << 5,
	/* Never within one process, where the library does something else: connect() refuses, with the reason. */
	ICEPATH_BETWEEN_PROCESSES = 1u << 6,
	/*
	 * A message goes only after the previous one was answered, or the receiver asks for the next. Within one thread,
	 * only with answers.
	 */
	ICEPATH_HAS_TURNS = 1u << 7,
};

/*
 * Quality of service, in the terms of DDS (OMG DDS 1.4, 2.2.3), for libraries with similar policies. The value of a
 * policy is a member of the enum named after it, a number of messages (ICEPATH_QOS_DEPTH), or nanoseconds (the others).
 */
enum icepath_qos_policy {
	ICEPATH_QOS_RELIABILITY, /* icepath_reliability */
	ICEPATH_QOS_DURABILITY, /* icepath_durability */
	ICEPATH_QOS_HISTORY, /* icepath_history */
	ICEPATH_QOS_DEPTH, /* messages that ICEPATH_KEEP_LAST keeps; at least 1 */
	ICEPATH_QOS_DEADLINE, /* longest agreed time between two messages */
	ICEPATH_QOS_LIFESPAN, /* older messages aren't delivered */
	ICEPATH_QOS_LIVELINESS, /* icepath_liveliness */
	ICEPATH_QOS_LEASE, /* how long a silent sender still counts as alive */
	ICEPATH_QOS_POLICIES /* number of policies */
};
enum icepath_reliability { ICEPATH_BEST_EFFORT, ICEPATH_RELIABLE };
enum icepath_durability { ICEPATH_VOLATILE, ICEPATH_TRANSIENT_LOCAL };
enum icepath_history { ICEPATH_KEEP_LAST, ICEPATH_KEEP_ALL };
enum icepath_liveliness { ICEPATH_AUTOMATIC, ICEPATH_MANUAL_BY_PARTICIPANT, ICEPATH_MANUAL_BY_TOPIC };
#define ICEPATH_QOS_INFINITE UINT64_MAX /* a time: no limit */

struct icepath_qos {
	uint32_t policies; /* bits 1u << icepath_qos_policy: those that have a value */
	uint64_t values[16]; /* by icepath_qos_policy, with room for more of them */
};

struct icepath_target {
	uint32_t size; /* sizeof(struct icepath_target) as the plug-in was built */
	uint32_t qos; /* bits 1u << icepath_qos_policy: those that icepath_open may ask for */
	const char *name; /* "uds-stream"; [a-z0-9-/], at most 31 characters */
	const char *summary; /* one line for `icepath list` */
	uint32_t waits; /* icepath_wait bits */
	uint32_t mechanisms; /* icepath_mechanism bits */
	uint32_t capabilities; /* icepath_capability bits */
	uint32_t fanin_waits; /* with ICEPATH_CAN_FANIN: icepath_wait bits of a fan-in, a subset of `waits` */
	uint64_t max_payload_bytes; /* the largest message on this machine now; 0: none, see `why_not` */
	const char *max_payload_why; /* where that limit comes from: "/proc/sys/net/core/rmem_max is 212992" */
	uint64_t max_part_bytes; /* most that one call carries: longer messages go in parts; 0: never in parts */
	const char *why_not; /* NULL, or why this target can't work here, and the remedy */
	/* Of a fan-in: the largest message that another sender's can't interleave with; 0: whatever one call carries. */
	uint64_t fanin_max_bytes;
};

/*
 * What the peer needs to reach an endpoint. The plug-in keeps the descriptors in an address that `open` filled: the
 * caller duplicates them for the peer. `connect` takes ownership of those passed to it.
 */
struct icepath_address {
	uint32_t bytes_used;
	uint32_t fds_used;
	uint8_t bytes[240];
	int fds[4];
};

struct icepath_send;
struct icepath_recv;

/*
 * With ICEPATH_WAIT_CALLBACK, which takes ICEPATH_USES_LIBRARY_THREADS: a thread of the library handles each message,
 * and perhaps answers, and the thread that opened the endpoint sleeps. The plug-in calls `handle` in the thread in
 * which the library called the plug-in, for one message after the other: the next call begins after the last one
 * returned. There are none after close().
 *
 * `message` is as recv() returns it, except that `data` is where the message is, in the plug-in's memory, which stays
 * until `handle` returns, and that `ask_ns` is when the library called the plug-in, or, if the plug-in takes more than
 * once in a call, when it began to take again. `take_call_ns` and `take_return_ns` are around the library's function
 * that the plug-in called for the message; 0: the library passed the message. `status`: ICEPATH_OK, or why there is no
 * message, with a sentence for `error`.
 *
 * `handle` may call send(), or loan() and send_loaned(), of its endpoint; the thread that opened the endpoint calls
 * nothing meanwhile. No call of an endpoint may lead to a call of its own handler in the same thread. recv() is called
 * only after cancel(), to learn why: it returns ICEPATH_CANCELLED or ICEPATH_CLOSED. A plug-in whose library can't
 * send from a callback doesn't offer this wait.
 */
struct icepath_handler {
	void (*handle)(void *side, int status, struct icepath_recv *message);
	void *side; /* passed to `handle` */
};

struct icepath_open {
	uint32_t size; /* sizeof(struct icepath_open) as icepath was built */
	uint32_t depth; /* messages that may be in flight if the target has a bounded queue; 0: its default */
	const char *target; /* one of the plug-in's targets */
	/* Of the channel, the same at both ends: unique on this machine, and another user can't guess it; [A-Za-z0-9-], at
	 * most 63 characters. A second file needs a name of its own that can't be guessed from the first. */
	const char *name;
	uint32_t side; /* 0 or 1 */
	uint32_t sends, receives; /* booleans: what this endpoint will be asked to do */
	enum icepath_wait wait; /* the only wait that will be used */
	uint64_t payload_bytes; /* every message has this size */
	struct icepath_qos qos; /* of both ends; for a policy without a value, the plug-in chooses */
	uint32_t peers; /* endpoints of side 0 that will be connected to side 1's; above 1: a fan-in */
	uint32_t answers; /* of side 1 to each message of side 0, which waits for them all; 0: messages go one way */
	struct icepath_handler handler; /* with ICEPATH_WAIT_CALLBACK, if `receives` */
};

/* Facts about one send. Bits. */
enum icepath_send_flag {
	ICEPATH_SEND_COPIED = 1u << 0, /* zero-copy was requested, but the kernel copied */
};

/*
 * One send. The plug-in stamps `call_ns` just before the first system call that hands the message over (0: no call),
 * `publish_ns` just before the release store that makes it visible (user-space slots only), and `return_ns` when the
 * last call returns.
 */
struct icepath_send {
	const void *data;
	uint64_t bytes;
	uint64_t call_ns, publish_ns, return_ns;
	uint32_t attempts; /* calls or polls made; 1: a message in one part, accepted at once */
	uint32_t flags; /* out: icepath_send_flag */
};

/*
 * One receive of exactly one message. Asking begins at `ask_ns`. `wait_return_ns`: return of the readiness wait that
 * preceded the taking call (0: none). `take_call_ns`, `take_return_ns`: around the call that took the last byte (0: no
 * call). `observe_ns`: just after the acquire load that saw the message (user-space slots, mapped queues).
 */
struct icepath_recv {
	uint32_t size; /* sizeof(struct icepath_recv), of who made it: icepath, or the plug-in for a handler */
	uint32_t attempts;
	void *data;
	uint64_t capacity;
	uint64_t bytes; /* out */
	uint64_t ask_ns, wait_return_ns, take_call_ns, take_return_ns, observe_ns;
};

/*
 * A program that must run while endpoints are open. icepath starts it before the first endpoint opens, in the
 * namespaces of the plug-in's workers (see icepath_plugin::library_version), watches it, and kills it with SIGKILL at
 * the end of the run; its files go with the namespaces. Plug-ins whose daemons have the same program, arguments and
 * file share one. Processes that a daemon starts end with it if they stay in its process group.
 */
struct icepath_daemon {
	uint32_t size; /* sizeof(struct icepath_daemon) */
	const char *program; /* "iox-roudi": found in PATH */
	const char *package; /* the Debian package with it; NULL: none has */
	const char *const *arguments; /* after its name; NULL-terminated */
	const char *file; /* path of a file that it reads, below /tmp, which starts empty; NULL: none */
	const char *file_text;
	const char *ready; /* what it prints, on stdout or stderr, once it can be used */
};

struct icepath_endpoint; /* the plug-in's own */

struct icepath_plugin {
	uint32_t size; /* sizeof(struct icepath_plugin) */
	uint32_t abi; /* ICEPATH_PLUGIN_ABI, as the plug-in was built */
	const char *name;
	/*
	 * "iceoryx 2.0.3": the wrapped library; NULL for kernel transports. Workers of a library run in user, mount and
	 * network namespaces of the run: /tmp and /dev/shm start empty and end with the run, `lo` takes multicast.
	 */
	const char *library_version;
	const struct icepath_daemon *daemon; /* NULL: none */

	/* The n-th target, or NULL after the last. The pointer stays valid. */
	const struct icepath_target *(*target)(uint32_t n);

	/* On failure *endpoint is NULL, and `error(NULL)` returns the sentence for the calling thread. */
	int (*open)(const struct icepath_open *how, struct icepath_endpoint **endpoint, struct icepath_address *address);
	int (*connect)(struct icepath_endpoint *endpoint, const struct icepath_address *peer);
	int (*send)(struct icepath_endpoint *endpoint, struct icepath_send *message);
	int (*recv)(struct icepath_endpoint *endpoint, struct icepath_recv *message);
	void (*cancel)(struct icepath_endpoint *endpoint);
	void (*close)(struct icepath_endpoint *endpoint);
	const char *(*error)(const struct icepath_endpoint *endpoint);

	/* File descriptors of the sockets that carry messages, for the probes. Returns how many it wrote (<= capacity). */
	uint32_t (*sockets)(const struct icepath_endpoint *endpoint, int *fds, uint32_t capacity);

	/*
	 * The quality of service of a connected endpoint, requested or not: as the library reports it, or else as the ends
	 * were made. Of what the endpoint receives if it receives, otherwise of what it sends. NULL: unknown.
	 */
	void (*granted)(const struct icepath_endpoint *endpoint, struct icepath_qos *qos);

	/* With ICEPATH_CAN_LOAN; otherwise NULL. */
	int (*loan)(struct icepath_endpoint *endpoint, uint64_t bytes, void **slot);
	int (*send_loaned)(struct icepath_endpoint *endpoint, void *slot, struct icepath_send *message);
	int (*take)(struct icepath_endpoint *endpoint, const void **slot, struct icepath_recv *message);
	int (*give_back)(struct icepath_endpoint *endpoint, const void *slot);

	/* Since 9.1. The plug-in's own version, since it may be of another build than icepath; NULL: unknown. */
	const char *version;
};

/* The one symbol of a plug-in. */
const struct icepath_plugin *icepath_plugin_get(void);

/* CLOCK_MONOTONIC through the vDSO: the clock that bpf_ktime_get_ns() reads. */
static inline uint64_t icepath_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifdef __cplusplus
}
#endif
#endif
