// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profiler/run/worker_process.h"

namespace icepath::run {

StampMemory::StampMemory(const std::string &title, uint32_t channels, uint32_t capacity)
	: capacity_(capacity), bytes_(worker::cell_memory_bytes(capacity, channels)),
	  fd_(memfd_create("icepath-cell", MFD_CLOEXEC | MFD_ALLOW_SEALING))
{
	// Sealed: if a worker could shrink it, icepath's accesses would raise SIGBUS.
	if (!fd_ || ftruncate(fd_.get(), static_cast<off_t>(bytes_)) ||
		fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		throw WorkerFailed(fmt::format("cannot make the memory of {}: {}", title, std::strerror(errno)));
	void *memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
	if (memory == MAP_FAILED)
		throw WorkerFailed(fmt::format("cannot map the memory of {}: {}", title, std::strerror(errno)));
	memory_ = new (memory) worker::CellMemory{};
	memory_->capacity = capacity_;
}

StampMemory::~StampMemory() { munmap(memory_, bytes_); }

const uint8_t *StampMemory::stamps_at(uint32_t channel, uint32_t end) const
{
	return reinterpret_cast<const uint8_t *>(memory_) + worker::stamps_offset(capacity_, channel, end);
}

std::vector<model::SendStamp> StampMemory::sends(uint32_t channel, uint32_t end, uint64_t count) const
{
	const auto *first = reinterpret_cast<const model::SendStamp *>(stamps_at(channel, end));
	return {first, first + std::min<uint64_t>(count, capacity_)};
}

std::vector<model::RecvStamp> StampMemory::recvs(uint32_t channel, uint32_t end, uint64_t count) const
{
	const auto *first = reinterpret_cast<const model::RecvStamp *>(stamps_at(channel, end) +
																   size_t{capacity_} * sizeof(model::SendStamp));
	return {first, first + std::min<uint64_t>(count, capacity_)};
}

} // namespace icepath::run
