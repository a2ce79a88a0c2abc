// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint with one ring for each direction, and its waits for incoming messages.
#include <sys/epoll.h>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/spin_pause.h"
#include "plugin_kit/uring.h"

namespace icepath::plugin_kit {

// The call that brought the messages which are then taken from the ring one by one: all carry its stamps.
class Read {
public:
	void keep(const icepath_recv &first) { first_ = first; }
	void report(icepath_recv &message) const
	{
		message.ask_ns = first_.ask_ns;
		message.wait_return_ns = first_.wait_return_ns;
		message.take_call_ns = first_.take_call_ns;
		message.take_return_ns = first_.take_return_ns;
		message.attempts = std::max(message.attempts, 1u);
	}

private:
	icepath_recv first_{};
};

struct UringEnd : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~UringEnd() { close_all({epoll}); }
	Uring in, out;
	int epoll = -1;

	// Call it in the thread that will send and receive.
	int open_in()
	{
		if ((errno = -in.open()) != 0)
			return failed("io_uring_setup");
		if (wait != ICEPATH_WAIT_EPOLL)
			return ICEPATH_OK;
		const int event = in.open_event();
		if (event < 0)
			return failed("eventfd");
		return (epoll = open_epoll(event, EPOLLIN | EPOLLET)) < 0 ? failed("epoll") : static_cast<int>(ICEPATH_OK);
	}

	int open_out(Uring::Submission submission)
	{
		return (errno = -out.open(submission)) != 0 ? failed("io_uring_setup") : static_cast<int>(ICEPATH_OK);
	}

	// Returns once `in` has a completion, with the stamps of the last call, which brought it if in.came_with_call().
	// Otherwise the status says why, and the caller must withdraw the request.
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

private:
	// False with errno set if a call failed.
	bool try_once(icepath_recv &message)
	{
		const bool handed_in = in.is_submitted();
		if (wait == ICEPATH_WAIT_EPOLL && !handed_in)
			return in.submit(false); // the request waits for readiness: nothing is taken yet
		if (wait == ICEPATH_WAIT_EPOLL && !sleep_until_ready(message))
			return true;
		message.attempts++;
		// A call would do nothing if another ring put a completion there (io_uring_msg_ring.cc).
		if (wait != ICEPATH_WAIT_BLOCK && in.has_completion())
			return true;
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
};

} // namespace icepath::plugin_kit
