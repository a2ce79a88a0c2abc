// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fan-in's receiver where each sender has a connection of its own. A thread can't sleep in recv(2) of several sockets, so it
// waits by epoll for all of them, or tries one after the other. Once a message's first bytes have come from one of them, its
// rest is awaited there.
#include <sys/epoll.h>

#include <vector>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

class ManySockets {
public:
	ManySockets() = default;
	~ManySockets();
	ManySockets(const ManySockets &) = delete;
	ManySockets &operator=(const ManySockets &) = delete;

	// Takes ownership. False with errno set.
	bool add(int socket, icepath_wait wait);
	// A message from the one whose turn it is. `stream`: the sockets keep no message boundaries.
	int recv(ChannelEnd &end, icepath_recv &message, bool stream);
	const std::vector<int> &sockets() const { return sockets_; }

private:
	// The number of one that may have a message; -1: status says why not, ICEPATH_OK where a signal came.
	int next(ChannelEnd &end, icepath_recv &message, int &status);
	int next_ready(ChannelEnd &end, icepath_recv &message, int &status);

	std::vector<int> sockets_;
	int epoll_ = -1; // over all
	std::vector<int> epolls_; // over each
	// What the last wait told of: each is served once before the next wait, so that nobody who sends fast shuts others out.
	std::vector<epoll_event> ready_;
	size_t told_ = 0, served_ = 0;
	size_t turn_ = 0;
};

} // namespace icepath::plugin_kit
