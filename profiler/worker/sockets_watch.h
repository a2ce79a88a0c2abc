// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sockets of this process, whoever made them: a library needn't tell of them.
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "profiler/model/sockets.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {

// One thread.
class SocketsWatch {
public:
	// `controls`: sockets that aren't looked at.
	explicit SocketsWatch(const std::vector<int> &controls);

	// Walks /proc/self/fd. What sockets counted is told from the look before on, or since they were made.
	SocketsReply look();

private:
	struct Counted {
		uint64_t dropped = 0, retransmitted = 0;
	};
	void add(int socket, uint64_t inode, SocketsReply &reply);

	std::set<uint64_t> left_out_; // inodes
	std::map<uint64_t, Counted> before_, now_; // by inode
};

} // namespace icepath::worker
