// SPDX-License-Identifier: Apache-2.0
#pragma once
// icepath-workers as icepath sees them: started, asked, ended. One thread.
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/run/middleware_space.h"
#include "profiler/worker/protocol.h"

namespace icepath::run {

// A worker died, hung or answered nonsense: its cell is over, the others go on.
class WorkerFailed : public Failure {
public:
	explicit WorkerFailed(const std::string &sentence, bool waited_in_vain = false, bool passes = false)
		: Failure(ExitCode::Invalid, sentence), knows_why(!waited_in_vain), may_pass(passes)
	{}
	const bool knows_why; // false: what another worker says is better
	const bool may_pass; // the worker itself said it, and lives: another try may do
};

// A program that was started with a control socket for each side that it is. It ends with the last of them.
class WorkerProcess {
public:
	// `what` names it in sentences ("sender of uds-stream …"). `sockets`: the program's ends. `space`: where it runs; nullptr:
	// where icepath does.
	WorkerProcess(const std::string &program, std::string what, const std::vector<Fd> &sockets, bool one_thread,
				  const MiddlewareSpace *space);
	~WorkerProcess(); // ends it, by its pidfd, and what it started, as its descendants and as its process group, and reaps it
	WorkerProcess(const WorkerProcess &) = delete;
	WorkerProcess &operator=(const WorkerProcess &) = delete;

	bool has_ended() const;
	// "the sender of … was killed by signal 9"; nothing while it runs.
	std::optional<std::string> end() const;
	// "the sender of … doesn't run: it is stopped"; nothing where it isn't.
	std::optional<std::string> stop() const;
	int pidfd() const { return pidfd_.get(); }
	pid_t pid() const { return pid_; }
	void call_it(const std::string &what) { what_ = what; }

private:
	Fd pidfd_;
	pid_t pid_ = -1;
	std::string what_;
};

// One side of a cell as icepath sees it: asked over a socket of its own, in a process that several sides may share.
class Worker {
public:
	// Starts a program that is one side; `what` names both in sentences ("uds-stream receiver").
	Worker(const std::string &program, const std::string &what, const MiddlewareSpace *space = nullptr);
	// Starts one that is several, in a thread each, or in one; `what` names the program, `sides` each of them.
	static std::vector<std::unique_ptr<Worker>> start(const std::string &program, const std::string &what,
													  const std::vector<std::string> &sides, bool one_thread,
													  const MiddlewareSpace *space = nullptr);

	// Sends a request and waits for its reply. Throws WorkerFailed with the worker's own sentence or with what became of it.
	worker::Reply ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received);
	void send(const worker::Request &request, const std::vector<int> &fds);
	worker::Reply receive(std::vector<Fd> &received, int timeout_ms);

	// Asks it to leave in order; its process has ended once its pidfd says so.
	void hang_up() { socket_ = Fd(); }

	int socket() const { return socket_.get(); }
	const WorkerProcess &process() const { return *process_; }
	const std::string &what() const { return what_; }
	std::string silence() const; // why it doesn't answer, as far as that can be seen
	// Names a program that is one side anew: what it has become.
	void call_it(const std::string &what);

private:
	Worker(std::shared_ptr<WorkerProcess> process, Fd socket, std::string what)
		: process_(std::move(process)), socket_(std::move(socket)), what_(std::move(what))
	{}
	[[noreturn]] void fail() const; // for want of a request or a reply
	std::shared_ptr<WorkerProcess> process_; // ends after the socket
	Fd socket_;
	std::string what_;
};

// Where this build has its worker, relative to the running program.
std::string worker_program();

} // namespace icepath::run
