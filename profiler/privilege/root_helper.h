// SPDX-License-Identifier: Apache-2.0
#pragma once
// The root helper: a process that keeps some of root's rights during a run, with a program of its own, icepath-helper.
// It is started before icepath drops privileges, holds the capture, marks workers, and answers each request below over
// a socket pair.
//
// It trusts no request. A program that was already running is watched only if root names it, before icepath becomes the
// user. A worker is named by a pidfd, and accepted only if it is a child of the icepath that started
// the helper, or a thread of such a child, and runs as the invoking user. If the helper has its rights from its file,
// any program of that user may be its icepath: then the process must also be one that the user could trace, and is
// watched only while it has no more rights than the user has, and a socket must be the user's. The helper opens no path
// from a request, and accepts no descriptor whose closing might block. It ends when the socket closes or that icepath
// has ended, and its BPF programs with it. It keeps only the rights that capturing needs (rights.h).
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ebpf/records.h"
#include "profiler/capture/selection.h"
#include "profiler/capture/skip_times.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/identity.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

inline constexpr size_t kMaxWorkers = 1024; // at a time
inline constexpr size_t kMaxBlockWorkers = 65; // in one block
inline constexpr size_t kMaxBlockDaemons = 16;
inline constexpr size_t kMaxTargets = ICEPATH_TARGETS;
inline constexpr size_t kMaxCaptureCpus = 64;

enum class HelperRequestKind : uint32_t {
	// cpus, each online, once, and of a member claimed; records_per_slot, samples; replies with the maps of the slots,
	// with targets also of icepath_taken and icepath_end,
	// and of their fill levels, and with `samples` the memory of capture/named_stacks.h and the map of the user's
	// stacks
	Load,
	// fd: pidfd of a process, for its main thread, or of a thread. Replies with a worker number, perhaps one of a
	// worker that has ended.
	AddWorker,
	AddSocket, // fd: socket; key
	// fd: pidfd of a process with one thread, whose future threads are followed too; key: the family to join, 0: a new
	// one. Replies with the family.
	Follow,
	Attach, // probes
	BeginBlock, // worker numbers; families; looks; sample_period_ns
	EndBlock,
	// Before Load; cpus: held against every other icepath until the helper ends. A member holds few claims
	// (cpu_claim.h).
	Claim,
	// Before Load; fd: pidfd of a running process, which is watched from Load on, with all of its threads and what it
	// has started and will start, but not what gains rights that it hasn't. Only as long as icepath is root: what is
	// watched then is what root named, and no process that is the user's can add to it. Replies with the family.
	Target,
	// With targets, while they are watched: lists in the map of ends what they have open. Replies with their number,
	// and with what was skipped since the last time.
	Look,
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
	uint32_t looks; // not 0: checks for skipped programs during the block too, not only at its end
	uint32_t samples; // Load; not 0: blocks may be sampled
	uint64_t sample_period_ns; // of this block; 0: it isn't sampled
};

// The outcome for a probe, as in capture::Trial.
struct ProbeChoice {
	uint32_t candidate; // index of the working candidate
	std::array<char, 512> why_not; // of several candidates, with the verifier's words
};

struct HelperReply {
	int32_t exit_code; // 0: done
	std::array<char, 384> message; // the reason; Claim: also the reason for doing without
	uint32_t worker; // AddWorker; Follow, Target: the family; Look: how many ends were found
	uint32_t slot_bytes, slot_count; // Load
	uint32_t knows_kernel; // Load with `samples`; 0: this kernel shows the addresses of its functions to nobody
	capture::ProbeSet available; // Load, Attach
	std::array<ProbeChoice, capture::kProbes.size()> choices; // Load
	uint32_t skipped_count; // EndBlock, Look
	std::array<capture::SkippedPrograms, capture::kMostSkipTimes> skipped;
	uint32_t unwatched; // EndBlock, Look: as Capture::unwatched_tasks()
};

// The helper doesn't answer.
class HelperDied : public Failure {
public:
	explicit HelperDied(const RootProcess &helper); // that is gone
	// It doesn't answer and can't be ended either, so its probes may still be attached.
	explicit HelperDied(pid_t stuck);
	// Whether later measurements may include probes.
	bool probes_may_be_attached() const { return stuck_; }

private:
	bool stuck_ = false;
};

// Where the helper has its rights from: root started it, or its file has capabilities.
enum class HelperRights : uint8_t { OfRoot, OfItsFile };

// icepath's side of the helper. For one thread. Every call throws Failure with the helper's sentence, or HelperDied.
class Helper {
public:
	// Starts the helper, which keeps the rights for loading probes; the caller then calls become(). Throws
	// Failure(MachineCannot) without root where why_not_without_root(), or as start_helper() does.
	explicit Helper(const Identity &user);

	struct Loaded {
		Fd slots, fills; // the maps: of icepath_slot with its records, and of icepath_fill
		Fd named_stacks; // see capture/named_stacks.h; none: blocks can't be sampled
		Fd user_stacks; // as named_stacks; of icepath_user_stack
		Fd taken, ends; // with targets, the maps of icepath_taken and icepath_end
		bool knows_kernel = false; // sampled functions of the kernel have names
		uint32_t slot_bytes = 0, slot_count = 0, slot_records = 0;
		capture::ProbeSet available = 0;
		capture::Selection selection;
	};
	// Claims the CPUs against every other icepath, until the helper ends: see cpu_claim.h. Call it once, before load().
	// Returns why that isn't possible here, or nothing. Throws if another run holds one of the CPUs.
	std::optional<std::string> claim(const std::vector<uint32_t> &cpus);
	// Names a running program to watch, and returns its family. Before load(), and before this process becomes the
	// user.
	uint32_t take_target(int pidfd);
	Loaded load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<capture::Tier> forced = {},
				bool samples = false);
	uint32_t add_worker(int pidfd);
	void add_socket(int fd, uint64_t key);
	uint32_t follow(int pidfd,
					uint32_t family = 0); // 0: a new one; else a returned one, whose process this one replaces
	capture::ProbeSet attach(capture::ProbeSet probes);
	// At most kMaxBlockWorkers workers, and kMaxBlockDaemons more families. `looks`: in a long block the helper wakes
	// ten times a second and checks for skipped programs, so that one doesn't spoil the whole block.
	// `sample_period_ns`: see capture::Capture::begin_block().
	void begin_block(const std::vector<uint32_t> &workers, const std::vector<uint32_t> &families, bool looks,
					 uint64_t sample_period_ns = 0);
	std::vector<capture::SkippedPrograms> end_block();
	struct Looked {
		std::vector<capture::SkippedPrograms> skipped; // since the last time
		uint32_t ends = 0; // how many are listed, those without room included
	};
	Looked look(); // with targets, between begin_block() and end_block()
	// As of the last end_block() or look(), see capture::Capture::unwatched_tasks().
	uint32_t unwatched_tasks() const { return unwatched_; }
	pid_t pid() const { return process_.pid(); }

private:
	HelperReply ask(const HelperRequest &request, const std::vector<int> &fds, std::vector<Fd> &received);
	RootProcess process_;
	bool has_targets_ = false;
	uint32_t unwatched_ = 0;
};

inline constexpr const char *kHelperName = "icepath-helper"; // of its process, and of its file

// Executes the icepath-helper in the running program's folder, which serves this process for `user`. Throws
// Failure(MachineCannot) if the file isn't there, or, as root, if more users may write to it than to the running
// program.
RootProcess start_helper(uid_t user);

std::string helper_path(); // beside the running program

// Why this process can't start the helper without root, as far as it can be known beforehand; empty: it can.
std::string why_not_without_root();

// The helper's main loop; returns when the socket closes or icepath ends.
void serve(int socket, pid_t icepath, uid_t user, HelperRights rights = HelperRights::OfRoot);

} // namespace icepath::privilege
