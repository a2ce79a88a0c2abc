// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint that is one connected stream socket driven through io_uring: opening and connecting it, waiting for a
// completion, sending. What a plug-in adds is how it asks for received bytes.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <bit>
#include <climits>

#include "transports/byte_transfer.h"
#include "transports/channel_end.h"
#include "transports/kernel_limit.h"
#include "transports/spin_pause.h"
#include "transports/tcp_connection.h"
#include "transports/uring.h"

namespace icepath::transports {

inline constexpr uint64_t kLargestOnUring = 1024 * kMiB;

// What all of these targets have in common.
inline icepath_target uring_socket_target(const char *name, const char *summary)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY | ICEPATH_USES_BYTE_STREAM;
	it.capabilities = ICEPATH_CAN_PINGPONG;
	it.max_payload_bytes = kLargestOnUring;
	it.max_payload_why = "icepath's own limit: a byte stream has none";
	it.why_not = uring_missing();
	return it;
}

// The ends of a socket pair, as of uds.cc.
template <class Endpoint> int set_up_pair(Endpoint &end)
{
	if (end.side == 1)
		return ICEPATH_OK;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return end.failed("socketpair");
	end.socket = pair[0];
	end.give(pair[1]);
	return ICEPATH_OK;
}

template <class Endpoint> int connect_pair(Endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 1)
		end->socket = peer->fds[0];
	return ICEPATH_OK;
}

struct UringSocketEnd : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~UringSocketEnd() { close_all({socket, listener, epoll}); }
	int socket = -1;
	int listener = -1; // tcp side 0, until connected
	int epoll = -1;
	Uring in, out;

	static constexpr uint64_t kReceiving = 1, kSending = 2; // ids of requests; with buffers, the first one's

	// The last step of connect().
	int open_rings(Uring::Submission sending)
	{
		if (sends && (errno = -out.open(sending)) != 0)
			return failed("io_uring_setup");
		if (receives && (errno = -in.open()) != 0)
			return failed("io_uring_setup");
		if (receives && wait == ICEPATH_WAIT_EPOLL) {
			const int event = in.open_event();
			if (event < 0)
				return failed("eventfd");
			if ((epoll = open_epoll(event, EPOLLIN | EPOLLET)) < 0)
				return failed("epoll");
		}
		return ICEPATH_OK;
	}

	// Returns once `in` has a completion, with the stamps of the call that brought it. Otherwise the status says why not,
	// and the request that was waited for is the caller's to withdraw.
	int await(icepath_recv &message)
	{
		while (!in.has_completion()) {
			if (is_cancelled())
				return end_of_cancelled();
			if (!try_once(message))
				return failed("io_uring_enter");
		}
		return ICEPATH_OK;
	}

	// Sends the whole message. `prepare(request, data, bytes, buffer)` fills a request in; those that send from buffers of
	// their own, `buffers` of them, take the one of that number. One that says that it will notify (IORING_CQE_F_MORE) has
	// its buffer until then.
	template <class Prepare>
	int send_by_requests(icepath_send &message, const char *request_name, unsigned buffers, Prepare prepare)
	{
		const auto *next = static_cast<const uint8_t *>(message.data);
		uint64_t left = message.bytes;
		message.call_ns = message.publish_ns = message.return_ns = 0;
		message.attempts = 0;
		message.flags = 0;
		while (left > 0) {
			for (moved_ = kUnknown; static_cast<unsigned>(std::countr_one(lent_)) >= buffers;)
				if (const int status = go_on(message, false); status != ICEPATH_OK)
					return status;
			const auto buffer = static_cast<unsigned>(std::countr_one(lent_));
			io_uring_sqe *request = out.request();
			prepare(request, next, std::min(left, part_bytes), buffer);
			io_uring_sqe_set_data64(request, kSending + buffer);
			int status = go_on(message, true);
			while (status == ICEPATH_OK && moved_ == kUnknown)
				status = go_on(message, false);
			if (status != ICEPATH_OK && moved_ == kUnknown)
				out.withdraw(kSending + buffer);
			if (status == ICEPATH_OK && moved_ < 0)
				status = judge(*this, -moved_, request_name);
			if (status != ICEPATH_OK)
				return status;
			next += std::max(moved_, 0);
			left -= static_cast<uint64_t>(std::max(moved_, 0));
		}
		return ICEPATH_OK;
	}

private:
	// False with errno set where a call failed.
	bool try_once(icepath_recv &message)
	{
		const bool handed_in = in.is_submitted();
		if (wait == ICEPATH_WAIT_EPOLL && !handed_in)
			return in.submit(false); // the request waits for readiness: nothing is taken yet
		if (wait == ICEPATH_WAIT_EPOLL && !sleep_until_ready(message))
			return true;
		message.attempts++;
		if (wait == ICEPATH_WAIT_POLL && handed_in && !in.has_work()) {
			pause_spin();
			return true;
		}
		const bool went_well = wait == ICEPATH_WAIT_BLOCK ? in.submit(true) : handed_in ? do_work() : in.submit(false);
		message.take_call_ns = in.call_ns;
		message.take_return_ns = in.return_ns;
		return went_well;
	}

	bool sleep_until_ready(icepath_recv &message)
	{
		epoll_event event;
		const int ready = epoll_wait(epoll, &event, 1, -1);
		message.wait_return_ns = icepath_now_ns();
		return ready > 0;
	}

	bool do_work()
	{
		if (wait != ICEPATH_WAIT_EPOLL)
			return in.do_work();
		in.signal_event(false);
		const bool went_well = in.do_work();
		in.signal_event(true);
		return went_well;
	}

	// One call, or one look where nothing may sleep: hands a new request in, or waits for what was handed in before.
	int go_on(icepath_send &message, bool hand_in)
	{
		if (is_cancelled())
			return end_of_cancelled();
		// Waiting by epoll is about messages; for room, a sender that may sleep sleeps in the call.
		const bool may_sleep = wait != ICEPATH_WAIT_POLL;
		const bool calls = hand_in || may_sleep || (out.has_work() && !out.has_completion());
		if (!calls)
			pause_spin();
		else if (!(hand_in || may_sleep ? out.submit(may_sleep) : out.do_work()))
			return failed("io_uring_enter");
		if (calls && message.attempts++ == 0)
			message.call_ns = out.call_ns;
		message.return_ns = out.has_thread() ? icepath_now_ns() : out.return_ns;
		while (out.has_completion()) {
			const io_uring_cqe done = out.take();
			const uint64_t buffer = 1ull << (done.user_data - kSending);
			if ((done.flags & IORING_CQE_F_NOTIF) == 0)
				moved_ = done.res;
			else if (static_cast<uint32_t>(done.res) & kCopied)
				message.flags |= ICEPATH_SEND_COPIED;
			lent_ = (done.flags & IORING_CQE_F_MORE) ? lent_ | buffer : lent_ & ~buffer;
		}
		return ICEPATH_OK;
	}

	static constexpr int kUnknown = INT_MIN;
	static constexpr uint32_t kCopied = 1u << 31; // IORING_NOTIF_USAGE_ZC_COPIED, which liburing 2.3 doesn't name
	int moved_ = kUnknown; // of the request that was handed in last
	uint64_t lent_ = 0; // bit i: the kernel has buffer i
};

inline uint32_t uring_sockets(const UringSocketEnd &end, int *fds, uint32_t capacity)
{
	if (end.socket < 0 || capacity == 0)
		return 0;
	fds[0] = end.socket;
	return 1;
}

} // namespace icepath::transports
