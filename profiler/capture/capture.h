// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads the BPF programs and attaches those that are asked for. Lives in the root helper. For use by one thread.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ebpf/records.h"
#include "profiler/capture/named_stacks.h"
#include "profiler/capture/sampling_timers.h"
#include "profiler/capture/selection.h"
#include "profiler/capture/skip_times.h"

struct capture_bpf;
struct icepath_fill;
struct icepath_stack;
struct bpf_link;

namespace icepath::capture {

struct CloseBpfObject; // bpf_object.h

struct Owner {
	uint32_t user, group;
};

// A running program to attach to.
struct Target {
	int pidfd; // of the process; the caller's
	icepath_rights might; // as the user named it; what gains more isn't watched
};

class Capture {
public:
	// Loads every probe that this kernel accepts, after attaching each once. Each of `cpus` gets a slot, and all other
	// CPUs share one. `forced` as in in_order(). Throws Failure(MachineCannot) if an essential probe (is_essential)
	// doesn't work, or LoadInterrupted (bpf_object.h). `sampled`: it can also sample what workers run on `cpus`, with
	// the stacks of what that user may trace; throws Failure(MachineCannot) if it can't.
	// `owner`: a marked task is watched only as long as that user could trace it: it has and had no more rights than
	// ordinary processes of that user and group, since it was marked or started by a marked one, and doesn't hide its
	// memory (ebpf/rights.bpf.h). Of libraries' sockets, only that user's are recorded.
	// `targets`: programs whose processes, with all threads and what they have started and will start, are families of
	// the capture, numbered from 1 in this order. Tasks of the processes `own` are in none. Slots are rings
	// then, and records_per_slot a power of 2 (ebpf/records.h). Throws Failure(MachineCannot) if running tasks can't be
	// marked.
	Capture(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Tier> forced = {},
			std::optional<Owner> sampled = {}, std::optional<Owner> owner = {}, std::vector<Target> targets = {},
			std::array<uint32_t, 2> own = {});
	~Capture(); // detaches and unloads
	Capture(const Capture &) = delete;
	Capture &operator=(const Capture &) = delete;

	// Attaches the missing ones of `wanted` and detaches all others. Omits probes that don't work: see available().
	void attach(ProbeSet wanted);
	ProbeSet available() const { return available_; }
	const Selection &selection() const { return selection_; }

	// Marks a task or a socket as one of the run. A task is watched only in blocks that name it. The file descriptors
	// stay the caller's.
	void add_worker(int pidfd);
	void add_socket(int socket_fd, uint64_t key);
	// Marks a process that still has one thread, and all threads and processes that it will start, as a family. Returns
	// the family's number, by which it is watched. Its threads' first record in a block is a THREAD. `family`: an
	// existing one that this process joins; 0: a new one. Throws Failure if threads can't be followed, there are too
	// many families, or `family` doesn't exist.
	uint32_t follow(int pidfd, uint32_t family = 0);

	// Empties the slots, resets what earlier blocks left of these workers and families, and starts logging.
	// `sample_period_ns`: of the samples in this block, which then has stacks of switches and wakings, too; 0: none.
	// Throws Failure if that isn't possible.
	void begin_block(const std::vector<int> &worker_pidfds, const std::vector<uint32_t> &families = {},
					 uint64_t sample_period_ns = 0);
	// Checks whether the kernel has skipped programs since the last look or the block's begin. Takes some 100 µs.
	void look_for_skipped();
	// Of a block with targets, which lasts as long as they are watched: looks, and returns what was skipped since the
	// last time. What rings have lost until now is in them as LOSS, if they have room again: take their records first.
	std::vector<SkippedPrograms> skipped_since();
	// Lists what the targets' processes have open in the map of ends_fd(). Returns how many there are.
	uint32_t list_ends();

	// Stops logging, and names the stacks. Returns the block's skipped programs with spans of time, which looks make
	// narrower.
	std::vector<SkippedPrograms> end_block();

	// How many marked tasks aren't watched any more, because their owner couldn't trace them; since loading.
	uint32_t unwatched_tasks() const;

	// The descriptor's holder can also write: the kernel doesn't map a map by a read-only descriptor (bpf_map_mmap()
	// wants VM_SHARED, which mmap drops for one). So nothing read back from the slots may serve as a bound.
	int slots_fd() const;
	int fills_fd() const; // an icepath_fill for each slot
	// With targets slots are rings: an icepath_taken for each, and the list of icepath_end.
	int taken_fd() const;
	int ends_fd() const;
	int user_stacks_fd() const; // an icepath_user_stack for each of the first stacks; only if it samples
	const NamedStacks *named_stacks() const { return named_stacks_.get(); } // nullptr: it doesn't sample
	// Whether probes use perf events.
	bool uses_perf_events() const;
	uint32_t slot_bytes() const { return slot_bytes_; }
	uint32_t slot_count() const { return slot_count_; }

private:
	// The public constructor delegates to this one, so the destructor runs if it throws.
	Capture(Selection selection, std::optional<Owner> owner, std::vector<Target> targets, std::array<uint32_t, 2> own)
		: selection_(std::move(selection)), owner_(owner), targets_(std::move(targets)), own_(own)
	{}
	std::unique_ptr<capture_bpf, CloseBpfObject> opened(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
														std::optional<Owner> sampled);
	void load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Owner> sampled);
	void prepare_samples(const std::vector<uint32_t> &cpus);
	void unload();
	void try_again(ProbeSet probes, std::optional<Tier> forced);
	ProbeSet refused_when_attached();
	bool attach_probe(size_t probe); // false, with errno: the kernel refuses
	void detach_probe(size_t probe);
	Misses misses() const;
	void write_record(uint32_t slot_index, icepath_record record);
	void log_still_off();
	void tell_losses();
	bool mark(int pidfd, bool in_block); // false: the task has ended
	void watch_families(bool in_block);
	bool compares_at_exec() const { return owner_ || !targets_.empty(); }
	void mark_targets();

	capture_bpf *bpf_ = nullptr;
	std::array<bpf_link *, kProbes.size()> links_{}, second_links_{};
	std::array<std::vector<bpf_link *>, kProbes.size()> links_beside_;
	bpf_link *exec_link_ = nullptr; // nullptr: rights aren't compared
	Selection selection_;
	std::optional<Owner> owner_;
	std::vector<Target> targets_; // pidfds as of the constructor
	std::array<uint32_t, 2> own_;
	ProbeSet available_ = 0;
	uint32_t slot_bytes_ = 0, slot_count_ = 0, records_per_slot_ = 0;
	uint8_t *slots_ = nullptr; // mapped, slot_bytes_ * slot_count_
	icepath_fill *fills_ = nullptr; // mapped, slot_count_
	icepath_stack *stacks_ = nullptr; // mapped, stack_room_; nullptr: it doesn't sample
	uint32_t stack_room_ = 0;
	std::unique_ptr<SamplingTimers> timers_;
	std::unique_ptr<NamedStacks> named_stacks_;
	SkipTimes skips_; // of the current block
	std::vector<int> block_workers_; // pidfds, owned by the caller
	std::vector<uint32_t> block_families_;
	uint32_t families_ = 0; // number of followed families
	ProbeSet attached_ = 0; // as asked for, available or not
};

} // namespace icepath::capture
