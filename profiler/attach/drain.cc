// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/drain.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ebpf/records.h"
#include "profiler/failure.h"

namespace icepath::attach {
namespace {

void *mapped(const Fd &map, size_t bytes, int protection)
{
	void *memory = mmap(nullptr, bytes, protection, MAP_SHARED, map.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's rings: {}", std::strerror(errno)));
	return memory;
}

} // namespace

Drain::Drain(privilege::Helper::Loaded &loaded, const std::vector<uint32_t> &cpus)
	: slots_(std::move(loaded.slots)), taken_(std::move(loaded.taken)), slot_bytes_(loaded.slot_bytes),
	  slot_count_(loaded.slot_count), slot_records_(loaded.slot_records)
{
	ends_ = static_cast<uint8_t *>(mapped(taken_, sizeof(icepath_taken) * slot_count_, PROT_READ | PROT_WRITE));
	memory_ = static_cast<const uint8_t *>(mapped(slots_, size_t{slot_bytes_} * slot_count_, PROT_READ));
	for (uint32_t i = 0; i < slot_count_; i++)
		window_.push_back({i < cpus.size() ? static_cast<int32_t>(cpus[i]) : -1, 0, 0, 0, {}});
}

Drain::~Drain()
{
	if (memory_)
		munmap(const_cast<uint8_t *>(memory_), size_t{slot_bytes_} * slot_count_);
	munmap(ends_, sizeof(icepath_taken) * slot_count_);
}

// Returns the number of the next record that isn't whole yet.
uint32_t Drain::take(uint32_t slot, uint32_t position)
{
	const uint8_t *base = memory_ + size_t{slot} * slot_bytes_;
	const uint32_t begun = __atomic_load_n(&reinterpret_cast<const icepath_slot *>(base)->position, __ATOMIC_ACQUIRE);
	const auto *records = reinterpret_cast<const icepath_record *>(base + sizeof(icepath_slot));
	std::vector<icepath_record> &into = window_[slot].records;
	for (; position != begun; position++) {
		const icepath_record &record = records[position & (slot_records_ - 1)];
		if (__atomic_load_n(&record.seq, __ATOMIC_ACQUIRE) != position || record.version == 0)
			break;
		into.push_back(record);
	}
	return position;
}

void Drain::take()
{
	for (uint32_t i = 0; i < slot_count_; i++) {
		window_[i].position = take(i, window_[i].position);
		auto *taken = reinterpret_cast<icepath_taken *>(ends_ + sizeof(icepath_taken) * i);
		__atomic_store_n(&taken->position, window_[i].position, __ATOMIC_RELEASE);
	}
}

std::vector<model::SlotCapture> Drain::taken()
{
	std::vector<model::SlotCapture> slots;
	for (model::SlotCapture &slot : window_) {
		slot.capacity = std::max(slot_records_, static_cast<uint32_t>(slot.records.size()));
		model::SlotCapture next{slot.cpu, slot.position, slot.position, 0, {}};
		next.records.reserve(slot.records.size());
		slots.push_back(std::exchange(slot, std::move(next)));
	}
	return slots;
}

} // namespace icepath::attach
