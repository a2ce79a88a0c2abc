// SPDX-License-Identifier: Apache-2.0
// Anonymous pipes, one for each direction, made by side 0. The caller ignores SIGPIPE, so that a dead reader is EPIPE.
#include <fcntl.h>

#include "plugin_kit/pipe_channel.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target pipe = for_fan_in(
		pipe_target("pipe", "anonymous pipes, one for each direction: a byte stream, framed by the known size"));
	return n == 0 ? &pipe : nullptr;
}

bool make_pipe(const char *, int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_pipes(how, *target(0), make_pipe, endpoint, address);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = pipe_table("pipe", target, open_end);
	return &plugin;
}
