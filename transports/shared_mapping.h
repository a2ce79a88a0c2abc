// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory without a name that two processes map: made by one, mapped by both from its file descriptor.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>

#include "icepath/plugin.h"
#include "transports/sentence.h"

namespace icepath::transports {

// A memfd of that size, or -1 with errno set. Allocated at once, so that a lack of memory is an error here and not a
// SIGBUS later; sealed, so that the peer can't take it away.
inline int make_shared_memory(uint64_t bytes)
{
	const int fd = memfd_create("icepath-transport", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		return fd;
	const int error = errno;
	close(fd);
	errno = error;
	return -1;
}

// Maps all of it, present from the start. Leaves `fd` open.
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
		// A file_mapping opens by path; this one leads to the memfd, whoever it came from.
		const ipc::file_mapping mapping(path, ipc::read_write);
		ipc::mapped_region(mapping, ipc::read_write, 0, bytes, nullptr, MAP_POPULATE).swap(region);
	} catch (const std::exception &error) {
		return sentence.tell(ICEPATH_FAILED, "cannot map the shared memory (%s): %s", path, error.what());
	}
	return ICEPATH_OK;
}

} // namespace icepath::transports
