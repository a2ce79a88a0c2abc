// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run's middleware needs besides workers: the space in which they run, and daemons. One thread.
#include <atomic>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpuset/cpulist.h"
#include "profiler/isolation/keeper.h"
#include "profiler/model/arm.h"
#include "profiler/model/cell.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/middleware_space.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

// A plug-in's daemon: a worker process that becomes it.
class Daemon {
public:
	// Doesn't start the daemon yet. Throws WorkerFailed, as start() does.
	Daemon(const std::string &plugin, const MiddlewareSpace &space, const Environment &environment = {});
	// See worker::identity_of(); empty: the plug-in needs none, and start() does nothing.
	const std::string &identity() const { return identity_; }
	// Returns once the daemon is ready. It runs on `cpus`; empty: where this process does. `helper`, if any, follows
	// its threads. Throws WorkerFailed.
	void start(const cpuset::CpuList &cpus, privilege::Helper *helper, const std::atomic<bool> *interrupted);
	// "the daemon iox-roudi was killed by signal 9 (Killed)", or that it is stopped; nothing: neither.
	std::optional<std::string> end() const;
	// Makes room for further output. Call it between blocks.
	void empty_log();
	WorkerProcess *process() const { return worker_ ? &worker_->process() : nullptr; } // nullptr: there is none
	const std::string &what() const { return worker_->what(); } // "daemon iox-roudi"; only where there is a process
	uint32_t family() const { return family_; } // the helper's number; 0: it isn't followed
	std::optional<clockid_t> clock() const; // see Surroundings

private:
	worker::Reply ask(worker::RequestKind kind, const std::vector<int> &fds);
	std::string last_words() const;
	void await(const std::string &ready, const std::atomic<bool> *interrupted) const;
	const std::string plugin_;
	std::string identity_;
	size_t written() const; // bytes of the log since it was emptied
	std::string last_printed(size_t written) const;
	Fd output_; // the log: see kLogBytes
	std::string printed_before_; // the end of the log before it was last emptied
	std::unique_ptr<Worker> worker_; // nullptr: the plug-in needs no daemon
	uint32_t family_ = 0;
};

// What is done for each worker.
struct Isolated {
	bool locks_memory = false; // of the worker
	bool pins_library_threads = true; // to the CPU of their side, where that sleeps
	isolation::Keeper *keeper = nullptr; // moves it into the run's partition; nullptr: there is none
};

// Where the workers of a cell run, and what runs beside them.
struct Surroundings {
	const MiddlewareSpace *space = nullptr; // nullptr: in icepath's namespaces
	uint32_t daemon_family = 0; // the helper's number; 0: no daemon is followed
	std::optional<clockid_t> daemon_clock; // CPU time of all its threads; nothing without a daemon
	Isolated isolated = {};
	Environment environment = {}; // of the cell's arm
};

class Middleware {
public:
	// `helper`, if any, follows the threads of daemons; it must outlive this and have loaded its programs. Waiting for
	// a daemon stops once `interrupted` is set. `roots`: one for each arm, see MiddlewareSpace; empty: none. Daemons
	// run on `cpus`; empty: where this process does. `arms`: the run's.
	explicit Middleware(privilege::Helper *helper = nullptr, const std::atomic<bool> *interrupted = nullptr,
						const std::vector<privilege::RootSpace *> &roots = {}, cpuset::CpuList cpus = {},
						const std::vector<model::Arm> &arms = {});
	// Where workers of this plug-in run, for the cell's arm. The first call starts its daemon, and any makes it go on.
	// No space for kernel transports. Throws Failure.
	Surroundings surroundings_of(const model::Cell &cell, const std::string &plugin);
	// Why the plug-in's daemon no longer works: it has ended, or is stopped.
	std::optional<std::string> daemon_end(const std::string &plugin, const std::string &arm = "") const;
	void empty_logs(); // of all daemons: between blocks
	// nullptr: it has no process.
	const Daemon *find_daemon(const std::string &plugin, const std::string &arm = "") const;

private:
	// Nothing of an arm is shared with another: neither would have its own library's daemon.
	struct OfArm {
		Environment environment;
		std::vector<std::string> folders; // of the arm, which stay visible in its space
		privilege::RootSpace *root = nullptr;
		std::optional<MiddlewareSpace> space; // made when first needed
		std::map<std::string, std::shared_ptr<Daemon>> daemons; // by plug-in; those with the same daemon share it
		std::map<std::string, std::string> failures; // by plug-in; a daemon that failed to start isn't tried again
	};
	std::shared_ptr<Daemon> daemon_for(const std::string &plugin, OfArm &arm);

	privilege::Helper *helper_;
	const std::atomic<bool> *interrupted_;
	const cpuset::CpuList cpus_;
	std::map<std::string, OfArm> arms_; // by name; "": a run without arms
};

} // namespace icepath::run
