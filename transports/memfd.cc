// SPDX-License-Identifier: Apache-2.0
// Each message is a memfd of its own, sealed and passed over a UNIX socket (SCM_RIGHTS), as in programs that give
// memory away for good. The sending call makes, fills, seals and passes it; the taking call receives, reads and closes
// it, which frees its pages.
//
// The receiver reads with pread(2). To use the pages in place, it would have to check the seals first (F_GET_SEALS), or
// the sender could change or truncate them meanwhile.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({socket, epoll, unsent}); }
	int socket = -1, epoll = -1;
	int unsent = -1; // filled, but the socket had no room yet
};

namespace {

constexpr uint64_t kLargest = 64 * kMiB;
// Bounds the messages in flight: each takes about this much of the socket's send buffer (truesize of the smallest skb),
// whatever the size of its memory. The kernel's minimum allows six.
constexpr int kBufferPerMessage = 768;
constexpr uint32_t kDefaultDepth = 16, kMostDepth = 200;
constexpr uint64_t kMostInFlightBytes = 128 * kMiB;

const icepath_target *target(uint32_t n)
{
	static const icepath_target memfd = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "memfd";
		it.summary = "a sealed memfd for each message, passed over a UNIX socket and read by its receiver";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: several messages may be in flight";
		return it;
	}();
	return n == 0 ? &memfd : nullptr;
}

int bound_queue(icepath_endpoint *end, uint32_t depth)
{
	const uint64_t wanted = depth ? std::min(depth, kMostDepth) : kDefaultDepth;
	const uint64_t fitting = std::max<uint64_t>(1, kMostInFlightBytes / end->payload_bytes);
	const int bytes = static_cast<int>(std::min(wanted, fitting)) * kBufferPerMessage / 2; // doubled by the kernel
	if (setsockopt(end->socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)))
		return end->failed("setsockopt(SO_SNDBUF)");
	return ICEPATH_OK;
}

// Sets both halves' buffers here: a buffer belongs to the socket, not to the process.
int set_up(icepath_endpoint &end, uint32_t depth)
{
	if (end.side == 1)
		return ICEPATH_OK;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return end.failed("socketpair");
	end.give(pair[1]);
	int status = ICEPATH_OK;
	for (const int half : {pair[1], pair[0]}) {
		end.socket = half;
		if (status == ICEPATH_OK)
			status = bound_queue(&end, depth);
	}
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address,
						 [=](icepath_endpoint &end) { return set_up(end, how->depth); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 1)
		end->socket = peer->fds[0];
	if (end->wait == ICEPATH_WAIT_EPOLL && (end->epoll = open_epoll(end->socket)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

// A message with one descriptor.
struct Parcel {
	char content = 0; // SOCK_SEQPACKET takes an empty message for the end
	iovec piece{&content, 1};
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
	msghdr message{};

	Parcel()
	{
		message.msg_iov = &piece;
		message.msg_iovlen = 1;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
	}
};

// A memfd with the message, sealed against changes; -1 with errno set.
int make_memfd(const void *data, size_t bytes)
{
	const int fd = memfd_create("icepath-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	size_t written = 0;
	ssize_t moved = 0;
	while (written < bytes && (moved = write(fd, static_cast<const uint8_t *>(data) + written, bytes - written)) > 0)
		written += static_cast<size_t>(moved);
	if (written == bytes && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
		return fd;
	const int error = errno;
	close(fd);
	errno = error;
	return -1;
}

ssize_t pass(icepath_endpoint *end, const void *data, size_t bytes, int flags)
{
	if (end->unsent < 0 && (end->unsent = make_memfd(data, bytes)) < 0)
		return -1;
	Parcel parcel;
	cmsghdr *head = CMSG_FIRSTHDR(&parcel.message);
	*head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	std::memcpy(CMSG_DATA(head), &end->unsent, sizeof(int));
	if (sendmsg(end->socket, &parcel.message, flags) < 0)
		return -1;
	close(end->unsent);
	end->unsent = -1;
	return static_cast<ssize_t>(bytes);
}

ssize_t read_all(int fd, void *data, size_t bytes)
{
	size_t got = 0;
	ssize_t moved = 0;
	while (got < bytes &&
		   (moved = pread(fd, static_cast<uint8_t *>(data) + got, bytes - got, static_cast<off_t>(got))) > 0)
		got += static_cast<size_t>(moved);
	return moved < 0 ? -1 : static_cast<ssize_t>(got);
}

ssize_t unpack(int socket, void *data, size_t bytes, int flags)
{
	Parcel parcel;
	if (const ssize_t moved = recvmsg(socket, &parcel.message, flags | MSG_CMSG_CLOEXEC); moved <= 0)
		return moved;
	const cmsghdr *head = CMSG_FIRSTHDR(&parcel.message);
	if (!head || head->cmsg_type != SCM_RIGHTS) {
		errno = EMFILE; // the only reason for the kernel not to pass it (scm_detach_fds)
		return -1;
	}
	int fd = -1;
	std::memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	const ssize_t got = read_all(fd, data, bytes);
	const int error = errno;
	close(fd);
	errno = error;
	return got;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	return send_by_calls(*end, *message, "passing a memfd",
						 [=](const void *data, size_t bytes) { return pass(end, data, bytes, flags); });
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const int flags = end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT;
	return recv_by_calls<Boundary::Message>(
		*end, *message, "taking a memfd", end->epoll,
		[=](void *data, size_t bytes) { return unpack(end->socket, data, bytes, flags); });
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	return list_sockets({end->socket}, fds, capacity);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("memfd", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		return table;
	}();
	return &plugin;
}
