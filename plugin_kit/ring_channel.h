// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint of two rings in shared memory, and what distinguishes the targets of one kind of ring.
#include <linux/memfd.h>
#include <sys/eventfd.h>

#include <bit>
#include <iterator>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/ring_wait.h"
#include "plugin_kit/rings.h"
#include "plugin_kit/shared_mapping.h"

namespace icepath::plugin_kit {

// What distinguishes the targets of one kind of ring.
struct RingVariant {
	static constexpr uint64_t kLargestPayload = 64 * kMiB;
	static constexpr uint64_t kHugePage = 2 * kMiB;

	icepath_target target{};
	BellMake bell = BellMake::Futex;
	bool huge = false;

	RingVariant(const char *name, const char *summary, BellMake bell_make) : bell(bell_make)
	{
		target.size = sizeof(target);
		target.name = name;
		target.summary = summary;
		// A spinning receiver ignores the bell, so one spinning target per kind of ring suffices.
		target.waits = ICEPATH_WAIT_BLOCK;
		if (bell == BellMake::Futex)
			target.waits |= ICEPATH_WAIT_SPIN;
		if (bell == BellMake::Eventfd)
			target.waits |= ICEPATH_WAIT_EPOLL;
		target.mechanisms = ICEPATH_USES_USER_SLOT;
		target.max_payload_bytes = kLargestPayload;
		target.max_payload_why = "icepath's own limit: a ring has at least two slots of the payload's size";
	}

	// All huge pages, not the free ones: the channel's other side asks later.
	static uint64_t huge_pages() { return kernel_limit("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", 0); }

	static RingVariant on_huge_pages(const char *name, const char *summary)
	{
		RingVariant it(name, summary, BellMake::Futex);
		it.huge = true;
		it.target.max_payload_why = "an eighth of the 2 MiB pages in /proc/sys/vm/nr_hugepages for each slot";
		it.target.max_payload_bytes = std::min(kLargestPayload, huge_pages() * kHugePage / 8);
		if (huge_pages() == 0)
			it.target.why_not = "no 2 MiB pages are set aside: echo 64 > /proc/sys/vm/nr_hugepages";
		return it;
	}

	unsigned memfd_flags() const { return huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0; }
	// Such a mapping begins and ends at a page boundary.
	uint64_t whole_pages(uint64_t bytes) const
	{
		return huge ? (bytes + kHugePage - 1) / kHugePage * kHugePage : bytes;
	}
	// Leaves huge pages to other channels.
	uint64_t most_ring_bytes() const { return huge ? huge_pages() * kHugePage / 16 : 2 * kLargestPayload; }
};

// An endpoint of two rings in shared memory, one for each direction, each with a bell for messages and one for room:
// everything of shm-ring, shm-mpmc and shm-loan but the kind of ring.
template <class Ring> class RingEnd : public SharedMemoryEnd {
public:
	using SharedMemoryEnd::SharedMemoryEnd;
	~RingEnd()
	{
		close_all({epoll_});
		for (const Way &way : {in_, out_})
			close_all({way.message_fd, way.room_fd});
	}

	int set_up(const RingVariant &variant, uint32_t depth);
	int meet_peer(const icepath_address &peer);
	uint64_t memory_bytes() const { return variant_->whole_pages(2 * way_bytes()); }
	void lay_out(uint8_t *first);

	// Waits for the next slot to fill. NULL: `status` says why.
	void *await_room(uint32_t &attempts, int &status);
	void publish(icepath_send &message);
	// Waits for the oldest message, in its slot. NULL: `status` says why.
	const void *await_message(icepath_recv &message, int &status);
	void release();

private:
	struct Bells {
		SharedBell message, room;
	};
	struct Way {
		Ring ring;
		Bells *bells = nullptr;
		Bell message, room;
		int message_fd = -1, room_fd = -1;
	};

	bool sleeps() const { return wait != ICEPATH_WAIT_SPIN; }
	uint64_t way_bytes() const { return sizeof(Bells) + Ring::bytes(shape_); }
	int make_bells();
	void hang(Way &way);
	int give_copy(int fd);

	const RingVariant *variant_ = nullptr;
	RingShape shape_{};
	int epoll_ = -1;
	Way in_, out_;
};

template <class Ring> void *RingEnd<Ring>::await_room(uint32_t &attempts, int &status)
{
	for (;;) {
		if (is_cancelled()) {
			status = end_of_cancelled();
			return nullptr;
		}
		attempts++;
		if (void *slot = out_.ring.room())
			return slot;
		if (sleeps())
			out_.room.sleep_unless([this] { return out_.ring.has_room(); });
		else
			pause_spin();
	}
}

template <class Ring> void RingEnd<Ring>::publish(icepath_send &message)
{
	message.call_ns = message.return_ns = 0;
	message.publish_ns = icepath_now_ns();
	out_.ring.publish();
	if (sleeps() && out_.message.is_awaited()) {
		message.call_ns = icepath_now_ns();
		out_.message.ring();
		message.return_ns = icepath_now_ns();
	}
	if (Ring::kPassesOn && sleeps() && out_.ring.has_room() && out_.room.is_awaited())
		out_.room.ring();
}

template <class Ring> const void *RingEnd<Ring>::await_message(icepath_recv &message, int &status)
{
	message.ask_ns = icepath_now_ns();
	message.wait_return_ns = message.take_call_ns = message.take_return_ns = 0;
	message.attempts = 0;
	for (;;) {
		if (is_cancelled()) {
			status = end_of_cancelled();
			return nullptr;
		}
		message.attempts++;
		if (const void *slot = in_.ring.message()) {
			message.observe_ns = icepath_now_ns();
			message.bytes = payload_bytes;
			return slot;
		}
		if (!sleeps()) {
			pause_spin();
		} else if (const uint64_t back_ns = in_.message.sleep_unless([this] { return in_.ring.has_message(); })) {
			message.wait_return_ns = back_ns;
		}
	}
}

template <class Ring> void RingEnd<Ring>::release()
{
	in_.ring.release();
	if (sleeps() && in_.room.is_awaited())
		in_.room.ring();
	if (Ring::kPassesOn && sleeps() && in_.ring.has_message() && in_.message.is_awaited())
		in_.message.ring();
}

template <class Ring> int RingEnd<Ring>::give_copy(int fd)
{
	const int theirs = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (theirs < 0)
		return failed("fcntl(F_DUPFD_CLOEXEC)");
	give(theirs);
	return ICEPATH_OK;
}

template <class Ring> void RingEnd<Ring>::lay_out(uint8_t *first)
{
	for (const uint32_t from : {0u, 1u}) {
		Way &way = from == side ? out_ : in_;
		way.bells = reinterpret_cast<Bells *>(first + from * way_bytes());
		if (makes()) {
			Bell::make(way.bells->message);
			Bell::make(way.bells->room);
			Ring::make(way.bells + 1, shape_);
		}
		way.ring.attach(way.bells + 1, shape_);
	}
}

template <class Ring> void RingEnd<Ring>::hang(Way &way)
{
	way.message.hang(variant_->bell, way.bells->message, way.message_fd);
	way.room.hang(variant_->bell, way.bells->room, way.room_fd);
}

// Each side makes the eventfds on which it sleeps; a fan-in's receiver also makes the one on which all senders sleep.
template <class Ring> int RingEnd<Ring>::make_bells()
{
	if (variant_->bell != BellMake::Eventfd)
		return ICEPATH_OK;
	if (in_fan_in() && !makes())
		return ICEPATH_OK;
	for (int *bell : {&in_.message_fd, in_fan_in() ? &in_.room_fd : &out_.room_fd}) {
		if ((*bell = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)) < 0)
			return failed("eventfd");
		if (const int status = give_copy(*bell); status != ICEPATH_OK)
			return status;
	}
	if (wait == ICEPATH_WAIT_EPOLL && (epoll_ = open_epoll(in_.message_fd)) < 0)
		return failed("epoll");
	return ICEPATH_OK;
}

// The address: the maker's slot count and memory, then the eventfds of the bells for messages and for room.
template <class Ring> int RingEnd<Ring>::set_up(const RingVariant &variant, uint32_t depth)
{
	variant_ = &variant;
	shape_ = {slots_for(depth, Ring::slot_bytes(payload_bytes), variant.most_ring_bytes()), payload_bytes};
	if (makes()) {
		std::memcpy(given.bytes, &shape_.slots, sizeof(shape_.slots));
		given.bytes_used = sizeof(shape_.slots);
	}
	const int status = set_up_memory(*this, variant.memfd_flags());
	if (status != ICEPATH_OK && variant.huge)
		return sentence.tell(status, "%s: %llu bytes of free 2 MiB pages are wanted: raise /proc/sys/vm/nr_hugepages",
							 target, static_cast<unsigned long long>(memory_bytes()));
	return status == ICEPATH_OK ? make_bells() : status;
}

template <class Ring> int RingEnd<Ring>::meet_peer(const icepath_address &peer)
{
	const uint32_t bells = variant_->bell == BellMake::Eventfd ? 2 : 0;
	const uint32_t memories = makes() ? 0 : 1, passed = in_fan_in() && makes() ? 0 : bells;
	if (const int status = meet(peer, memories + passed); status != ICEPATH_OK)
		return status;
	if (passed) {
		out_.message_fd = peer.fds[memories];
		(in_fan_in() ? out_ : in_).room_fd = peer.fds[memories + 1];
	}
	if (!makes()) {
		memory_fd = peer.fds[0];
		if (peer.bytes_used == sizeof(shape_.slots))
			std::memcpy(&shape_.slots, peer.bytes, sizeof(shape_.slots));
		if (!std::has_single_bit(shape_.slots))
			return sentence.tell(ICEPATH_FAILED, "%s: the peer's address has no number of slots", target);
		if (const int status = map_own_memory(*this); status != ICEPATH_OK)
			return status;
	}
	hang(in_);
	hang(out_);
	in_.message.sleep_in(epoll_);
	return ICEPATH_OK;
}

template <class Endpoint> int send_by_copy(Endpoint *end, icepath_send *message)
{
	int status = ICEPATH_OK;
	message->attempts = 0;
	void *slot = end->await_room(message->attempts, status);
	if (!slot)
		return status;
	std::memcpy(slot, message->data, end->payload_bytes);
	end->publish(*message);
	return ICEPATH_OK;
}

template <class Endpoint> int recv_by_copy(Endpoint *end, icepath_recv *message)
{
	if (message->capacity < end->payload_bytes)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the receive buffer is smaller than the payload", end->target);
	int status = ICEPATH_OK;
	const void *slot = end->await_message(*message, status);
	if (!slot)
		return status;
	std::memcpy(message->data, slot, end->payload_bytes);
	end->release();
	return ICEPATH_OK;
}

// The table of a plug-in whose Endpoint is a RingEnd. `variant(n)`: the n-th, or NULL after the last.
template <class Endpoint, const RingVariant *(*variant)(uint32_t)> icepath_plugin ring_table(const char *name)
{
	constexpr auto target = [](uint32_t n) -> const icepath_target * {
		const RingVariant *nth = variant(n);
		return nth ? &nth->target : nullptr;
	};
	constexpr auto open = [](const icepath_open *how, Endpoint **endpoint, icepath_address *address) {
		*endpoint = nullptr;
		for (uint32_t n = 0; const RingVariant *nth = variant(n); n++)
			if (std::strcmp(nth->target.name, how->target) == 0)
				return open_endpoint(how, nth->target, endpoint, address,
									 [=](Endpoint &end) { return end.set_up(*nth, how->depth); });
		return open_error().tell(ICEPATH_UNSUPPORTED, "there is no ring called %.31s", how->target);
	};
	constexpr auto connect = [](Endpoint *end, const icepath_address *peer) { return end->meet_peer(*peer); };
	return plugin_table<Endpoint>(name, target, open, connect, send_by_copy<Endpoint>, recv_by_copy<Endpoint>);
}

} // namespace icepath::plugin_kit
