// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keeper: a process that stays root while a run is under `--isolate full` or `--tune`. It changes the machine and
// restores it: on request, when icepath ends, however that ends, and on SIGTERM. If the keeper itself is killed, the
// next keeper or `icepath doctor --restore` restores the machine from the journal.
//
// It stays user 0, because the kernel lets no other user write to the files of /proc/sys, and because no other user may
// end it. It leaves its caller (privilege/leave_caller.h), and changes nothing if it can't. CAP_SYS_NICE moves workers
// that are in user namespaces of middleware; CAP_DAC_OVERRIDE makes and removes the run's control group. Once it has
// isolated, it can open no file for writing.
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "cpuset/step.h"
#include "profiler/failure.h"
#include "profiler/isolation/keeper_requests.h"
#include "profiler/isolation/knobs.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/leave_caller.h"
#include "profiler/privilege/root_process.h"

namespace icepath::isolation {

// The keeper died or doesn't answer, or the CPUs are no longer isolated.
class KeeperLost : public Failure {
public:
	using Failure::Failure;
};

class Keeper {
public:
	// Construct it as root; the caller then gives up root. Throws Failure(MachineCannot).
	explicit Keeper(const privilege::Identity &user);
	~Keeper(); // put_back()
	Keeper(const Keeper &) = delete;
	Keeper &operator=(const Keeper &) = delete;

	// Undoes the changes of a killed keeper. Returns sentences as put_back() does. Throws Failure(MachineCannot),
	// KeeperLost.
	std::vector<std::string> put_back_leftovers();
	// Raises limits of the machine. Call it at most once, and isolate() afterwards. Throws as that does.
	std::vector<cpuset::Step> tune(const std::vector<Tuning> &tunings);
	// Call it once; after tune() perhaps with no CPUs. Throws KeeperLost, or Failure(MachineCannot) with nothing
	// isolated.
	std::vector<cpuset::Step> isolate(const cpuset::CpuList &measured);
	// Moves a child of this process into the partition. Pin it afterwards: moving resets its affinity. Throws Failure,
	// KeeperLost.
	void admit(int pidfd);
	// Returns what somebody else changed since the last look. Throws KeeperLost, also if others may use the CPUs again.
	std::vector<std::string> look();
	// Returns sentences about what can't be restored, or is left because somebody else changed it; one sentence if the
	// keeper is lost.
	std::vector<std::string> put_back() noexcept;

	bool is_lost() const { return is_lost_; } // it may have left its changes
	pid_t pid() const { return process_.pid(); }

private:
	std::vector<KeeperReply> ask(const KeeperRequest &request, const std::vector<int> &fds, int patience_ms);
	privilege::RootProcess process_;
	bool is_over_ = false; // put back, or lost
	bool is_lost_ = false;
};

// The keeper's side of the socket: gives up rights, then keeps this machine.
void keep(int socket, pid_t icepath, uid_t user);

// Serves requests about the machine below `tree` in this thread until the socket closes, icepath has ended, or `wish`
// can be read. Then restores the machine. `left`: of leave_caller().
void keep_machine(const Tree &tree, int socket, pid_t icepath, uid_t user, const Fd &wish, const privilege::Left &left);

// Called by the keeper once it has isolated: from then on it reads, writes to open files, and removes its control
// group. Throws Failure(MachineCannot) if the kernel refuses the filter.
void allow_keeping_calls_only();

} // namespace icepath::isolation
