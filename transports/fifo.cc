// SPDX-License-Identifier: Apache-2.0
// Named pipes, one for each direction. The name exists only while side 0 opens both ends, so nobody else can join.
//
// Behind the name is the pipe_inode_info of an anonymous pipe, read and written by the same code (fs/pipe.c). The inode
// differs: a FIFO's lies on a file system, and each call may have to update its access and modification times
// (fifo_pipe_read, fifo_pipe_write). Since Linux 6.15, an anonymous pipe has no such times; before, they cost the same.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>

#include "plugin_kit/pipe_channel.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

const char *folder()
{
	const char *wanted = std::getenv("TMPDIR");
	return wanted && *wanted ? wanted : "/tmp";
}

const icepath_target *target(uint32_t n)
{
	static char why[160];
	static const icepath_target fifo = [] {
		icepath_target it = for_fan_in(
			pipe_target("fifo", "named pipes, one for each direction: a byte stream, framed by the known size"));
		if (access(folder(), W_OK | X_OK)) {
			std::snprintf(why, sizeof(why), "%.60s can't be written (%s): set TMPDIR to a folder that can", folder(),
						  std::strerror(errno));
			it.why_not = why;
		}
		return it;
	}();
	return n == 0 ? &fifo : nullptr;
}

// The reader is opened first, without waiting for a writer, so neither open(2) blocks (fifo_open).
bool open_both(const char *path, int ends[2])
{
	ends[0] = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	ends[1] = ends[0] < 0 ? -1 : open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (ends[1] >= 0 && fcntl(ends[0], F_SETFL, 0) == 0)
		return true;
	const int error = errno;
	close_all({ends[0], ends[1]});
	errno = error;
	return false;
}

bool make_fifo(const char *name, int ends[2])
{
	char path[512];
	const int length = std::snprintf(path, sizeof(path), "%s/%s", folder(), name);
	if (length < 0 || length >= static_cast<int>(sizeof(path))) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (mkfifo(path, 0600))
		return false;
	const bool opened = open_both(path, ends);
	const int error = errno;
	unlink(path);
	errno = error;
	return opened;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_pipes(how, *target(0), make_fifo, endpoint, address);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = pipe_table("fifo", target, open_end);
	return &plugin;
}
