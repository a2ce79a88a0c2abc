// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process that injects: like the root helper it is forked before icepath gives root up, and answers a small fixed set of requests
// over a socket pair: what injector.cc lists, by name, one at a time, on CPUs that it is given. It opens no path that it was given, runs
// no program, and touches no process but children of the icepath that forked it, of the invoking user. It isn't root by then, but
// has a few of root's rights (injector_rights.h). It ends when the socket closes or icepath has ended, and what it put in with it.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"
#include "profiler/selftest/injections.h"

namespace icepath::selftest {

class InjectorProcess {
public:
	// Forks; the caller then gives root up. Throws Failure(MachineCannot).
	explicit InjectorProcess(const privilege::Identity &user);
	InjectorProcess(const InjectorProcess &) = delete;
	InjectorProcess &operator=(const InjectorProcess &) = delete;

	// Keeps CPUs from deep idle, as long as nothing is injected that is about them: waking varies by more than what is injected.
	// From its beginning on. Why not, where this machine doesn't let it; empty: done.
	const std::string &why_not_awake() const { return why_not_awake_; }

	// Puts an injection in and takes it away again at once: why that can't be done here; empty: it can. Throws Failure where the process
	// is lost.
	std::string try_it(const std::string &name, const std::vector<uint32_t> &cpus);

	// For one block: does for the workers what their traffic wants (Traffic::shielded, Traffic::sender_awake), and puts in the
	// injection of that name, if it isn't empty. `tids`: by side, each a process of its own. Throws Failure.
	void begin(const std::string &name, const Traffic &traffic, const std::vector<uint32_t> &cpus,
			   const std::vector<uint32_t> &tids);
	void end() noexcept;

	// Ends the process. A sentence where it was lost before or can't be ended; empty: it has ended in order.
	std::string finish();

	pid_t pid() const { return process_.pid(); }

private:
	// Why it couldn't be done; empty: it is. Throws Failure where the process doesn't answer, and then at once ever after.
	std::string ask(const struct InjectorRequest &request, int patience_ms, const std::vector<int> &fds = {});
	bool await_answer(int patience_ms) const;
	void lose();

	privilege::RootProcess process_;
	std::string lost_; // how; empty: it isn't
	std::string why_not_awake_;
};

} // namespace icepath::selftest
