// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint over pipes, one for each direction: everything of pipe and fifo but how a pipe is made.
#include <memory>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {
class PageRing;
}

struct icepath_endpoint : icepath::plugin_kit::ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { icepath::plugin_kit::close_all({read_end, write_end, epoll}); }
	int read_end = -1, write_end = -1;
	int epoll = -1;
	std::shared_ptr<icepath::plugin_kit::PageRing> pages; // if pipes refer to pages instead of copying
};

namespace icepath::plugin_kit {

// The common description of targets made of pipes.
icepath_target pipe_target(const char *name, const char *summary);

// The same for messages of one call each: several may write, and up to PIPE_BUF bytes aren't mixed (pipe(7)).
icepath_target for_fan_in(icepath_target pipe);

// Makes one pipe as pipe2(2) does, both ends blocking; false with errno set. `name` is unique, and nobody can guess it.
using MakePipe = bool (*)(const char *name, int ends[2]);

// All of open(). Side 0 makes the pipes and passes the ends that it doesn't use to the peer.
int open_pipes(const icepath_open *how, const icepath_target &target, MakePipe make, icepath_endpoint **endpoint,
			   icepath_address *address);

icepath_plugin pipe_table(const char *name, decltype(icepath_plugin::target) target,
						  decltype(icepath_plugin::open) open);

} // namespace icepath::plugin_kit
