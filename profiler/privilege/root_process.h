// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that keeps some of root's rights while icepath goes on without: forked before that gives root up, it serves one socket.
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/rights.h"

namespace icepath::privilege {

class RootProcess {
public:
	// `name` is what ps(1) shows, and how sentences call it. `kept`: see keep_only(); nothing: all that icepath has, for a process that
	// starts others as root's. `serve` runs in it, with its end of the socket and icepath's number, and returns when the socket closes or
	// icepath has ended; no other descriptor of icepath's but the standard ones is open there. Throws Failure(MachineCannot), also
	// where the rights can't be limited.
	RootProcess(const char *name, const Identity &user, const std::optional<Rights> &kept,
				const std::function<void(int socket, pid_t icepath)> &serve);
	~RootProcess(); // end()
	RootProcess(const RootProcess &) = delete;
	RootProcess &operator=(const RootProcess &) = delete;

	// Its socket is closed, which ends it unless it hangs for 2 s; then it is killed. True: it is gone.
	bool end();

	int socket() const { return socket_.get(); }
	pid_t pid() const { return pid_; } // -1: it is gone

private:
	Fd socket_, pidfd_;
	const std::string name_;
	pid_t pid_ = -1;
};

// Closes every descriptor but the standard ones and these. False: errno says why.
bool close_all_but(std::vector<int> kept);

} // namespace icepath::privilege
