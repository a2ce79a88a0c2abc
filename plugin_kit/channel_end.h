// SPDX-License-Identifier: Apache-2.0
#pragma once
// The base of every icepath_endpoint of a kernel transport.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "icepath/plugin.h"
#include "plugin_kit/peer_process.h"
#include "plugin_kit/sentence.h"

namespace icepath::plugin_kit {

inline void close_all(std::initializer_list<int> fds)
{
	for (const int fd : fds)
		if (fd >= 0)
			::close(fd);
}

// For sockets(): writes those of `sockets` that are open, and returns how many.
inline uint32_t tell_sockets(std::initializer_list<int> sockets, int *fds, uint32_t capacity)
{
	uint32_t told = 0;
	for (const int socket : sockets)
		if (socket >= 0 && told < capacity)
			fds[told++] = socket;
	return told;
}

struct ChannelEnd {
	const char *target;
	uint32_t side;
	bool sends, receives;
	icepath_wait wait;
	uint64_t payload_bytes;
	uint64_t part_bytes; // most of a message that one call carries
	std::atomic<bool> cancelled{false};
	uint32_t peers; // above 1: a fan-in
	std::vector<int> peer_pidfds; // complete after connect()
	icepath_address given{}; // for the peer; its descriptors are closed once the peer has them
	Sentence sentence;

	ChannelEnd(const icepath_open &how, const icepath_target &what)
		: target(what.name), side(how.side), sends(how.sends), receives(how.receives), wait(how.wait),
		  payload_bytes(how.payload_bytes),
		  part_bytes(what.max_part_bytes ? std::min(what.max_part_bytes, how.payload_bytes) : how.payload_bytes),
		  peers(how.peers)
	{}
	~ChannelEnd()
	{
		for (const int pidfd : peer_pidfds)
			::close(pidfd);
		close_given();
	}
	ChannelEnd(const ChannelEnd &) = delete;
	ChannelEnd &operator=(const ChannelEnd &) = delete;

	bool in_parts() const { return part_bytes < payload_bytes; }
	bool in_fan_in() const { return peers > 1; }
	// Whether this end makes what both sides share: side 0, except in a fan-in, where it is the single receiver.
	bool makes() const { return side == (in_fan_in() ? 1 : 0); }
	bool a_peer_has_ended() const { return std::ranges::any_of(peer_pidfds, has_ended); }
	bool is_cancelled() const { return cancelled.load(std::memory_order_relaxed); }

	void give(int fd) { given.fds[given.fds_used++] = fd; }
	void close_given()
	{
		for (uint32_t i = 0; i < given.fds_used; i++)
			::close(given.fds[i]);
		given.fds_used = 0;
	}

	// The first step of connect(). The peer has its own descriptors by now; keeping these would hide its death. The
	// peer's pidfd is the last descriptor of its address, after `others` descriptors.
	int meet(const icepath_address &peer, uint32_t others)
	{
		close_given();
		if (peer.fds_used != others + 1)
			return sentence.tell(ICEPATH_FAILED, "%s: the peer's address has %u descriptors, expected %u", target,
								 peer.fds_used, others + 1);
		peer_pidfds.push_back(peer.fds[others]);
		return ICEPATH_OK;
	}

	// Whether a slot of that size may be lent.
	int check_slot(uint64_t bytes)
	{
		if (bytes > payload_bytes)
			return sentence.tell(ICEPATH_UNSUPPORTED, "%s: a slot has %llu bytes, %llu were asked for", target,
								 static_cast<unsigned long long>(payload_bytes),
								 static_cast<unsigned long long>(bytes));
		return ICEPATH_OK;
	}

	// Begins a receive: asking begins here. Clears what the last message left in `message`.
	static void begin_taking(icepath_recv &message)
	{
		message.ask_ns = icepath_now_ns();
		message.wait_return_ns = message.take_call_ns = message.take_return_ns = message.observe_ns = 0;
		message.attempts = 0;
		message.bytes = 0;
	}
	int begin(icepath_recv &message)
	{
		begin_taking(message);
		return check_capacity(message);
	}
	int check_capacity(const icepath_recv &message)
	{
		if (message.capacity < payload_bytes)
			return sentence.tell(ICEPATH_FAILED, "%s: the receive buffer is smaller than the payload", target);
		return ICEPATH_OK;
	}

	// The status of a cancelled call. Also detects the peer's death, which not every mechanism reports.
	int end_of_cancelled()
	{
		if (a_peer_has_ended())
			return sentence.tell(ICEPATH_CLOSED, "the process at the other end of %s has ended", target);
		return sentence.tell(ICEPATH_CANCELLED, "a call on %s was cancelled", target);
	}

	int failed(const char *what)
	{
		return sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", target, what, std::strerror(errno));
	}
};

} // namespace icepath::plugin_kit
