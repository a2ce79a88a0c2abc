// SPDX-License-Identifier: Apache-2.0
#pragma once
// icepath's side of icepath-worker processes: starts, asks and ends them. One thread.
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/run/middleware_space.h"
#include "profiler/worker/protocol.h"

namespace icepath::run {

// Variables that a worker has instead of icepath's own, or beside them.
using Environment = std::vector<std::pair<std::string, std::string>>;

// A worker died, hung or sent an invalid reply: its cell is over, the others continue.
class WorkerFailed : public Failure {
public:
	explicit WorkerFailed(const std::string &sentence, bool waited_in_vain = false, bool passes = false)
		: Failure(ExitCode::Invalid, sentence), knows_why(!waited_in_vain), may_pass(passes)
	{}
	const bool knows_why; // false: another worker's reason is better
	const bool may_pass; // the worker itself reported the failure, and lives: another try may succeed
};

// A process with one control socket for each of its sides. It exits when the last of them closes.
class WorkerProcess {
public:
	// `what` names it in messages ("sender of uds-stream …"). `sockets`: the program's ends. `space`: where it runs;
	// nullptr: in icepath's namespaces.
	WorkerProcess(const std::string &program, std::string what, const std::vector<Fd> &sockets, bool one_thread,
				  const MiddlewareSpace *space, const Environment &environment);
	// Kills and reaps it, and kills its descendants and its process group.
	~WorkerProcess();
	WorkerProcess(const WorkerProcess &) = delete;
	WorkerProcess &operator=(const WorkerProcess &) = delete;

	bool has_ended() const;
	// "the sender of … was killed by signal 9"; nothing while it lives.
	std::optional<std::string> end() const;
	// "the sender of … doesn't run: it is stopped"; nothing if it isn't stopped, or stands still.
	std::optional<std::string> stop() const;
	// All of its threads, by SIGSTOP, until go_on(): still_cells.h says why. A process that can't be stopped runs on.
	void stand_still();
	void go_on();
	bool stands_still() const { return stands_still_; } // or will, once its threads have left the kernel
	bool has_stopped() const; // its threads stand still by now, or it has ended
	int pidfd() const { return pidfd_.get(); }
	pid_t pid() const { return pid_; }
	void call_it(const std::string &what) { what_ = what; }

private:
	Fd pidfd_;
	pid_t pid_ = -1;
	std::string what_;
	bool stands_still_ = false;
};

// icepath's handle of one side of a cell: a control socket of its own, and a process that several sides may share.
class Worker {
public:
	// Starts a process for one side. `what` names both in messages ("uds-stream receiver").
	Worker(const std::string &program, const std::string &what, const MiddlewareSpace *space = nullptr,
		   const Environment &environment = {});
	// Starts a process for several sides, with a thread for each or one for all. `what` and `sides`: their names.
	static std::vector<std::unique_ptr<Worker>> start(const std::string &program, const std::string &what,
													  const std::vector<std::string> &sides, bool one_thread,
													  const MiddlewareSpace *space = nullptr,
													  const Environment &environment = {});

	// Sends a request and waits for its reply. Throws WorkerFailed, with the worker's own message if there is one.
	worker::Reply ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received);
	void send(const worker::Request &request, const std::vector<int> &fds);
	worker::Reply receive(std::vector<Fd> &received, int timeout_ms);

	// Asks it to leave in order. Its pidfd becomes readable when the process has ended.
	void hang_up() { socket_ = Fd(); }

	int socket() const { return socket_.get(); }
	const WorkerProcess &process() const { return *process_; }
	WorkerProcess &process() { return *process_; }
	const std::string &what() const { return what_; }
	std::string silence() const; // why it doesn't answer, as far as icepath can see
	// Renames a process of one side, for messages.
	void call_it(const std::string &what);

private:
	Worker(std::shared_ptr<WorkerProcess> process, Fd socket, std::string what)
		: process_(std::move(process)), socket_(std::move(socket)), what_(std::move(what))
	{}
	[[noreturn]] void fail() const; // for a request that wasn't sent or a reply that didn't come
	std::shared_ptr<WorkerProcess> process_; // before socket_: the socket closes first
	Fd socket_;
	std::string what_;
};

// Path of the worker, which stands beside the running program.
std::string worker_program();

} // namespace icepath::run
