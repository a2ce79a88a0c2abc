// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that keeps some of root's rights while icepath gives them up: started before that, it serves one socket.
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
	// `name`: for ps(1) and messages. `kept`: see keep_only(); nothing: all of icepath's rights, for a process that
	// limits itself, or that starts workers as root. `serve` runs in the process, with its end of the socket and
	// icepath's process id, and returns when the socket closes or icepath has ended, or throws, which ends it as
	// well; of icepath's descriptors, only the standard ones are open there. Throws Failure(MachineCannot), also if the
	// rights can't be limited.
	RootProcess(const char *name, const Identity &user, const std::optional<Rights> &kept,
				const std::function<void(int socket, pid_t icepath)> &serve);
	// Instead of continuing as a copy of icepath, executes `program`, which limits itself. Its descriptor
	// kSocketOfProgram is its end of the socket; it has no environment. It begins with tell_beginning().
	RootProcess(const char *name, const Fd &program, std::vector<std::string> arguments);
	~RootProcess(); // end()
	RootProcess(const RootProcess &) = delete;
	RootProcess &operator=(const RootProcess &) = delete;

	// Closes the socket, which ends the process; if it hangs, kills it after `patience_ms`. True: it is gone.
	bool end(int patience_ms = 2000);

	int socket() const { return socket_.get(); }
	pid_t pid() const { return pid_; } // -1: gone
	// Once it is gone: the signal that ended it; 0: none, or end() sent it.
	int ended_by() const { return ended_by_; }

private:
	void start(const std::function<void(int socket, pid_t icepath)> &in_child);

	Fd socket_, pidfd_;
	const std::string name_;
	pid_t pid_ = -1;
	int ended_by_ = 0;
};

inline constexpr int kSocketOfProgram = 3;

// The process's first message: why it can't serve; empty: it can. False: icepath is gone.
bool tell_beginning(int socket, const std::string &why_not);

// A terminal's Ctrl-C or hang-up goes to the whole process group, but icepath decides when this process ends.
void ignore_terminal();

// Closes every descriptor but the standard ones and these. False with errno set.
bool close_all_but(std::vector<int> kept);

} // namespace icepath::privilege
