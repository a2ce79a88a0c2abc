// SPDX-License-Identifier: Apache-2.0
#pragma once
// The injecting process. Like the root helper it is forked before icepath gives up root, and answers a small fixed set
// of requests over a socket pair: the injections of injector.cc, by name, one at a time, on given CPUs. It opens no
// path from a request, runs no program, and touches only children of the icepath that forked it, which run as the
// invoking user. By then it isn't root, but has a few of root's rights (injector_rights.h). It ends when the socket
// closes or icepath has ended, and its injections end with it.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"
#include "profiler/selftest/injections.h"

namespace icepath::selftest {

class InjectorProcess {
public:
	// Forks; the caller then gives up root. Throws Failure(MachineCannot).
	explicit InjectorProcess(const privilege::Identity &user);
	InjectorProcess(const InjectorProcess &) = delete;
	InjectorProcess &operator=(const InjectorProcess &) = delete;

	// Keeps CPUs from deep idle, from its start on, except during an injection about idle states: wake-ups vary by more
	// than the injections add. Returns why this machine refuses; empty: done.
	const std::string &why_not_awake() const { return why_not_awake_; }

	// Starts an injection and ends it at once. Returns why it isn't possible here; empty: possible. Throws Failure if
	// the process is lost.
	std::string try_it(const std::string &name, const std::vector<uint32_t> &cpus);

	// For one block: prepares the workers as their traffic requires (Traffic::shielded, Traffic::sender_awake), and
	// starts the named injection, if the name isn't empty. `tids`: by side, each in its own process. Throws Failure.
	void begin(const std::string &name, const Traffic &traffic, const std::vector<uint32_t> &cpus,
			   const std::vector<uint32_t> &tids);
	void end() noexcept;

	// Ends the process. Returns a sentence if it was lost before or can't be ended; empty: it ended normally.
	std::string finish();

	pid_t pid() const { return process_.pid(); }

private:
	// Returns why it failed; empty: done. Throws Failure if the process doesn't answer, then at once in later calls.
	std::string ask(const struct InjectorRequest &request, int patience_ms, const std::vector<int> &fds = {});
	bool await_answer(int patience_ms) const;
	void lose();

	privilege::RootProcess process_;
	std::string lost_; // the reason; empty: not lost
	std::string why_not_awake_;
};

} // namespace icepath::selftest
