// SPDX-License-Identifier: Apache-2.0
#include "plugin_kit/many_sockets.h"

#include <sys/socket.h>

#include "plugin_kit/byte_transfer.h"

namespace icepath::plugin_kit {

ManySockets::~ManySockets()
{
	for (const std::vector<int> *fds : {&sockets_, &epolls_})
		for (const int fd : *fds)
			close(fd);
	close_all({epoll_});
}

bool ManySockets::add(int socket, icepath_wait wait)
{
	sockets_.push_back(socket);
	if (wait != ICEPATH_WAIT_EPOLL)
		return true;
	if (epoll_ < 0 && (epoll_ = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return false;
	epoll_event event{};
	event.events = EPOLLIN;
	event.data.u32 = static_cast<uint32_t>(sockets_.size() - 1);
	const int own = open_epoll(socket);
	if (own < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event)) {
		close_all({own});
		return false;
	}
	epolls_.push_back(own);
	ready_.resize(sockets_.size());
	return true;
}

int ManySockets::next_ready(ChannelEnd &end, icepath_recv &message, int &status)
{
	if (served_ == told_) {
		served_ = told_ = 0;
		const int count = epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), -1);
		message.wait_return_ns = icepath_now_ns();
		if (count < 0) {
			status = judge(end, errno, "epoll_wait");
			return -1;
		}
		told_ = static_cast<size_t>(count);
	}
	return static_cast<int>(ready_[served_++].data.u32);
}

int ManySockets::next(ChannelEnd &end, icepath_recv &message, int &status)
{
	if (end.wait == ICEPATH_WAIT_EPOLL)
		return next_ready(end, message, status);
	turn_ = (turn_ + 1) % sockets_.size();
	return static_cast<int>(turn_);
}

int ManySockets::recv(ChannelEnd &end, icepath_recv &message, bool stream)
{
	if (const int status = end.begin(message); status != ICEPATH_OK)
		return status;
	const uint64_t wanted = stream ? end.payload_bytes : message.capacity;
	int from = -1;
	for (;;) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		int status = ICEPATH_OK;
		if (message.bytes == 0) {
			if ((from = next(end, message, status)) < 0 && status != ICEPATH_OK)
				return status;
		} else if (end.wait == ICEPATH_WAIT_EPOLL) {
			epoll_event event;
			const int ready = epoll_wait(epolls_[from], &event, 1, -1);
			message.wait_return_ns = icepath_now_ns();
			if (ready < 0 && (status = judge(end, errno, "epoll_wait")) != ICEPATH_OK)
				return status;
		}
		if (from < 0)
			continue;
		const int flags = MSG_DONTWAIT | (stream ? 0 : MSG_TRUNC);
		message.take_call_ns = icepath_now_ns();
		const ssize_t moved =
			::recv(sockets_[from], static_cast<uint8_t *>(message.data) + message.bytes, wanted - message.bytes, flags);
		message.take_return_ns = icepath_now_ns();
		message.attempts++;
		if (moved < 0) {
			if (status = judge(end, errno, "recv"); status != ICEPATH_OK)
				return status;
			continue;
		}
		if (moved == 0)
			return end.sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed (recv: end of file)", end.target);
		if (static_cast<uint64_t>(moved) > wanted - message.bytes)
			return end.sentence.tell(ICEPATH_FAILED, "%s: received a message of %zd bytes, expected %llu", end.target,
									 moved, static_cast<unsigned long long>(end.payload_bytes));
		message.bytes += static_cast<uint64_t>(moved);
		if (message.bytes == wanted || (!stream && (!end.in_parts() || static_cast<uint64_t>(moved) < end.part_bytes)))
			return ICEPATH_OK;
	}
}

} // namespace icepath::plugin_kit
