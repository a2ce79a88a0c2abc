/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_ENDS_H
#define ICEPATH_EBPF_ENDS_H
#include "records.h" /* ICEPATH_U64 and the like */

/*
 * What the programs that are watched have open: ends of connections, of pipes, and listening sockets. Names are those
 * of records (objects.bpf.h), so none tells an address, a port, or where something is in memory.
 */
enum icepath_end_role {
	ICEPATH_END_UNKNOWN = 0,
	ICEPATH_END_CONNECTED = 1, /* of a UNIX socket: only its peer has an address */
	ICEPATH_END_ACCEPTED = 2, /* of a UNIX socket: only itself has one, its listener's */
	ICEPATH_END_LISTENS = 3, /* a TCP socket that accepts others: it is no end itself */
	ICEPATH_END_WRITES = 4, /* of a pipe */
	ICEPATH_END_READS = 5,
};

struct icepath_end {
	ICEPATH_U64 object; /* as CALL.object */
	/* The same for both ends of a connection; 0: it isn't known. Of TCP another one's ends may have it as well. */
	ICEPATH_U64 pair;
	/* Of TCP: a name of its own port in its network namespace, which what a socket accepts has as well. */
	ICEPATH_U64 place;
	ICEPATH_U32 tgid;
	ICEPATH_U8 kind; /* icepath_object_kind */
	ICEPATH_U8 role; /* icepath_end_role */
	ICEPATH_U8 leaves_machine;
	ICEPATH_U8 side; /* of TCP: 0 or 1, which of its two ends; only addresses and ports say so */
	char comm[16]; /* of the process */
};

#define ICEPATH_ENDS 65536 /* that one pass lists */
#endif
