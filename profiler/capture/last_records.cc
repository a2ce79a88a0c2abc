// SPDX-License-Identifier: Apache-2.0
// What shows only at the end of a block or a window, so that user space writes it into the slots.
#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "icepath/plugin.h"
#include "profiler/capture/bpf_object.h"
#include "profiler/capture/capture.h"

namespace icepath::capture {
namespace {

uint32_t tid_of(int pidfd)
{
	std::ifstream file(fmt::format("/proc/self/fdinfo/{}", pidfd));
	for (std::string line; std::getline(file, line);)
		if (line.starts_with("Pid:"))
			return static_cast<uint32_t>(std::strtoul(line.c_str() + 4, nullptr, 10));
	return 0;
}

} // namespace

// What the probes can't write themselves. The last slot is that of all CPUs without one.
void Capture::write_record(uint32_t slot_index, icepath_record record)
{
	auto *slot = reinterpret_cast<icepath_slot *>(slots_ + size_t{slot_bytes_} * slot_index);
	const bool is_ring = !targets_.empty();
	const uint32_t position = __atomic_fetch_add(&slot->position, 1, __ATOMIC_SEQ_CST);
	if (!is_ring && position >= records_per_slot_)
		return;
	record.version = ICEPATH_RECORD_VERSION;
	record.bytes = sizeof(record);
	record.seq = ~position;
	record.end_ns = icepath_now_ns();
	icepath_record &place =
		reinterpret_cast<icepath_record *>(slot + 1)[is_ring ? position & (records_per_slot_ - 1) : position];
	place = record;
	__atomic_store_n(&place.seq, position, __ATOMIC_RELEASE); // it is whole
}

// A worker that was switched in unseen and ran to the end of the block shows only here.
void Capture::log_still_off()
{
	for (const int pidfd : block_workers_) {
		icepath_task state{};
		uint32_t is_barred = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(bpf_->maps.workers), &pidfd, &state) || state.out_ns == 0 ||
			bpf_map_lookup_elem(bpf_map__fd(bpf_->maps.barred), &pidfd, &is_barred) == 0)
			continue;
		icepath_record record{};
		record.type = ICEPATH_RECORD_STILL_OFF;
		record.tid = tid_of(pidfd);
		record.cpu = state.out_cpu;
		record.off.out_ns = state.out_ns;
		write_record(slot_count_ - 1, record);
	}
}

// A CPU tells its losses with its next record (log_loss() in slots.bpf.h), which may come long after, or never.
void Capture::tell_losses()
{
	if (targets_.empty())
		return;
	for (uint32_t cpu = 0; cpu < std::size(bpf_->rodata->slot_of_cpu); cpu++) {
		icepath_cpu_state &state = bpf_->bss->cpu_states[cpu];
		uint32_t count = __atomic_load_n(&state.lost, __ATOMIC_SEQ_CST);
		if (count == 0)
			continue;
		const uint32_t slot_index = std::min<uint32_t>(bpf_->rodata->slot_of_cpu[cpu], slot_count_ - 1);
		const auto *slot = reinterpret_cast<const icepath_slot *>(slots_ + size_t{slot_bytes_} * slot_index);
		icepath_taken taken{};
		if (bpf_map_lookup_elem(taken_fd(), &slot_index, &taken) ||
			__atomic_load_n(&slot->position, __ATOMIC_SEQ_CST) - taken.position >=
				records_per_slot_ - ICEPATH_RING_MARGIN)
			continue; // still no room: the CPU tells it, or the next look
		icepath_record record{};
		record.type = ICEPATH_RECORD_LOSS;
		record.cpu = static_cast<uint16_t>(cpu);
		// The CPU counts first. If it is just about to write this time, that of its losses before is here, or 0.
		record.loss.begin_ns = __atomic_load_n(&state.lost_since_ns, __ATOMIC_SEQ_CST);
		record.loss.count = count;
		if (__atomic_compare_exchange_n(&state.lost, &count, 0u, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			write_record(slot_index, record);
	}
}

} // namespace icepath::capture
