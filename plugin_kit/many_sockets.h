// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fan-in's receiver with a connection for each sender. A thread can't sleep in recv(2) on several sockets, so it
// waits for all of them with epoll, or tries one after the other. Once a message's first bytes have come from a socket,
// the rest is awaited there.
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
	// Receives from the next socket in turn. `stream`: the sockets keep no message boundaries.
	int recv(ChannelEnd &end, icepath_recv &message, bool stream);
	const std::vector<int> &sockets() const { return sockets_; }

private:
	// The index of a socket that may have a message; -1: see `status`, ICEPATH_OK after a signal.
	int next(ChannelEnd &end, icepath_recv &message, int &status);
	int next_ready(ChannelEnd &end, icepath_recv &message, int &status);

	std::vector<int> sockets_;
	int epoll_ = -1; // of all sockets
	std::vector<int> epolls_; // one for each socket
	// The last wait's results. Each is served once before the next, so that a fast sender can't starve the others.
	std::vector<epoll_event> ready_;
	size_t told_ = 0, served_ = 0;
	size_t turn_ = 0;
};

} // namespace icepath::plugin_kit
