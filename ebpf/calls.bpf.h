/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_CALLS_BPF_H
#define ICEPATH_EBPF_CALLS_BPF_H
/*
 * System calls that a worker's library makes, so that the plug-in can't stamp them. Part of capture.bpf.c.
 *
 * While one of these is attached, every system call on the machine takes the slow path into the kernel (TIF work). So
 * they are only in probed blocks of middleware, and of sparse cells that are measured together with one.
 */

#define CALL_NUMBERS 512

/* Set before loading: an icepath_call_kind by number. A futex call's kind also depends on its operation. */
const volatile __u8 call_kinds[CALL_NUMBERS];

/* Set before loading: the calls that make an eventfd (eventfd2, and where there is one eventfd). */
const volatile __u32 eventfd_calls[2];

static __always_inline __u8 kind_of_futex(__u8 operation)
{
	switch (operation) { /* include/uapi/linux/futex.h */
	case 9: /* FUTEX_WAIT_BITSET */
	case 11: /* FUTEX_WAIT_REQUEUE_PI */
		return ICEPATH_CALL_FUTEX_WAIT;
	case 0: /* FUTEX_WAIT */
	case 6: /* FUTEX_LOCK_PI */
	case 13: /* FUTEX_LOCK_PI2 */
		return ICEPATH_CALL_FUTEX_LOCK;
	default:
		return ICEPATH_CALL_FUTEX_WAKE;
	}
}

static __always_inline bool has_object(__u8 kind)
{
	return kind == ICEPATH_CALL_GIVE || kind == ICEPATH_CALL_TAKE || kind == ICEPATH_CALL_GIVE_MESSAGES ||
		   kind == ICEPATH_CALL_TAKE_MESSAGES;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *registers, long number)
{
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct icepath_task *task = capturing ? worker_of(current_task) : NULL;
	if (!task)
		return 0;
	task->call_ns = bpf_ktime_get_ns(); /* first: what follows is no code of the program's */
	__u64 first = PT_REGS_PARM1_CORE_SYSCALL(registers);
	__u8 kind = (__u64)number < CALL_NUMBERS ? call_kinds[number] : ICEPATH_CALL_OTHER;
	task->call_object = 0;
	task->call_operation = 0;
	task->call_position = 0;
	task->call_object_kind = 0;
	task->queued_end = 0;
	if (kind == ICEPATH_CALL_FUTEX_WAIT) {
		task->call_operation = PT_REGS_PARM2_CORE_SYSCALL(registers) & 0x7f; /* FUTEX_CMD_MASK */
		kind = kind_of_futex(task->call_operation);
		task->call_object = name_of(first, current_task->tgid);
	} else if (has_object(kind)) {
		task->call_object = object_of(current_task, first, &task->call_object_kind);
		if (target_count && kind == ICEPATH_CALL_GIVE && is_pipe(task->call_object_kind))
			note_pipe(current_task, first, task->call_object);
	}
	task->call_kind = kind;
	task->call_number = number;
	return 0;
}

/* Only calls that move bytes or messages have a result that says how many. Others' may be an address, or an id. */
static __always_inline __u64 told_result(__u8 kind, long result)
{
	const long last_errno = 4095;
	return has_object(kind) || (result < 0 && result >= -last_errno) ? result : 0;
}

/* The socket behind a descriptor of a connection that begins now, or NULL. Tells its number. */
static __always_inline struct sock *new_socket(struct task_struct *task, __u32 fd, __u64 *number)
{
	struct file *file = file_of(task, fd);
	if (!file || BPF_CORE_READ(file, f_inode, i_sb, s_magic) != SOCKETS_MAGIC)
		return NULL;
	*number = BPF_CORE_READ(file, f_inode, i_ino);
	(void)use_socket(*number);
	struct library_socket *seen = bpf_map_lookup_elem(&library_sockets, number);
	if (seen)
		seen->is_new = 1;
	struct socket *socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

/* connect, accept or socketpair has returned. */
static __noinline void note_begin(struct task_struct *current_task, struct icepath_task *task,
								  struct pt_regs *registers, int result)
{
	__u32 fds[2] = {result, result};
	if (!task || result < 0)
		return;
	if (task->call_kind == ICEPATH_CALL_PAIR &&
		bpf_probe_read_user(fds, sizeof(fds), (void *)PT_REGS_PARM4_CORE_SYSCALL(registers)))
		return;
	if (task->call_kind == ICEPATH_CALL_CONNECT)
		fds[0] = PT_REGS_PARM1_CORE_SYSCALL(registers);
	__u64 number = 0, others = 0;
	struct sock *sk = new_socket(current_task, fds[0], &number);
	if (!sk || task->call_kind == ICEPATH_CALL_CONNECT || BPF_CORE_READ(sk, __sk_common.skc_family) != 1 ||
		BPF_CORE_READ(sk, sk_type) != 1) /* a UNIX stream; include/linux/socket.h */
		return;
	if (task->call_kind == ICEPATH_CALL_PAIR)
		(void)new_socket(current_task, fds[1], &others);
	struct sock *other = BPF_CORE_READ((struct unix_sock *)sk, peer);
	others = other ? number_of(other) : 0;
	if (!others)
		return;
	task->call_object = name_of(number, OF_SOCKET);
	task->call_position = name_of(others, OF_SOCKET);
	task->call_object_kind = ICEPATH_OBJECT_UNIX_STREAM;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *registers, long result)
{
	__u64 now = bpf_ktime_get_ns();
	if (!capturing)
		return 0;
	struct task_struct *current_task = bpf_get_current_task_btf();
	/* Any task's: it may pass the eventfd on. */
	const __u32 number = number_of_call(registers);
	if (number == eventfd_calls[0] || number == eventfd_calls[1])
		count_birth(current_task, result);
	struct icepath_task *task = worker_of(current_task);
	if (!task)
		return 0;
	__u64 begin_ns = task->call_ns;
	task->call_ns = 0;
	if (!begin_ns && target_count) { /* its begin wasn't seen */
		task->call_kind = number < CALL_NUMBERS ? call_kinds[number] : ICEPATH_CALL_OTHER;
		task->call_object_kind = 0;
		if (has_object(task->call_kind))
			task->call_object = object_of(current_task, PT_REGS_PARM1_CORE_SYSCALL(registers), &task->call_object_kind);
	}
	if (target_count && result > 0 && is_pipe(task->call_object_kind))
		task->call_position = position_in_pipe(task->call_kind, task->call_object, result, begin_ns, now);
	if (target_count && task->call_kind >= ICEPATH_CALL_CONNECT)
		note_begin(current_task, task, registers, result);
	if (!begin_ns)
		return 0;
	if (task->call_kind == ICEPATH_CALL_TRANSFER)
		task->call_kind = ICEPATH_CALL_OTHER;
	struct icepath_record *record =
		begin_record(bpf_get_smp_processor_id(), ICEPATH_RECORD_CALL, ICEPATH_CONTEXT_TASK, current_task->pid, now);
	if (!record)
		return 0;
	record->call.begin_ns = begin_ns;
	record->call.object = task->call_object;
	record->call.result = told_result(task->call_kind, result);
	record->call.number = task->call_number;
	record->call.kind = task->call_kind;
	record->call.operation = task->call_operation;
	record->call.object_kind = task->call_object_kind;
	record->call.position = task->call_position;
	end_record(record);
	return 0;
}

#endif
