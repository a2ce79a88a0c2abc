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
	if (fills_)
		munmap(const_cast<icepath_fill *>(fills_), mapped_bytes_);
}

void SlotsWatch::begin_block(uint32_t slots, uint32_t capacity)
{
	slots_ = slots;
	enough_ = capacity - capacity / 4;
	const size_t bytes = sizeof(icepath_fill) * slots_;
	if (bytes == 0 || bytes == mapped_bytes_)
		return;
	if (!map_ || fills_)
		throw Failure(ExitCode::Internal,
					  "a probed block was asked for, but the capture's slots didn't come with the cell");
	void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, map_.get(), 0);
	if (mapped == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's slots: {}", std::strerror(errno)));
	fills_ = static_cast<const icepath_fill *>(mapped);
	mapped_bytes_ = bytes;
}

bool SlotsWatch::nearly_full() const
{
	for (uint32_t i = 0; i < slots_; i++)
		if (__atomic_load_n(&fills_[i].position, __ATOMIC_RELAXED) >= enough_)
			return true;
	return false;
}

} // namespace icepath::worker
