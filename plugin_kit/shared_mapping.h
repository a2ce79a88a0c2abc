// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory without a name that two processes map: one makes it, both map it by its file descriptor. Also the endpoint of
// a transport that needs nothing else.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>

#include "icepath/plugin.h"
#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// A memfd of that size, or -1 with errno set. Allocated at once, so that a lack of memory is an error here, not a
// SIGBUS later; sealed, so that the peer can't shrink it. `flags`: further ones for memfd_create(2).
inline int make_shared_memory(uint64_t bytes, unsigned flags = 0)
{
	const int fd = memfd_create("icepath-transport", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	if (fd < 0)
		return -1;
	// Any signal interrupts it (shmem_fallocate), and so does task work, such as that of an io_uring closed earlier
	// (io_ring_exit_work).
	int error;
	do
		error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
	while (error == EINTR);
	if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		return fd;
	error = error ? error : errno;
	close(fd);
	errno = error;
	return -1;
}

// Maps and populates all of it. Leaves `fd` open.
inline int map_shared_memory(int fd, uint64_t bytes, boost::interprocess::mapped_region &region, Sentence &sentence)
{
	namespace ipc = boost::interprocess;
	struct stat file{};
	if (fstat(fd, &file) || static_cast<uint64_t>(file.st_size) < bytes)
		return sentence.tell(ICEPATH_FAILED, "the shared memory is smaller than the %llu bytes that were agreed on",
							 static_cast<unsigned long long>(bytes));
	char path[40];
	std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	try {
		// A file_mapping opens by path; this path leads to the memfd, whichever process made it.
		const ipc::file_mapping mapping(path, ipc::read_write);
		ipc::mapped_region(mapping, ipc::read_write, 0, bytes, nullptr, MAP_POPULATE).swap(region);
	} catch (const std::exception &error) {
		return sentence.tell(ICEPATH_FAILED, "cannot map the shared memory (%s): %s", path, error.what());
	}
	return ICEPATH_OK;
}

// A derived endpoint returns the channel's memory size from `uint64_t memory_bytes() const`, and finds its place in
// `void lay_out(uint8_t *first)`, called once `memory` is mapped.
struct SharedMemoryEnd : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~SharedMemoryEnd() { close_all({memory_fd}); }
	boost::interprocess::mapped_region memory;
	int memory_fd = -1;
};

template <class Endpoint> int map_own_memory(Endpoint &end)
{
	if (const int status = map_shared_memory(end.memory_fd, end.memory_bytes(), end.memory, end.sentence);
		status != ICEPATH_OK)
		return status;
	end.lay_out(static_cast<uint8_t *>(end.memory.get_address()));
	return ICEPATH_OK;
}

// The memory's part of open(): one side makes it and passes it to the other. `flags`: as for make_shared_memory().
template <class Endpoint> int set_up_memory(Endpoint &end, unsigned flags = 0)
{
	if (!end.makes())
		return ICEPATH_OK;
	end.memory_fd = make_shared_memory(end.memory_bytes(), flags);
	if (end.memory_fd < 0)
		return end.failed("memfd_create");
	const int theirs = fcntl(end.memory_fd, F_DUPFD_CLOEXEC, 0);
	if (theirs < 0)
		return end.failed("fcntl(F_DUPFD_CLOEXEC)");
	end.give(theirs);
	return map_own_memory(end);
}

// The rest of open() for ends that share memory. `join`: as for open_named().
template <class Endpoint, class Join> int open_with_memory(Endpoint &end, Join join)
{
	const int status = set_up_memory(end);
	return status == ICEPATH_OK ? open_named(end, join) : status;
}

// All of connect().
template <class Endpoint> int connect_memory(Endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 0)
		return ICEPATH_OK;
	end->memory_fd = peer->fds[0];
	return map_own_memory(*end);
}

} // namespace icepath::plugin_kit
