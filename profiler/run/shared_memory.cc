// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ebpf/records.h"
#include "profiler/failure.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

SlotsView::SlotsView(privilege::Helper::Loaded &loaded, const std::vector<uint32_t> &cpus)
	: map_(std::move(loaded.slots)), fills_(std::move(loaded.fills)), slot_bytes_(loaded.slot_bytes),
	  slot_count_(loaded.slot_count), slot_records_(loaded.slot_records), cpus_(cpus.begin(), cpus.end())
{
	cpus_.push_back(-1);
	void *memory = mmap(nullptr, size_t{slot_bytes_} * slot_count_, PROT_READ, MAP_SHARED, map_.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's slots: {}", std::strerror(errno)));
	memory_ = static_cast<const uint8_t *>(memory);
}

SlotsView::~SlotsView()
{
	if (memory_)
		munmap(const_cast<uint8_t *>(memory_), size_t{slot_bytes_} * slot_count_);
}

SlotsView::SlotsView(SlotsView &&other) noexcept { *this = std::move(other); }

SlotsView &SlotsView::operator=(SlotsView &&other) noexcept
{
	std::swap(map_, other.map_);
	std::swap(fills_, other.fills_);
	std::swap(memory_, other.memory_);
	std::swap(slot_bytes_, other.slot_bytes_);
	std::swap(slot_count_, other.slot_count_);
	std::swap(slot_records_, other.slot_records_);
	std::swap(cpus_, other.cpus_);
	return *this;
}

std::vector<model::SlotCapture> SlotsView::copy() const
{
	std::vector<model::SlotCapture> slots(slot_count_);
	for (uint32_t i = 0; i < slot_count_; i++) {
		const uint8_t *base = memory_ + size_t{i} * slot_bytes_;
		icepath_slot head{};
		std::memcpy(&head, base, sizeof(head));
		const uint32_t room =
			(slot_bytes_ - static_cast<uint32_t>(sizeof(head))) / static_cast<uint32_t>(sizeof(icepath_record));
		slots[i].cpu = cpus_[i];
		slots[i].position = head.position;
		slots[i].capacity = std::min(head.capacity, room);
		slots[i].records.resize(std::min(head.position, slots[i].capacity));
		std::memcpy(slots[i].records.data(), base + sizeof(head), slots[i].records.size() * sizeof(icepath_record));
	}
	return slots;
}

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
