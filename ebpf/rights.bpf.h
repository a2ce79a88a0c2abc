/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_RIGHTS_BPF_H
#define ICEPATH_EBPF_RIGHTS_BPF_H
/*
 * Whose tasks may be watched: for a user without root, only those that this user could trace (ptrace(2), "Ptrace access
 * mode checking"). Part of capture.bpf.c.
 *
 * A user may have marked a process that executes a set-uid program later. That program may give its rights up at once,
 * between two events, and may execute another one. So rights are compared at every event, at every exec, and at every
 * fork of a followed process, the last two also outside of blocks; and who had more rights once is never watched again,
 * nor are the tasks that it starts.
 *
 * For programs that root attached to, it is the rights that each of them had when root named it: icepath_rights. There
 * the mark itself is taken back, and who starts a task without a mark gives it none.
 */

/* Set before loading. Whether rights are compared. */
const volatile bool compares_rights = false;
const volatile __u32 user_id = 0, group_id = 0; /* the user's; of a run with samples as well */

/* Marked tasks that had more rights than the user. Never written by user space, so no marking forgets them. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} barred SEC(".maps");

__u32 barred_tasks = 0; /* since loading */

/* mm_struct before Linux 6.18, and since. */
struct mm_struct___number {
	unsigned long flags;
} __attribute__((preserve_access_index));
struct icepath_mm_flags {
	unsigned long bits;
};
struct mm_struct___bits {
	struct icepath_mm_flags flags;
} __attribute__((preserve_access_index));

/*
 * Whether the process hides its memory from others of its user: it has more rights than they, or had since it executed
 * its program (commit_creds(), begin_new_exec()), or its user may not read that program, or it opted out.
 */
static __always_inline bool hides_memory(struct mm_struct *mm)
{
	const __u64 dumpable_mask = 3, dumpable = 1; /* MMF_DUMPABLE_MASK, SUID_DUMP_USER */
	__u64 flags = 0;
	if (bpf_core_field_exists(((struct mm_struct___number *)mm)->flags))
		flags = BPF_CORE_READ((struct mm_struct___number *)mm, flags);
	else if (bpf_core_field_exists(((struct mm_struct___bits *)mm)->flags))
		bpf_core_read(&flags, sizeof(flags), &((struct mm_struct___bits *)mm)->flags);
	return (flags & dumpable_mask) != dumpable;
}

/*
 * Whether the task has more rights than the user, or had them since it executed its program. It has if one of its user
 * or group ids differs from the user's, as in a set-uid program, or if it has capabilities in the initial user
 * namespace, as a program whose file has some. Capabilities in a user namespace of the user's own are no rights outside
 * it. Root's capabilities aren't compared.
 *
 * `real_cred` are the task's own rights, which ptrace(2) compares. `cred` are those that it acts with: the kernel puts
 * others there for a while, overlayfs those of whoever mounted it (override_creds()).
 */
static __noinline bool has_more_rights(struct task_struct *task)
{
	struct {
		__u32 uid, gid;
	} ids[4] = {}; /* real, saved, effective, of files: in this order in struct cred */
	__u64 capabilities = 0;
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	if (bpf_core_read(ids, sizeof(ids), &cred->uid) ||
		bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted))
		return true;
	for (int i = 0; i < 4; i++)
		if (ids[i].uid != user_id || ids[i].gid != group_id)
			return true;
	if (user_id != 0 && capabilities && BPF_CORE_READ(cred, user_ns, level) == 0)
		return true;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	return mm && hides_memory(mm); /* an exiting task has none, and runs no more code */
}

/* Bars a task from being watched, for good. */
static __always_inline void bar(struct task_struct *task)
{
	__u32 *is_barred = bpf_task_storage_get(&barred, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (is_barred && !__sync_val_compare_and_swap(is_barred, 0, 1))
		__sync_fetch_and_add(&barred_tasks, 1);
}

/* Whether a marked task may not be watched. */
static __noinline bool must_not_be_watched(struct task_struct *task)
{
	if (!compares_rights)
		return false;
	if (bpf_task_storage_get(&barred, task, 0, 0))
		return true;
	if (!has_more_rights(task))
		return false;
	bar(task);
	return true;
}

/* Set before loading: what the targets might do when they were named, by their family's number minus 1. */
const volatile struct icepath_rights target_rights[ICEPATH_TARGETS];
const volatile __u32 target_count = 0; /* 0: the run's own processes are followed, and not those of others */

/* Whether one of the task's four user ids, or one of its group ids, is none of the target's. */
static __always_inline bool has_other_id(const __u32 ids[8], const volatile __u32 of_target[4], int first)
{
	bool is_other = false;
	for (int i = first; i < 8; i += 2)
		is_other |=
			ids[i] != of_target[0] && ids[i] != of_target[1] && ids[i] != of_target[2] && ids[i] != of_target[3];
	return is_other;
}

/*
 * Whether a task of a target's family may do what the target might not. A target that may take any user's id, as root's
 * servers do before they serve, gains nothing by that.
 */
static __noinline bool has_gained_rights(struct task_struct *task, __u32 family)
{
	const __u64 setgid = 1u << 6, setuid = 1u << 7; /* include/uapi/linux/capability.h */
	__u32 ids[8] = {}; /* user and group by turns */
	__u64 capabilities = 0;
	__u32 number = family - 1;
	if (number >= target_count || number >= ICEPATH_TARGETS)
		return true;
	const volatile struct icepath_rights *might = &target_rights[number & (ICEPATH_TARGETS - 1)];
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	if (bpf_core_read(ids, sizeof(ids), &cred->uid) ||
		bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted))
		return true;
	if (BPF_CORE_READ(cred, user_ns, level) == 0 && (capabilities & ~might->capabilities))
		return true;
	return (!(might->capabilities & setuid) && has_other_id(ids, might->users, 0)) ||
		   (!(might->capabilities & setgid) && has_other_id(ids, might->groups, 1));
}

#endif
