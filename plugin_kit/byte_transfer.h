// SPDX-License-Identifier: Apache-2.0
#pragma once
// Moves one message by system calls that return as read(2) and write(2) do, and stamps both sides of each call as
// include/icepath/plugin.h demands. A message longer than one call carries is split here and reassembled. Partial
// transfers continue; EINTR and EAGAIN only check for cancellation.
#include <sys/epoll.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

enum class Boundary { Stream, Message };

// The status after a call that moved nothing. ICEPATH_OK: try again.
inline int judge(ChannelEnd &end, int error, const char *call_name)
{
	switch (error) {
	case EINTR:
	case EAGAIN:
	case ENOMSG: // from msgrcv(2)
	case ENOBUFS:
		return ICEPATH_OK;
	case EPIPE:
	case EIDRM: // the other end has removed the System V queue
	case ESRCH: // a signal to a process that was reaped
	case ECONNRESET:
	case ECONNREFUSED: // datagram sockets, as is ENOTCONN the second time (unix_dgram_sendmsg)
	case ENOTCONN:
		return end.sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed (%s: %s)", end.target, call_name,
								 std::strerror(error));
	default:
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call_name, std::strerror(error));
	}
}

// call(const void *, size_t) -> ssize_t
template <class Call> int send_by_calls(ChannelEnd &end, icepath_send &message, const char *call_name, Call call)
{
	const auto *next = static_cast<const uint8_t *>(message.data);
	uint64_t left = message.bytes;
	message.call_ns = message.publish_ns = message.return_ns = 0;
	message.attempts = 0;
	message.flags = 0;
	for (;;) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		const uint64_t call_ns = icepath_now_ns();
		const ssize_t moved = call(next, std::min(left, end.part_bytes));
		message.return_ns = icepath_now_ns();
		if (message.attempts++ == 0)
			message.call_ns = call_ns;
		if (moved < 0) {
			if (const int status = judge(end, errno, call_name); status != ICEPATH_OK)
				return status;
			continue;
		}
		next += moved;
		left -= static_cast<uint64_t>(moved);
		if (left == 0)
			return ICEPATH_OK;
	}
}

// call(void *, size_t) -> ssize_t: the length of the whole datagram, even if it was truncated. -1 with EAGAIN: not part
// of this message; `message.bytes` is 0 again if a new message began. Only ICEPATH_WAIT_EPOLL uses `epoll`.
template <Boundary boundary, class Call>
int recv_by_calls(ChannelEnd &end, icepath_recv &message, const char *call_name, int epoll, Call call)
{
	if (const int status = end.begin(message); status != ICEPATH_OK)
		return status;
	const uint64_t wanted = boundary == Boundary::Stream ? end.payload_bytes : message.capacity;
	for (;;) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		if (end.wait == ICEPATH_WAIT_EPOLL) {
			epoll_event event;
			const int ready = epoll_wait(epoll, &event, 1, -1);
			message.wait_return_ns = icepath_now_ns();
			if (ready < 0) {
				if (const int status = judge(end, errno, "epoll_wait"); status != ICEPATH_OK)
					return status;
				continue;
			}
		}
		message.take_call_ns = icepath_now_ns();
		const ssize_t moved = call(static_cast<uint8_t *>(message.data) + message.bytes, wanted - message.bytes);
		message.take_return_ns = icepath_now_ns();
		message.attempts++;
		if (moved < 0) {
			if (const int status = judge(end, errno, call_name); status != ICEPATH_OK)
				return status;
			continue;
		}
		if (moved == 0)
			return end.sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed (%s: end of file)", end.target,
									 call_name);
		if (static_cast<uint64_t>(moved) > wanted - message.bytes)
			return end.sentence.tell(ICEPATH_FAILED, "%s: received a message of %zd bytes, expected %llu", end.target,
									 moved, static_cast<unsigned long long>(end.payload_bytes));
		message.bytes += static_cast<uint64_t>(moved);
		// A message ends with its last byte, or with a part shorter than a full one.
		if (message.bytes == wanted ||
			(boundary == Boundary::Message && (!end.in_parts() || static_cast<uint64_t>(moved) < end.part_bytes)))
			return ICEPATH_OK;
	}
}

// An epoll instance that watches `fd` for `events`, level-triggered unless they say otherwise; -1 with errno set.
inline int open_epoll(int fd, uint32_t events = EPOLLIN)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_event event{};
	event.events = events;
	if (epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
		const int error = errno;
		close(epoll);
		errno = error;
		return -1;
	}
	return epoll;
}

} // namespace icepath::plugin_kit
