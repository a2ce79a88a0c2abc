/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_OBJECTS_BPF_H
#define ICEPATH_EBPF_OBJECTS_BPF_H
/*
 * What the kernel's objects are called in records, and which sockets are of interest. Part of capture.bpf.c.
 *
 * An object is known by what it has for its lifetime, never by its address: the kernel gives the address to another
 * object, perhaps of another user, as soon as the first one is gone. The run's own sockets are marked in their storage,
 * or by their cookies. Of all other objects something is known only when a worker's system call uses them, and then
 * there is a file descriptor and so an inode:
 * - A socket, a pipe, a message queue: its inode's number, which get_next_ino() gives to no other one before it has
 *   counted through 2^32. A named pipe: number and generation in its file system.
 * - An eventfd shares its inode with others. It is known by its file's address and by how often an eventfd was born
 *   there.
 * - No other file is an object: what is read from a regular file or a device isn't what was written last.
 *
 * Only names leave the kernel. A name identifies an object without revealing where it is or when it was made.
 */

/* Set before loading, random. */
const volatile __u64 name_keys[2];

static __always_inline __u64 rotated(__u64 word, int bits) { return word << bits | word >> (64 - bits); }

static __always_inline void sip_round(__u64 v[4])
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

/*
 * SipHash-1-3 of two words (Aumasson and Bernstein, 2012; include/linux/siphash.h). The highest bit, set in all kernel
 * addresses, is cleared, so that no name looks like one. Never 0: that means that there is no object.
 */
static __always_inline __u64 name_of(__u64 first, __u64 second)
{
	const __u64 words[3] = {first, second, 16ull << 56};
	__u64 v[4] = {name_keys[0] ^ 0x736f6d6570736575, name_keys[1] ^ 0x646f72616e646f6d,
				  name_keys[0] ^ 0x6c7967656e657261, name_keys[1] ^ 0x7465646279746573};
#pragma unroll
	for (int i = 0; i < 3; i++) {
		v[3] ^= words[i];
		sip_round(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
#pragma unroll
	for (int i = 0; i < 3; i++)
		sip_round(v);
	__u64 name = (v[0] ^ v[1] ^ v[2] ^ v[3]) & 0x7fffffffffffffff;
	return name ? name : 1;
}

/* Second words: never those of another kind of object, which begin with the number of a device. */
#define OF_SOCKET 1
#define OF_STREAM 2

/*
 * The end of a part of a TCP stream, as records have it. Both ends of a connection must agree on it, and decode/ tells
 * connections apart by it, so it isn't counted from their begin: the sequence number is shifted by a number that its
 * connection and direction have by themselves, and that nobody knows. In host byte order.
 */
static __always_inline __u32 named_end(__u16 from_port, __u16 to_port, __u32 sequence)
{
	return sequence + (__u32)name_of((__u32)from_port << 16 | to_port, OF_STREAM);
}

/* Sockets of libraries that workers use, by inode number. */
struct library_socket {
	__u64 name;
	__u64 block; /* of the last use */
	__u64 is_new; /* its connection began while it was watched */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct library_socket);
} library_sockets SEC(".maps");

__u32 library_block = 0; /* the last block with such a socket */

/* A worker uses a library's socket. Returns its name. */
static __always_inline __u64 use_socket(__u64 number)
{
	struct library_socket *seen = bpf_map_lookup_elem(&library_sockets, &number);
	if (seen && seen->block == block)
		return seen->name;
	struct library_socket used = {.name = seen ? seen->name : name_of(number, OF_SOCKET), .block = block};
	used.is_new = seen ? seen->is_new : 0;
	bpf_map_update_elem(&library_sockets, &number, &used, BPF_ANY);
	if (library_block != block)
		library_block = block;
	return used.name;
}

/* Linux 6.18 has the number in the socket, too. */
struct sock___numbered {
	unsigned long sk_ino;
} __attribute__((preserve_access_index));

/* A socket's inode number; 0: nobody has accepted it yet, or it is closed. */
static __always_inline __u64 number_of(struct sock *sk)
{
	if (bpf_core_field_exists(((struct sock___numbered *)sk)->sk_ino))
		return BPF_CORE_READ((struct sock___numbered *)sk, sk_ino);
	struct socket_alloc *both = (struct socket_alloc *)BPF_CORE_READ(sk, sk_socket);
	return both ? BPF_CORE_READ(both, vfs_inode.i_ino) : 0;
}

/* Whether it is a whole socket: others have this begin only (sk_fullsock()). */
static __always_inline bool is_whole(struct sock *sk)
{
	return !((1u << BPF_CORE_READ(sk, __sk_common.skc_state)) & (1u << TCP_TIME_WAIT | 1u << TCP_NEW_SYN_RECV));
}

/*
 * The name of a library's own socket, which isn't a key of the run. A user without root learns nothing of sockets of
 * others.
 */
static __always_inline __u64 key_of_library(struct sock *sk)
{
	if (library_block != block || !is_whole(sk) || (compares_rights && BPF_CORE_READ(sk, sk_uid.val) != user_id))
		return 0;
	__u64 number = number_of(sk);
	struct library_socket *seen = number ? bpf_map_lookup_elem(&library_sockets, &number) : NULL;
	return seen && seen->block == block ? seen->name : 0;
}

/* The key or name of a socket of the run, or 0. */
static __always_inline __u64 key_of(struct sock *sk)
{
	struct icepath_socket *socket = bpf_sk_storage_get(&sockets, sk, 0, 0);
	return socket ? socket->key : key_of_library(sk);
}

/* The same for an address that the verifier doesn't know to be a socket's. */
static __always_inline __u64 key_at(__u64 address)
{
	struct sock *sk = (struct sock *)address;
	__u64 cookie = 0;
	if (bpf_core_read(&cookie, sizeof(cookie), &sk->__sk_common.skc_cookie) || !cookie)
		return key_of_library(sk);
	__u64 *key = bpf_map_lookup_elem(&keys_by_cookie, &cookie);
	return key ? *key : key_of_library(sk);
}

#define S_IFMT 00170000
#define S_IFIFO 0010000
/* include/uapi/linux/magic.h, ipc/mqueue.c. A file's type isn't enough: any file system may have files of sockets. */
#define SOCKETS_MAGIC 0x534f434b
#define ANONYMOUS_MAGIC 0x09041934
#define QUEUES_MAGIC 0x19800202
#define PIPES_MAGIC 0x50495045

/* How many eventfds were born at addresses of a group. A birth renames the others of it, which may lose a message. */
#define BIRTH_GROUPS 4096
__u32 births[BIRTH_GROUPS];

static __always_inline __u32 *births_at(struct file *file)
{
	return &births[((__u64)file >> 6) % BIRTH_GROUPS]; /* no file is smaller */
}

static __always_inline struct file *file_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL;
	if (fd >= BPF_CORE_READ(table, max_fds) ||
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd))
		return NULL;
	return file;
}

/* Of a call that returns. */
static __always_inline __u32 number_of_call(struct pt_regs *registers)
{
#if defined(bpf_target_x86)
	return registers->orig_ax;
#elif defined(bpf_target_arm64)
	return registers->syscallno;
#else
	return 0xffffffffu; /* births aren't seen, so eventfds have no names */
#endif
}

/* A call that makes an eventfd has returned. */
static __always_inline void count_birth(struct task_struct *task, long fd)
{
	struct file *file = fd >= 0 ? file_of(task, fd) : NULL;
	if (file)
		__sync_fetch_and_add(births_at(file), 1);
}

/* The name of what a worker's file descriptor refers to, as CALL.object has it; 0: not known, or no object. */
static __always_inline __u64 object_of(struct task_struct *task, __u32 fd, __u8 *kind)
{
	*kind = ICEPATH_OBJECT_UNKNOWN;
	struct file *file = file_of(task, fd);
	if (!file)
		return 0;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct super_block *system = BPF_CORE_READ(inode, i_sb);
	__u64 magic = BPF_CORE_READ(system, s_magic), number = BPF_CORE_READ(inode, i_ino);
	if (magic == SOCKETS_MAGIC)
		return use_socket(number);
#if defined(bpf_target_x86) || defined(bpf_target_arm64)
	if (magic == ANONYMOUS_MAGIC) {
		*kind = ICEPATH_OBJECT_ANONYMOUS;
		return name_of(name_of((__u64)file, (__u64)BPF_CORE_READ(file, f_op)), *births_at(file));
	}
#endif
	/* Both ends of a message queue opened it, so they share the inode but not the file. */
	if (magic != QUEUES_MAGIC && (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFIFO)
		return 0;
	*kind = magic == QUEUES_MAGIC  ? ICEPATH_OBJECT_QUEUE
			: magic == PIPES_MAGIC ? ICEPATH_OBJECT_PIPE
								   : ICEPATH_OBJECT_FIFO;
	return name_of(number, (__u64)BPF_CORE_READ(system, s_dev) << 32 | BPF_CORE_READ(inode, i_generation));
}

#endif
