// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processes for tests of the injecting process: itself, without the class that sends proper requests, and its subjects.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"
#include "profiler/selftest/injector_requests.h"

namespace icepath::selftest {

inline const privilege::Identity kSomebody{65532, 65532, "somebody", true, false, {65532}, "/"};

class RawInjector {
public:
	RawInjector(); // for this process and kSomebody
	// Nothing: it is gone, or doesn't answer.
	std::optional<InjectorReply> ask(const InjectorRequest &request, const std::vector<int> &fds = {});
	bool is_well(); // it still answers
	bool has_ended() const; // waits at most 10 s
	pid_t pid() const { return pid_; }
	int socket() const { return process_.socket(); }

private:
	privilege::RootProcess process_;
	const pid_t pid_;
	Fd pidfd_;
};

InjectorRequest request_of(InjectorRequest::Kind kind, const std::string &name = "");

// A child of this process that runs as a user and waits to be ended, in its own network namespace or in this one's. The
// destructor kills and reaps it.
class Worker {
public:
	enum class Network { Own, OfTheMachine };
	explicit Worker(Network network = Network::Own, uid_t user = kSomebody.uid);
	~Worker();
	Worker(const Worker &) = delete;
	Worker &operator=(const Worker &) = delete;
	pid_t pid() const { return pid_; }
	int pidfd() const { return pidfd_.get(); }

private:
	pid_t pid_ = -1;
	Fd pidfd_;
};

bool ends(int pidfd); // within 10 s

std::vector<pid_t> children_of(pid_t process);
std::vector<std::string> groups_of_selftests(); // control groups
std::string field_of(pid_t process, const std::string &name); // of /proc/PID/status

} // namespace icepath::selftest
