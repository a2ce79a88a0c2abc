// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint whose messages go through pipes, one for each direction: all of pipe and fifo but what makes one.
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
	std::shared_ptr<icepath::plugin_kit::PageRing> pages; // where a pipe refers to them instead of copying
};

namespace icepath::plugin_kit {

// What every target made of pipes says of itself.
icepath_target pipe_target(const char *name, const char *summary);

// The same, if each message is written by one call: then several may write, and none of PIPE_BUF bytes or fewer is mixed with
// another's (pipe(7)).
icepath_target for_fan_in(icepath_target pipe);

// Makes one pipe as pipe2(2) does, both ends blocking; false with errno set. `name` is unique on this machine.
using MakePipe = bool (*)(const char *name, int ends[2]);

// All of open(). Side 0 makes the pipes and hands the ends that it doesn't use to the peer.
int open_pipes(const icepath_open *how, const icepath_target &target, MakePipe make, icepath_endpoint **endpoint,
			   icepath_address *address);

icepath_plugin pipe_table(const char *name, decltype(icepath_plugin::target) target,
						  decltype(icepath_plugin::open) open);

} // namespace icepath::plugin_kit
