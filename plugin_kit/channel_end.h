// SPDX-License-Identifier: Apache-2.0
#pragma once
// An end of a channel: the base of every icepath_endpoint, its sentence, its peer's life, its channel's name.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// The one sentence that a failed call leaves for icepath_plugin::error. Never allocates, because it is written when
// things go wrong.
class Sentence {
public:
	// Returns `status`, so that a failing function ends with `return sentence.tell(ICEPATH_FAILED, "...")`.
	__attribute__((format(printf, 3, 4))) int tell(int status, const char *format, ...)
	{
		va_list arguments;
		va_start(arguments, format);
		std::vsnprintf(text_, sizeof(text_), format, arguments);
		va_end(arguments);
		return status;
	}
	const char *text() const { return text_; }

private:
	char text_[320] = "";
};

// Whether the peer lives, for mechanisms that don't report it: each side passes a pidfd of itself to the other.
//
// -1 with errno set where the kernel has none (before 5.3).
inline int own_pidfd() { return static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)); }

// A pidfd becomes readable when its process ends, even before it is reaped (pidfd_poll).
inline bool has_ended(int pidfd)
{
	pollfd look{pidfd, POLLIN, 0};
	return pidfd >= 0 && poll(&look, 1, 0) == 1;
}

inline void close_all(std::initializer_list<int> fds)
{
	for (const int fd : fds)
		if (fd >= 0)
			::close(fd);
}

// For sockets(): writes those of `sockets` that are open, and returns how many.
inline uint32_t list_sockets(std::initializer_list<int> sockets, int *fds, uint32_t capacity)
{
	uint32_t listed = 0;
	for (const int socket : sockets)
		if (socket >= 0 && listed < capacity)
			fds[listed++] = socket;
	return listed;
}

// The base of every icepath_endpoint of a kernel transport.
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

// For mechanisms whose sends succeed though the receiver is dead.
//
// Looks at intervals, after the message's stamps, because a look costs a system call.
class DeathWatch {
public:
	// ICEPATH_OK, or ICEPATH_CLOSED with its sentence.
	int look(ChannelEnd &end, uint64_t now_ns)
	{
		if (now_ns - looked_ns_ < kEveryNs)
			return ICEPATH_OK;
		looked_ns_ = now_ns;
		if (!end.a_peer_has_ended())
			return ICEPATH_OK;
		return end.sentence.tell(ICEPATH_CLOSED, "the process at the other end of %s has ended", end.target);
	}

private:
	static constexpr uint64_t kEveryNs = 100'000'000;
	uint64_t looked_ns_ = 0;
};

// The name of a channel, which side 0 makes and passes to side 1 in its address.
//
// A name that no earlier channel had: messages of a killed sender may still be on their way. It begins with the id of
// side 0's process.
inline std::string new_channel() { return std::to_string(getpid()) + "-" + std::to_string(icepath_now_ns()); }

inline void give_text(ChannelEnd &end, const std::string &text)
{
	end.given.bytes_used =
		static_cast<uint32_t>(text.copy(reinterpret_cast<char *>(end.given.bytes), sizeof(end.given.bytes)));
}

// The rest of open(): side 0 names the channel, passes the name to side 1, and joins; side 1 joins in connect().
// `join(end, channel)` makes an end's half.
template <class Endpoint, class Join> int open_named(Endpoint &end, Join join)
{
	if (end.side == 1)
		return ICEPATH_OK;
	const std::string channel = new_channel();
	give_text(end, channel);
	return join(end, channel);
}

inline std::string text_of(const icepath_address &peer)
{
	return {reinterpret_cast<const char *>(peer.bytes), std::min<size_t>(peer.bytes_used, sizeof(peer.bytes))};
}

} // namespace icepath::plugin_kit
