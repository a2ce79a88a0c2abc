// SPDX-License-Identifier: Apache-2.0
#pragma once
// The root helper: a process of icepath that keeps root while a run goes on. It is forked before privileges are
// dropped, holds the capture, pins workers, and answers the requests below over a socket pair, one reply each.
//
// What it believes: nothing. A worker is named by a pidfd, and taken only if it is a child of the icepath that forked the
// helper, or a thread of such a child, and runs as the invoking user. It opens no path that a request names, and takes no descriptor
// whose closing might keep it. It ends when the socket closes or when that icepath has ended, and its BPF programs with it. Of root it
// keeps what capturing needs (helper_rights.h).
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/capture/skip_times.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

inline constexpr size_t kMaxWorkers = 1024; // at a time
inline constexpr size_t kMaxBlockWorkers = 65; // of one block
inline constexpr size_t kMaxBlockDaemons = 16;
inline constexpr size_t kMaxCaptureCpus = 64;

enum class HelperRequestKind : uint32_t {
	Load, // cpus, records_per_slot; replies with the maps of the slots and of how far they are filled
	// fd: pidfd of a process, whose main thread it is, or of a thread. Replies with its number, which may be that of one which has
	// ended
	AddWorker,
	AddSocket, // fd: socket; key
	// fd: pidfd of a process with one thread, whose threads to come are followed as well; key: the family that it joins, 0: a new
	// one. Replies with its family
	Follow,
	Attach, // probes
	BeginBlock, // workers: numbers; families; looks
	EndBlock,
	Claim, // before Load; cpus: held against every other icepath until the helper ends
};

struct HelperRequest {
	HelperRequestKind kind;
	uint32_t cpu_count;
	std::array<uint32_t, kMaxCaptureCpus> cpus;
	uint32_t records_per_slot;
	uint64_t key;
	capture::ProbeSet probes;
	uint32_t forced_tier; // Load: 1 + capture::Tier; 0: none
	uint32_t worker_count;
	std::array<uint32_t, kMaxBlockWorkers> workers;
	uint32_t family_count;
	std::array<uint32_t, kMaxBlockWorkers + kMaxBlockDaemons> families;
	uint32_t looks; // not 0: for skipped programs, now and then in the block, and not at its end alone
};

// What became of a probe, as capture::Trial has it.
struct ProbeChoice {
	uint32_t candidate; // index into the probe's candidates, where it works
	std::array<char, 512> why_not; // of several candidates, with the verifier's words
};

struct HelperReply {
	int32_t exit_code; // 0: done
	std::array<char, 384> message; // why not; Claim: also where it is done without
	uint32_t worker; // AddWorker; Follow: the family
	uint32_t slot_bytes, slot_count; // Load
	capture::ProbeSet available; // Load, Attach
	std::array<ProbeChoice, capture::kProbes.size()> choices; // Load
	uint32_t skipped_count; // EndBlock
	std::array<capture::SkippedPrograms, capture::kMostSkipTimes> skipped;
};

// The helper as icepath sees it. One thread. Every call throws Failure with the helper's sentence; where the helper doesn't answer
// it throws HelperDied.
class HelperDied : public Failure {
public:
	HelperDied() : Failure(ExitCode::MachineCannot, "the root helper died: no probes from here on") {}
	// It doesn't answer and can't be ended either, so its probes may still be attached.
	explicit HelperDied(pid_t stuck);
	// Whether nothing that is measured from now on is known to be free of probes.
	bool probes_may_be_attached() const { return stuck_; }

private:
	bool stuck_ = false;
};

class Helper {
public:
	// Forks the helper, which stays root; the caller then calls become(). Throws Failure(MachineCannot) without root.
	explicit Helper(const Identity &user);

	struct Loaded {
		Fd slots, fills; // the maps: of icepath_slot with its records, and of icepath_fill
		uint32_t slot_bytes = 0, slot_count = 0, slot_records = 0;
		capture::ProbeSet available = 0;
		capture::Selection selection;
	};
	// Against every other icepath, until this one ends: see cpu_claim.h. Once, before load(). Returns why it isn't possible here, or
	// nothing; throws where a CPU is another run's.
	std::optional<std::string> claim(const std::vector<uint32_t> &cpus);
	Loaded load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<capture::Tier> forced = {});
	uint32_t add_worker(int pidfd);
	void add_socket(int fd, uint64_t key);
	uint32_t follow(int pidfd,
					uint32_t family = 0); // 0: a new one; else one that it has told, whose process this one replaces
	capture::ProbeSet attach(capture::ProbeSet probes);
	// At most kMaxBlockWorkers, and kMaxBlockDaemons families more. `looks`: in a block that lasts, the helper wakes ten times
	// a second and looks for skipped programs, so that one doesn't spoil all of it.
	void begin_block(const std::vector<uint32_t> &workers, const std::vector<uint32_t> &families, bool looks);
	std::vector<capture::SkippedPrograms> end_block();
	pid_t pid() const { return process_.pid(); }

private:
	HelperReply ask(const HelperRequest &request, const std::vector<int> &fds, std::vector<Fd> &received);
	RootProcess process_;
};

// The helper's own loop; returns when the socket closes.
void serve(int socket, pid_t icepath, uid_t user);

} // namespace icepath::privilege
