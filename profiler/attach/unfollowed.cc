// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/unfollowed.h"

#include <sys/syscall.h>

#include "profiler/model/task_name.h"

namespace icepath::attach {
namespace {

// nullptr: it is followed, or exchanges nothing.
const char *what_by_object(uint8_t kind)
{
	switch (kind) {
	case ICEPATH_OBJECT_UNIX_DATAGRAM:
		return "UNIX datagrams";
	case ICEPATH_OBJECT_UNIX_SEQPACKET:
		return "UNIX packets";
	case ICEPATH_OBJECT_UDP:
		return "UDP";
	case ICEPATH_OBJECT_SOCKET:
		return "other sockets";
	case ICEPATH_OBJECT_QUEUE:
		return "POSIX message queues";
	case ICEPATH_OBJECT_ANONYMOUS:
		return "eventfd and the like";
	default:
		return nullptr;
	}
}

const char *what_by_number(uint32_t number)
{
	switch (number) {
	case SYS_io_uring_enter:
		return "io_uring";
	case SYS_msgsnd:
	case SYS_msgrcv:
		return "System V message queues";
	case SYS_semop:
	case SYS_semtimedop:
		return "System V semaphores";
	case SYS_futex:
		return "futex";
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
		return "other processes' memory";
	default:
		return nullptr;
	}
}

} // namespace

void Unfollowed::add(const icepath_record &record)
{
	if (record.type == ICEPATH_RECORD_THREAD) {
		names_[record.tid] = model::task_name(record.thread.comm);
		return;
	}
	if (record.type != ICEPATH_RECORD_CALL)
		return;
	const char *what = what_by_object(record.call.object_kind);
	if (!what)
		what = what_by_number(record.call.number);
	if (what)
		calls_[{what, names_[record.tid]}]++;
}

std::vector<model::UnfollowedCalls> Unfollowed::all(size_t most) const
{
	std::vector<model::UnfollowedCalls> all;
	for (const auto &[of, calls] : calls_)
		if (all.size() < most)
			all.push_back({of.first, of.second, calls});
	return all;
}

} // namespace icepath::attach
