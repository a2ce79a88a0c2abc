// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/slots_watch.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "ebpf/records.h"
#include "profiler/failure.h"

namespace icepath::worker {

SlotsWatch::~SlotsWatch()
{
	if (memory_)
		munmap(const_cast<uint8_t *>(memory_), mapped_bytes_);
}

void SlotsWatch::begin_block(uint32_t slot_bytes, uint32_t slots)
{
	slots_ = slot_bytes ? slots : 0;
	slot_bytes_ = slot_bytes;
	const uint64_t bytes = uint64_t{slot_bytes_} * slots_;
	if (bytes == 0 || bytes == mapped_bytes_)
		return;
	if (!map_ || memory_ || slot_bytes < sizeof(icepath_slot))
		throw Failure(ExitCode::Internal,
					  "a probed block was asked for, but the capture's slots didn't come with the cell");
	void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, map_.get(), 0);
	if (mapped == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's slots: {}", std::strerror(errno)));
	memory_ = static_cast<const uint8_t *>(mapped);
	mapped_bytes_ = bytes;
}

bool SlotsWatch::nearly_full() const
{
	for (uint32_t i = 0; i < slots_; i++) {
		const auto *slot = reinterpret_cast<const icepath_slot *>(memory_ + uint64_t{i} * slot_bytes_);
		const uint32_t position = __atomic_load_n(&slot->position, __ATOMIC_RELAXED);
		if (slot->capacity != 0 && position >= slot->capacity - slot->capacity / 4)
			return true;
	}
	return false;
}

} // namespace icepath::worker
