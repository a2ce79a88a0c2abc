// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads the BPF programs and attaches those that are asked for. Lives in the root helper; one thread.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/capture/selection.h"
#include "profiler/capture/skip_times.h"

struct capture_bpf;
struct icepath_fill;
struct bpf_link;

namespace icepath::capture {

class Capture {
public:
	// Loads every probe that this kernel takes, having attached each once. `cpus` get a slot each; there is one more for all
	// others. `forced` as in in_order(). Throws Failure(MachineCannot) where not even the essential probes (is_essential) work.
	Capture(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Tier> forced = {});
	~Capture(); // detaches and unloads
	Capture(const Capture &) = delete;
	Capture &operator=(const Capture &) = delete;

	// Attaches what is missing of `wanted` and detaches the rest. Probes that don't work are left out: see available().
	void attach(ProbeSet wanted);
	ProbeSet available() const { return available_; }
	const Selection &selection() const { return selection_; }

	// Marks a task or a socket as one of the run; a task is watched only in the blocks that name it. Both file descriptors stay
	// the caller's.
	void add_worker(int pidfd);
	void add_socket(int socket_fd, uint64_t key);
	// Marks a process that has one thread yet, and all threads and processes that it will begin: a family, by whose number it is
	// watched. Their first record of a block is a THREAD. `family`: one that there is, whose process this one replaces; 0: a new
	// one. Throws Failure where threads can't be followed, there are too many families, or none of that number.
	uint32_t follow(int pidfd, uint32_t family = 0);

	// Empties the slots and the state that earlier blocks left of these workers and families, and starts logging.
	void begin_block(const std::vector<int> &worker_pidfds, const std::vector<uint32_t> &families = {});
	// Looks whether the kernel has skipped programs since the last look, or since the block began; some 100 us.
	void look_for_skipped();
	// Stops logging. Returns what was skipped during the block, in time; looks are what narrows it down.
	std::vector<SkippedPrograms> end_block();

	// Whoever has it can also write: the kernel maps no map by a read-only descriptor (bpf_map_mmap() wants VM_SHARED, which
	// mmap drops for one). So nothing that is read back from the slots bounds anything here.
	int slots_fd() const;
	int fills_fd() const; // an icepath_fill for each slot
	// Whether probes are attached to perf events.
	bool uses_perf_events() const;
	uint32_t slot_bytes() const { return slot_bytes_; }
	uint32_t slot_count() const { return slot_count_; }

private:
	explicit Capture(Selection selection)
		: selection_(std::move(selection)) {} // a constructor that delegates cleans up
	void load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot);
	void unload();
	void try_again(ProbeSet probes, std::optional<Tier> forced);
	ProbeSet refused_when_attached();
	Misses misses() const;
	void log_still_off();
	bool mark(int pidfd, bool in_block); // false: the task has ended
	void watch_families(bool in_block);

	capture_bpf *bpf_ = nullptr;
	std::array<bpf_link *, kProbes.size()> links_{};
	Selection selection_;
	ProbeSet available_ = 0;
	uint32_t slot_bytes_ = 0, slot_count_ = 0, records_per_slot_ = 0;
	uint8_t *slots_ = nullptr; // mapped, slot_bytes_ * slot_count_
	icepath_fill *fills_ = nullptr; // mapped, slot_count_
	SkipTimes skips_; // of the block
	std::vector<int> block_workers_; // pidfds, the caller's
	std::vector<uint32_t> block_families_;
	uint32_t families_ = 0; // that are followed
	ProbeSet attached_ = 0; // as was wanted
};

} // namespace icepath::capture
