// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run's middleware needs beside its workers: the space in which they run, and its daemons. One thread.
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "profiler/run/middleware_space.h"
#include "profiler/run/worker_process.h"
#include "profiler/rundir/run.h"

namespace icepath::run {

// A daemon of a plug-in: a worker became it.
class Daemon {
public:
	// Returns once it can be used; a plug-in without one starts nothing. Throws WorkerFailed with what became of it instead.
	Daemon(const std::string &plugin, const MiddlewareSpace &space);
	// "iox-roudi was killed by signal 9 (Killed)"; nothing while it runs, or where there is none.
	std::optional<std::string> end() const;

private:
	std::string last_words() const;
	void await(const std::string &ready) const;
	Fd output_; // a memfd: it is never full, and leaves nothing behind
	std::unique_ptr<Worker> worker_; // none: the plug-in needs no daemon
};

class Middleware {
public:
	// Where workers of this plug-in run; its daemon is started before the first. Nothing for kernel transports. Throws Failure.
	const MiddlewareSpace *space_for(const rundir::Cell &cell, const std::string &plugin);
	// Why the plug-in's daemon is no more.
	std::optional<std::string> daemon_end(const std::string &plugin) const;

private:
	std::optional<MiddlewareSpace> space_; // since it was first needed
	std::map<std::string, std::unique_ptr<Daemon>> daemons_; // by plug-in
	std::map<std::string, std::string> failures_; // of those that couldn't be started: they aren't tried again
};

} // namespace icepath::run
