// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keeper: a process that goes on as root while a run is under `--isolate full`, changes what that takes of the machine, and puts it
// back: when it is asked to, when icepath ends in whatever way, and when it is told to end (SIGTERM). If it is killed itself, the journal
// has what the next keeper, or `icepath doctor --restore`, puts back.
//
// It stays user 0, because the kernel lets no other write to the files of /proc/sys, and nobody else may end it. It has one capability,
// to move workers of middleware's user namespaces (CAP_SYS_NICE), and once it has isolated it can open no file for writing.
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "cpuset/step.h"
#include "profiler/failure.h"
#include "profiler/isolation/keeper_requests.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"

namespace icepath::isolation {

// It died, or doesn't answer: what was isolated may not be any more.
class KeeperLost : public Failure {
public:
	using Failure::Failure;
};

class Keeper {
public:
	// To be made as root, which the caller then gives up. Throws Failure(MachineCannot).
	explicit Keeper(const privilege::Identity &user);
	~Keeper(); // put_back()
	Keeper(const Keeper &) = delete;
	Keeper &operator=(const Keeper &) = delete;

	// What an earlier keeper that was killed has left. Sentences as of put_back(). Throws Failure(MachineCannot), KeeperLost.
	std::vector<std::string> put_back_leftovers();
	// Once. Throws Failure(MachineCannot): not here, not so many CPUs, not now, with nothing changed; KeeperLost.
	std::vector<cpuset::Step> isolate(const cpuset::CpuList &measured);
	// A child of this process: where others are kept out. To be done before it is pinned, as it loses that. Throws Failure, KeeperLost.
	void admit(int pidfd);
	// What somebody else has changed since the last look. Throws KeeperLost, also where the CPUs aren't the run's alone any more.
	std::vector<std::string> look();
	// What couldn't be put back, or is left since somebody else has changed it. Nothing where there is nothing to put back; a sentence
	// where the keeper is lost.
	std::vector<std::string> put_back() noexcept;

	pid_t pid() const { return process_.pid(); }

private:
	std::vector<KeeperReply> ask(KeeperRequest::Kind kind, const cpuset::CpuList &cpus, const std::vector<int> &fds,
								 int patience_ms);
	privilege::RootProcess process_;
	bool is_over_ = false; // put back, or lost
};

// The keeper's side.
void keep(int socket, pid_t icepath, uid_t user);

// Of the keeper, once it has isolated: it reads, writes to what it has open, and takes its control group away. Throws
// Failure(MachineCannot) where the kernel takes no filter.
void allow_keeping_calls_only();

} // namespace icepath::isolation
