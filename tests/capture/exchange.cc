// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/exchange.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "cpuset/topology.h"
#include "icepath/plugin.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

constexpr uint32_t kRecords = 1u << 14;

// One end of the exchange.
bool play_side(int socket, bool first)
{
	char byte = 0;
	for (int i = 0; i < kTrips; i++)
		if ((first && write(socket, "x", 1) != 1) || read(socket, &byte, 1) != 1 ||
			(!first && write(socket, "x", 1) != 1))
			return false;
	return true;
}

// What workers see of the slots: how far each was filled at the last update. The last slot also has records of user
// space.
void expect_fills(const Capture &capture, const std::vector<icepath_slot> &heads)
{
	const size_t bytes = sizeof(icepath_fill) * capture.slot_count();
	auto *fills = static_cast<icepath_fill *>(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, capture.fills_fd(), 0));
	if (fills == MAP_FAILED)
		throw std::runtime_error("cannot map how far the slots are filled");
	for (uint32_t i = 0; i + 1 < capture.slot_count(); i++) {
		const uint32_t position = heads[heads.size() - capture.slot_count() + i].position;
		EXPECT_EQ(fills[i].position, position == 0 ? 0 : (position - 1) / ICEPATH_FILL_STEP * ICEPATH_FILL_STEP);
	}
	munmap(fills, bytes);
}

} // namespace

std::vector<icepath_record> copy_slots(const Capture &capture, std::vector<icepath_slot> &heads)
{
	std::vector<icepath_record> all;
	const size_t bytes = size_t{capture.slot_bytes()} * capture.slot_count();
	auto *memory = static_cast<uint8_t *>(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, capture.slots_fd(), 0));
	if (memory == MAP_FAILED)
		throw std::runtime_error("cannot map the slots");
	for (uint32_t i = 0; i < capture.slot_count(); i++) {
		icepath_slot head{};
		std::memcpy(&head, memory + size_t{i} * capture.slot_bytes(), sizeof(head));
		heads.push_back(head);
		const auto *records =
			reinterpret_cast<const icepath_record *>(memory + size_t{i} * capture.slot_bytes() + sizeof(head));
		for (uint32_t r = 0; r < std::min(head.position, head.capacity); r++) {
			EXPECT_EQ(records[r].seq, r) << "slot " << i;
			EXPECT_EQ(records[r].bytes, sizeof(icepath_record));
			all.push_back(records[r]);
		}
	}
	munmap(memory, bytes);
	expect_fills(capture, heads);
	return all;
}

size_t Seen::count(uint8_t type) const
{
	return static_cast<size_t>(std::ranges::count(records, type, &icepath_record::type));
}

std::vector<icepath_record> Seen::of_socket(uint8_t type, uint64_t key) const
{
	std::vector<icepath_record> found;
	std::ranges::copy_if(records, std::back_inserter(found), [&](const icepath_record &record) {
		return record.type == type && record.socket.socket == key;
	});
	std::ranges::stable_sort(found, {}, &icepath_record::end_ns);
	return found;
}

Exchange::Exchange(std::pair<uint32_t, uint32_t> cpus, const std::vector<std::optional<Tier>> &forced, ProbeSet probes)
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
	std::vector<uint32_t> list = {cpus.first};
	if (cpus.second != cpus.first)
		list.push_back(cpus.second);
	const Player first(cpus.first, [&](int) { return play_side(ends[0], true); });
	const Player second(cpus.second, [&](int) { return play_side(ends[1], false); });
	pids = {first.pid, second.pid};
	std::vector<std::unique_ptr<Capture>> captures;
	for (const auto &tier : forced) {
		captures.push_back(std::make_unique<Capture>(list, kRecords, tier));
		captures.back()->attach(probes);
		captures.back()->add_worker(first.pidfd);
		captures.back()->add_worker(second.pidfd);
		captures.back()->add_socket(ends[0], kFirstKey);
		captures.back()->add_socket(ends[1], kSecondKey);
	}
	begin_ns = icepath_now_ns();
	for (const auto &capture : captures)
		capture->begin_block({first.pidfd, second.pidfd});
	second.go();
	first.go();
	second.await();
	first.await();
	for (const auto &capture : captures) {
		Seen one;
		one.skipped = capture->end_block();
		one.records = copy_slots(*capture, one.heads);
		one.selection = capture->selection();
		seen.push_back(std::move(one));
	}
	end_ns = icepath_now_ns();
	close(ends[0]);
	close(ends[1]);
}

std::pair<uint32_t, uint32_t> two_cpus()
{
	const auto affinity = cpuset::read_permission().affinity;
	return {affinity.front(), affinity.back()};
}

} // namespace icepath::capture
