// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/cell_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::worker {

CellMap::CellMap(const Fd &memory, uint32_t max_messages, uint32_t channels)
	: capacity_(max_messages), channels_(channels)
{
	const uint64_t bytes = cell_memory_bytes(capacity_, channels_);
	struct stat file{};
	if (fstat(memory.get(), &file) || static_cast<uint64_t>(file.st_size) < bytes)
		throw Failure(ExitCode::Internal, fmt::format("the cell's memory has {} bytes, {} messages need {}",
													  file.st_size, capacity_, bytes));
	void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory.get(), 0);
	if (mapped == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the cell's memory: {}", std::strerror(errno)));
	mlock(mapped, bytes); // may exceed RLIMIT_MEMLOCK: then it is present, but not locked
	head_ = static_cast<CellMemory *>(mapped);
}

CellMap::~CellMap() { munmap(head_, cell_memory_bytes(capacity_, channels_)); }

model::SendStamp *CellMap::sends(uint32_t channel, uint32_t side)
{
	return reinterpret_cast<model::SendStamp *>(reinterpret_cast<uint8_t *>(head_) +
												stamps_offset(capacity_, channel, side));
}

model::RecvStamp *CellMap::recvs(uint32_t channel, uint32_t side)
{
	return reinterpret_cast<model::RecvStamp *>(sends(channel, side) + capacity_);
}

MessageBuffer::MessageBuffer(uint64_t bytes)
	: bytes_(bytes),
	  data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))
{
	if (data_ == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("no memory for a message of {} bytes: {}", bytes, std::strerror(errno)));
	mlock(data_, bytes_); // may exceed RLIMIT_MEMLOCK: then it is present, but not locked
}

MessageBuffer::~MessageBuffer() { munmap(data_, bytes_); }

std::string lock_memory()
{
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? std::string("mlockall: ") + std::strerror(errno)
															: std::string();
}

} // namespace icepath::worker
