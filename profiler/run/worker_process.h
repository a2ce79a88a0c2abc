// SPDX-License-Identifier: Apache-2.0
#pragma once
// One icepath-worker as icepath sees it: started, asked, ended. One thread.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/plan/plan.h"
#include "profiler/worker/protocol.h"

namespace icepath::run {

// A worker died, hung or answered nonsense: its cell is over, the others go on.
class WorkerFailed : public Failure {
public:
	explicit WorkerFailed(const std::string &sentence, bool waited_in_vain = false)
		: Failure(ExitCode::Invalid, sentence), knows_why(!waited_in_vain)
	{}
	const bool knows_why; // false: what another worker says is better
};

class WorkerProcess {
public:
	// Starts the program; `what` names the worker in sentences ("uds-stream receiver").
	WorkerProcess(const std::string &program, std::string what);
	~WorkerProcess(); // ends it, by its pidfd, and reaps it
	WorkerProcess(WorkerProcess &&) = default;
	WorkerProcess &operator=(WorkerProcess &&) = delete;

	// Sends a request and waits for its reply. Throws WorkerFailed with the worker's own sentence or with what became of it.
	worker::Reply ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received);
	void send(const worker::Request &request, const std::vector<int> &fds);
	worker::Reply receive(std::vector<Fd> &received, int timeout_ms);

	int socket() const { return socket_.get(); }
	int pidfd() const { return pidfd_.get(); }
	pid_t pid() const { return pid_; }
	const std::string &what() const { return what_; }

private:
	std::string fate(); // "was killed by signal 9", "exited with 1", "doesn't answer"
	Fd socket_, pidfd_;
	pid_t pid_ = -1;
	std::string what_;
};

// Where this build has its worker, relative to the running program.
std::string worker_program();

// Folders that are searched for icepath-<name>.so: those of ICEPATH_PLUGIN_PATH, separated by ':', or else ../lib/icepath
// beside the folder of the running program.
std::vector<std::string> plugin_folders();
std::vector<std::string> plugin_paths();

// Asks every plug-in for its targets, each in a worker of its own. A plug-in that fails is told in `notices`. Throws
// Failure(MachineCannot) where there is no plug-in at all.
std::vector<plan::Target> describe_targets(std::vector<std::string> &notices);

} // namespace icepath::run
