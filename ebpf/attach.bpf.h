/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_ATTACH_BPF_H
#define ICEPATH_EBPF_ATTACH_BPF_H
/*
 * Programs that were already running: their threads and descendants. Part of capture.bpf.c.
 *
 * User space marks each target's first thread, while task_newtask is attached. Then it runs mark_running until a pass
 * marks nobody. Who was started by a marked task has its mark from task_newtask; who was started before that task was
 * marked was in the kernel's list by then (copy_process() precedes the tracepoint), so the next pass finds it.
 */

/* Set before loading: icepath and its helper, which are never marked, and so aren't the processes that they start. */
const volatile __u32 own_tgids[2];

__u32 newly_marked = 0; /* user space sets it to 0 before a pass */

/* The mark of the task's process, or of the task that started it. */
static __always_inline struct icepath_task *mark_above(struct task_struct *task)
{
	struct icepath_task *mark = bpf_task_storage_get(&workers, task->group_leader, 0, 0);
	return mark ? mark : bpf_task_storage_get(&workers, task->real_parent, 0, 0);
}

SEC("?iter/task")
int mark_running(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	if (!task || (task->flags & PF_KTHREAD) || (__u32)task->tgid == own_tgids[0] || (__u32)task->tgid == own_tgids[1] ||
		bpf_task_storage_get(&workers, task, 0, 0))
		return 0;
	struct icepath_task *above = mark_above(task);
	if (!above || !above->family || has_gained_rights(task, above->family))
		return 0;
	struct icepath_task *mark = bpf_task_storage_get(&workers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!mark)
		return 0;
	mark->family = above->family;
	__sync_fetch_and_add(&newly_marked, 1);
	return 0;
}

/* What marked processes have open, listed anew in each pass of list_ends. max_entries is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icepath_end);
} ends SEC(".maps");

__u32 ends_found = 0; /* user space sets it to 0 before a pass; counts those without room as well */

#define OF_PAIR 3
#define OF_PORT 4
#define OF_ADDRESS 5
#define OF_NAMESPACE 6

/* The same name for both orders. */
static __always_inline __u64 name_of_both(__u64 one, __u64 other)
{
	return one < other ? name_of(name_of(one, OF_PAIR), other) : name_of(name_of(other, OF_PAIR), one);
}

static __always_inline void describe_unix(struct sock *sk, __u64 number, struct icepath_end *end)
{
	struct unix_sock *own = (struct unix_sock *)sk, *peer = (struct unix_sock *)BPF_CORE_READ(own, peer);
	if (!peer)
		return;
	const bool is_named = BPF_CORE_READ(own, addr), is_peer_named = BPF_CORE_READ(peer, addr);
	if (is_named != is_peer_named)
		end->role = is_named ? ICEPATH_END_ACCEPTED : ICEPATH_END_CONNECTED;
	__u64 others = number_of((struct sock *)peer);
	if (others)
		end->pair = name_of_both(number, others);
}

struct icepath_address {
	__u64 words[2]; /* the IPv6 one */
	__u32 short_address;
	bool is_long; /* an IPv6 one that stands for no IPv4 one: the kernel's short one then says nothing */
};

static __always_inline struct icepath_address address_of(struct in6_addr *address, __u32 short_address, bool of_ipv6)
{
	struct icepath_address one = {.short_address = short_address};
	if (of_ipv6)
		bpf_core_read(one.words, sizeof(one.words), address);
	const bool is_mapped = one.words[0] == 0 && (__u32)one.words[1] == 0xffff0000u; /* ::ffff:0:0/96, little endian */
	one.is_long = of_ipv6 && !is_mapped;
	return one;
}

static __always_inline __u64 name_of_address(const struct icepath_address *one)
{
	return one->is_long ? name_of(name_of(one->words[0], OF_ADDRESS), one->words[1])
						: name_of(one->short_address, OF_ADDRESS);
}

static __always_inline bool is_of_loopback(const struct icepath_address *one)
{
	return one->is_long ? one->words[0] == 0 && one->words[1] == 1ull << 56 /* ::1, little endian */
						: bpf_ntohl(one->short_address) >> 24 == 127;
}

static __always_inline void describe_tcp(struct sock *sk, struct icepath_end *end)
{
	struct sock_common *common = &sk->__sk_common;
	const __u16 port = BPF_CORE_READ(common, skc_num), other_port = bpf_ntohs(BPF_CORE_READ(common, skc_dport));
	const __u64 space = name_of(BPF_CORE_READ(common, skc_net.net, ns.inum), OF_NAMESPACE);
	end->place = name_of(name_of(port, OF_PORT), space);
	if (BPF_CORE_READ(common, skc_state) == TCP_LISTEN) {
		end->role = ICEPATH_END_LISTENS;
		return;
	}
	const bool of_ipv6 = BPF_CORE_READ(common, skc_family) == 10;
	const struct icepath_address own_address =
		address_of(&common->skc_v6_rcv_saddr, BPF_CORE_READ(common, skc_rcv_saddr), of_ipv6);
	const struct icepath_address other_address =
		address_of(&common->skc_v6_daddr, BPF_CORE_READ(common, skc_daddr), of_ipv6);
	const __u64 own = name_of_address(&own_address), others = name_of_address(&other_address);
	const __u64 own_end = name_of(own, port), others_end = name_of(others, other_port);
	end->side = own_end < others_end;
	end->pair = name_of_both(own_end, others_end);
	/* A client with another address of this machine has its server's as the other one, and its server has it. */
	const bool is_loopback = is_of_loopback(&own_address) || is_of_loopback(&other_address);
	end->leaves_machine = own != others && !is_loopback; /* to itself by an address of its own: the same at both ends */
	if (!end->leaves_machine) /* nor its network namespace */
		end->pair = name_of(end->pair, space);
}

static __always_inline bool describe_end(struct file *file, struct icepath_end *end)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	const __u64 number = BPF_CORE_READ(inode, i_ino);
	struct socket *socket = bpf_sock_from_file(file);
	if (socket) {
		struct sock *sk = socket->sk;
		if (!sk)
			return false;
		end->kind = kind_of_socket(sk);
		end->object = name_of(number, OF_SOCKET);
		if (end->kind == ICEPATH_OBJECT_UNIX_STREAM)
			describe_unix(sk, number, end);
		else if (end->kind == ICEPATH_OBJECT_TCP)
			describe_tcp(sk, end);
		return end->pair || end->role == ICEPATH_END_LISTENS;
	}
	struct super_block *system = BPF_CORE_READ(inode, i_sb);
	const __u64 magic = BPF_CORE_READ(system, s_magic);
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFIFO)
		return false;
	const __u32 mode = BPF_CORE_READ(file, f_mode);
	end->kind = magic == PIPES_MAGIC ? ICEPATH_OBJECT_PIPE : ICEPATH_OBJECT_FIFO;
	end->object = name_of(number, (__u64)BPF_CORE_READ(system, s_dev) << 32 | BPF_CORE_READ(inode, i_generation));
	end->pair = end->object;
	end->role = mode & 2 /* FMODE_WRITE */ ? ICEPATH_END_WRITES : ICEPATH_END_READS;
	return true;
}

SEC("?iter/task_file")
int list_ends(struct bpf_iter__task_file *context)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	struct icepath_task *mark = task && file ? bpf_task_storage_get(&workers, task, 0, 0) : NULL;
	if (!mark || !mark->family || has_gained_rights(task, mark->family))
		return 0;
	struct icepath_end found = {.tgid = task->tgid};
	if (!describe_end(file, &found))
		return 0;
	__u32 number = __sync_fetch_and_add(&ends_found, 1);
	struct icepath_end *end = bpf_map_lookup_elem(&ends, &number);
	if (!end)
		return 0;
	__builtin_memcpy(found.comm, task->group_leader->comm, sizeof(found.comm));
	*end = found;
	return 0;
}

#endif
