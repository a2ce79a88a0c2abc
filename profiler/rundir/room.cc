// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/room.h"

#include <fmt/format.h>
#include <stdexcept>

#include "profiler/rundir/limits.h"

namespace icepath::rundir {

void Room::take_window(uint64_t records, uint64_t blocks)
{
	if (blocks > 0 && records > kMaxResolvedRecords / blocks)
		throw std::runtime_error(
			fmt::format("a window has {} records for {} blocks, more than can be resolved", records, blocks));
	window_bytes_ = 0;
	take(records * sizeof(icepath_record));
}

void Room::take_block(uint64_t stamps) { take(stamps * sizeof(model::SendStamp)); }

bool Room::is_full() const { return run_bytes_ + kMaxWindowBytes > kMaxRunBytes; }

void Room::take(uint64_t bytes)
{
	window_bytes_ += bytes;
	run_bytes_ += bytes;
	if (window_bytes_ > kMaxWindowBytes)
		throw std::runtime_error(
			fmt::format("the records and stamps of a window take more than {} bytes", kMaxWindowBytes));
	if (run_bytes_ > kMaxRunBytes)
		throw std::runtime_error(fmt::format("its records and stamps take more than {} bytes in all", kMaxRunBytes));
}

} // namespace icepath::rundir
