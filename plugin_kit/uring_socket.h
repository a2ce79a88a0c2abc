// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint that is one connected stream socket driven through io_uring: opening, connecting and sending. A plug-in
// adds how it asks for received bytes.
#include <sys/socket.h>

#include <bit>
#include <climits>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/tcp_connection.h"
#include "plugin_kit/uring_end.h"

namespace icepath::plugin_kit {

inline constexpr uint64_t kLargestOnUring = 1024 * kMiB;

// The common description of these targets.
inline icepath_target uring_socket_target(const char *name, const char *summary)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY | ICEPATH_USES_BYTE_STREAM;
	it.max_payload_bytes = kLargestOnUring;
	it.max_payload_why = "icepath's own limit: a byte stream has none";
	it.why_not = uring_missing();
	return it;
}

// The ends of a socket pair, as in uds.cc.
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

struct UringSocketEnd : UringEnd {
	using UringEnd::UringEnd;
	~UringSocketEnd() { close_all({socket, listener}); }
	int socket = -1;
	int listener = -1; // tcp side 0, until connected

	static constexpr uint64_t kReceiving = 1, kSending = 2; // request ids; with buffers, the id of the first

	// The last step of connect().
	int open_rings(Uring::Submission submission)
	{
		int status = sends ? open_out(submission) : static_cast<int>(ICEPATH_OK);
		if (status == ICEPATH_OK && receives)
			status = open_in();
		return status;
	}

	// Sends the whole message. `prepare(request, data, bytes, buffer)` fills in a request; a sender with its own
	// `buffers` takes the one with index `buffer`. One that will notify (IORING_CQE_F_MORE) keeps it until then.
	template <class Prepare> int send_by_requests(icepath_send &message, unsigned buffers, Prepare prepare)
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
				status = judge(*this, -moved_, "send");
			if (status != ICEPATH_OK)
				return status;
			next += std::max(moved_, 0);
			left -= static_cast<uint64_t>(std::max(moved_, 0));
		}
		return ICEPATH_OK;
	}

private:
	// One call, or one look if nothing may sleep: submits a new request, or waits for those submitted before.
	int go_on(icepath_send &message, bool hand_in)
	{
		if (is_cancelled())
			return end_of_cancelled();
		// Only messages are awaited with epoll: for room, a sender that may sleep does so in the call.
		const bool may_sleep = wait != ICEPATH_WAIT_POLL;
		const bool calls = hand_in || may_sleep || (out.has_work() && !out.has_completion());
		// A kernel thread that is awake takes requests out of memory. If it falls asleep just now, the call that wakes
		// it is not stamped.
		const bool in_memory = out.has_thread() && !may_sleep && !out.thread_sleeps();
		if (!calls)
			pause_spin();
		else if (!(hand_in || may_sleep ? out.submit(may_sleep) : out.do_work()))
			return failed("io_uring_enter");
		message.attempts += calls;
		if (calls && !in_memory) {
			message.call_ns = message.call_ns ? message.call_ns : out.call_ns;
			message.return_ns = out.return_ns;
		}
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
	int moved_ = kUnknown; // by the request submitted last
	uint64_t lent_ = 0; // bit i: the kernel has buffer i
};

} // namespace icepath::plugin_kit
