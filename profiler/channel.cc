// SPDX-License-Identifier: Apache-2.0
#include "profiler/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "profiler/failure.h"

namespace icepath {

Fd &Fd::operator=(Fd &&other) noexcept
{
	std::swap(fd_, other.fd_);
	return *this;
}

Fd::~Fd() { reset(); }

void Fd::reset()
{
	if (fd_ >= 0)
		close(fd_);
	fd_ = -1;
}

Fd pidfd_of(pid_t process) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, process, 0))); }

namespace channel {

std::pair<Fd, Fd> open_pair()
{
	std::array<int, 2> ends{};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()))
		throw Failure(ExitCode::MachineCannot, std::string("cannot open a socket pair: ") + std::strerror(errno));
	return {Fd(ends[0]), Fd(ends[1])};
}

bool send(int socket, const void *message, size_t bytes, const std::vector<int> &fds)
{
	iovec part{const_cast<void *>(message), bytes};
	msghdr header{};
	header.msg_iov = &part;
	header.msg_iovlen = 1;
	alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
	if (fds.size() > kMaxFds)
		return false;
	if (!fds.empty()) {
		header.msg_control = control.data();
		header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
		cmsghdr *rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
		std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
	}
	ssize_t sent = 0;
	do
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == static_cast<ssize_t>(bytes);
}

bool ask_for_senders(int socket)
{
	const int on = 1;
	return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
}

namespace {

// What came with a message besides its bytes.
void take_control(msghdr &header, std::vector<Fd> &fds, std::optional<uid_t> *sender)
{
	for (cmsghdr *part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
		if (part->cmsg_level != SOL_SOCKET)
			continue;
		if (part->cmsg_type == SCM_RIGHTS) {
			const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			for (size_t i = 0; i < count; i++) {
				int number = -1;
				std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
				Fd fd(number); // one too many is closed: the room for the sender may hold descriptors instead
				if (fds.size() < kMaxFds)
					fds.push_back(std::move(fd));
			}
		} else if (part->cmsg_type == SCM_CREDENTIALS && sender) {
			ucred who{};
			std::memcpy(&who, CMSG_DATA(part), sizeof(who));
			*sender = who.uid;
		}
	}
}

} // namespace

bool receive(int socket, void *message, size_t bytes, std::vector<Fd> &fds, int timeout_ms,
			 std::optional<uid_t> *sender)
{
	if (timeout_ms >= 0) {
		const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
		pollfd wait{socket, POLLIN, 0};
		int ready = poll(&wait, 1, timeout_ms);
		while (ready < 0 && errno == EINTR) { // a signal isn't the peer's failure
			const auto left =
				std::chrono::duration_cast<std::chrono::milliseconds>(give_up - std::chrono::steady_clock::now());
			ready = poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
		}
		if (ready <= 0)
			return false;
	}
	iovec part{message, bytes};
	msghdr header{};
	header.msg_iov = &part;
	header.msg_iovlen = 1;
	alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int)) + CMSG_SPACE(sizeof(ucred))> control{};
	header.msg_control = control.data();
	header.msg_controllen = control.size();
	ssize_t got = 0;
	do
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	take_control(header, fds, sender);
	// The kernel drops what it can't install (scm_detach_fds()); descriptors beyond the buffer are the peer's error.
	if ((header.msg_flags & MSG_CTRUNC) != 0 && fds.size() < kMaxFds)
		throw Failure(ExitCode::MachineCannot,
					  "icepath can't open more files: raise the limit (ulimit -n) or measure fewer "
					  "cells at once");
	return got == static_cast<ssize_t>(bytes) && (header.msg_flags & MSG_TRUNC) == 0;
}

} // namespace channel
} // namespace icepath
