// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/unfollowed.h"

#include <sys/syscall.h>

#include <utility>

#include "profiler/model/task_name.h"

namespace icepath::attach {
namespace {

constexpr size_t kKinds = 16; // more than there are of what isn't followed

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
		name(record.tid, model::task_name(record.thread.comm));
		return;
	}
	if (record.type != ICEPATH_RECORD_CALL)
		return;
	const char *what = what_by_object(record.call.object_kind);
	if (!what)
		what = what_by_number(record.call.number);
	if (!what)
		return;
	std::pair<std::string, std::string> of(what, name_of(record.tid));
	if (calls_.size() + kKinds >= most_ && !calls_.contains(of))
		of.second = "others";
	calls_[of]++;
}

void Unfollowed::name(uint32_t tid, const std::string &name)
{
	if (names_.size() == kMostNames)
		earlier_names_ = std::exchange(names_, {});
	names_[tid] = name;
}

std::string Unfollowed::name_of(uint32_t tid)
{
	if (const auto found = names_.find(tid); found != names_.end())
		return found->second;
	const auto earlier = earlier_names_.find(tid);
	if (earlier == earlier_names_.end())
		return "";
	const std::string its = earlier->second;
	name(tid, its); // it is still used
	return its;
}

std::vector<model::UnfollowedCalls> Unfollowed::all() const
{
	std::vector<model::UnfollowedCalls> all;
	for (const auto &[of, calls] : calls_)
		if (all.size() < most_)
			all.push_back({of.first, of.second, calls});
	return all;
}

} // namespace icepath::attach
