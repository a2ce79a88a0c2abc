// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/slots_view.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ebpf/records.h"
#include "profiler/failure.h"

namespace icepath::privilege {

SlotsView::SlotsView(Helper::Loaded &loaded, const std::vector<uint32_t> &cpus)
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

} // namespace icepath::privilege
