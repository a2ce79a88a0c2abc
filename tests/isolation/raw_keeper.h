// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keeper as icepath forks it, without the class that asks it properly; and what it changes of this machine.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/isolation/keeper.h"
#include "profiler/isolation/keeper_requests.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"

namespace icepath::isolation {

privilege::Identity nobody();

// Every knob of the list that this machine has, by its path.
std::map<std::string, std::string> knobs_of_this_machine();
// As before within 10 s, or what is so then.
std::map<std::string, std::string> knobs_after(const std::map<std::string, std::string> &before);

// The last CPU that is online; nothing where that leaves none for the rest of the machine.
std::optional<uint32_t> last_cpu();

class RawKeeper {
public:
	RawKeeper(); // of the user nobody
	RawKeeper(const RawKeeper &) = delete;
	RawKeeper &operator=(const RawKeeper &) = delete;

	bool send(const void *message, size_t bytes, const std::vector<int> &fds = {});
	// Empty where the keeper is gone, or says nothing.
	std::vector<KeeperReply> ask(const KeeperRequest &request, const std::vector<int> &fds = {});
	bool has_ended(); // within 10 s
	size_t open_descriptors() const;
	pid_t pid() const { return process_.pid(); }

private:
	privilege::RootProcess process_;
};

// An icepath of the user nobody's, in a process of its own, that waits for its end. Killed by the destructor.
class IcepathWithKeeper {
public:
	// `changes`: what it has its keeper do. `before`: what it does first, as root; false: it couldn't.
	explicit IcepathWithKeeper(
		const std::function<void(Keeper &)> &changes, const std::function<bool()> &before = [] { return true; });
	~IcepathWithKeeper() { end(); }
	IcepathWithKeeper(const IcepathWithKeeper &) = delete;
	IcepathWithKeeper &operator=(const IcepathWithKeeper &) = delete;
	void end();
	pid_t pid() const { return pid_; }
	pid_t keeper() const { return keeper_; }

private:
	pid_t pid_ = -1, keeper_ = -1;
};

KeeperRequest request_of(KeeperRequest::Kind kind, const std::vector<uint32_t> &cpus = {});

} // namespace icepath::isolation
