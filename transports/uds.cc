// SPDX-License-Identifier: Apache-2.0
// UNIX domain sockets: one socket pair, made by side 0, whose other half goes to side 1. Without a name, nobody else
// can join.
//
// In a fan-in over streams or seqpackets, the receiver has a pair with each sender. Datagrams of all senders go to one
// socket, which must be bound: its name is removed at once, and senders reach it by a descriptor of its inode.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/socket_channel.h"

using namespace icepath::plugin_kit;

namespace {

// unix_dgram_sendmsg refuses messages longer than sk_sndbuf - 32.
constexpr uint64_t kSendBufferReserve = 32;
// Above this, the kernel needs one contiguous allocation per message (sock_alloc_send_pskb), which fails when memory is
// fragmented.
constexpr uint64_t kLargestDatagram = kMiB;
constexpr uint64_t kLargestOnStream = 1024 * kMiB;
constexpr uint64_t kLargestInParts = 64 * kMiB;

constexpr uint32_t kKinds = 3;

struct Kind {
	icepath_target target;
	int type;
};

Kind *kinds()
{
	static Kind all[kKinds];
	static const bool ready = [] {
		// The kernel doubles SO_SNDBUF (sock_setsockopt).
		const uint64_t wmem_max = kernel_limit("/proc/sys/net/core/wmem_max", 212992);
		icepath_target target{};
		target.size = sizeof(target);
		target.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		target.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY;
		target.capabilities = ICEPATH_CAN_FANIN;
		target.fanin_waits = ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		target.fanin_max_bytes = target.max_payload_bytes = kLargestInParts;
		target.max_payload_why = "icepath's own limit: what one datagram can't carry goes in parts";
		target.max_part_bytes = std::min(2 * wmem_max - kSendBufferReserve, kLargestDatagram);
		target.name = "uds-seqpacket";
		target.summary = "UNIX domain socket, SOCK_SEQPACKET: connected, keeps message boundaries";
		all[1] = {target, SOCK_SEQPACKET};
		icepath_target stream = target;
		target.fanin_waits = target.waits;
		target.fanin_max_bytes = 0;
		target.name = "uds-dgram";
		target.summary = "UNIX domain socket, SOCK_DGRAM: messages, reliable and in order";
		all[2] = {target, SOCK_DGRAM};
		stream.name = "uds-stream";
		stream.summary = "UNIX domain socket, SOCK_STREAM: a byte stream, framed by the known size";
		stream.mechanisms |= ICEPATH_USES_BYTE_STREAM;
		stream.fanin_max_bytes = stream.max_payload_bytes = kLargestOnStream;
		stream.max_payload_why = "icepath's own limit: a byte stream has none";
		stream.max_part_bytes = 0;
		all[0] = {stream, SOCK_STREAM};
		return true;
	}();
	(void)ready;
	return all;
}

const icepath_target *target(uint32_t n) { return n < kKinds ? &kinds()[n].target : nullptr; }

// Keeps the default buffer if the message fits: its size determines a sender's backpressure.
int make_room(icepath_endpoint *end)
{
	if (end->stream)
		return ICEPATH_OK;
	int bytes = 0;
	socklen_t size = sizeof(bytes);
	if (getsockopt(end->socket, SOL_SOCKET, SO_SNDBUF, &bytes, &size))
		return end->failed("getsockopt(SO_SNDBUF)");
	const uint64_t needed = end->part_bytes + kSendBufferReserve;
	if (static_cast<uint64_t>(bytes) >= needed)
		return ICEPATH_OK;
	bytes = static_cast<int>(needed / 2 + 1);
	if (setsockopt(end->socket, SOL_SOCKET, SO_SNDBUF, &bytes, size))
		return end->failed("setsockopt(SO_SNDBUF)");
	return ICEPATH_OK;
}

// For a fan-in's receiver of datagrams.
int bind_without_name(icepath_endpoint &end, const char *channel)
{
	const char *folder = std::getenv("TMPDIR");
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	const int length = std::snprintf(address.sun_path, sizeof(address.sun_path), "%s/%.63s",
									 folder && *folder ? folder : "/tmp", channel);
	if (length < 0 || length >= static_cast<int>(sizeof(address.sun_path)))
		return end.sentence.tell(ICEPATH_FAILED, "uds-dgram: the path of TMPDIR is too long for a socket's name");
	// The name's mode is the socket's, whatever the umask (unix_bind_bsd()): until it is removed, nobody else may send.
	if (fchmod(end.socket, 0600))
		return end.failed("fchmod");
	if (bind(end.socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)))
		return end.failed("bind in TMPDIR");
	const int inode = open(address.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const int error = errno;
	unlink(address.sun_path);
	errno = error;
	if (inode < 0)
		return end.failed("open of a socket's inode");
	end.give(inode);
	return ICEPATH_OK;
}

int join_datagrams(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->makes() ? 0 : 1); status != ICEPATH_OK)
		return status;
	if (end->makes())
		return watch_socket(end);
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", peer->fds[0]);
	const int status = connect(end->socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address));
	const int error = errno;
	close(peer->fds[0]);
	errno = error;
	return status ? end->failed("connect by /proc/self/fd") : ICEPATH_OK;
}

bool joins_datagrams(const icepath_endpoint &end) { return end.in_fan_in() && end.target == kinds()[2].target.name; }

int set_up(icepath_endpoint &end, int type, const char *channel)
{
	end.stream = type == SOCK_STREAM;
	if (joins_datagrams(end)) {
		if ((end.socket = socket(AF_UNIX, type | SOCK_CLOEXEC, 0)) < 0)
			return end.failed("socket");
		return end.makes() ? bind_without_name(end, channel) : make_room(&end);
	}
	if (end.side == 1)
		return ICEPATH_OK;
	int pair[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair))
		return end.failed("socketpair");
	end.socket = pair[0];
	end.give(pair[1]);
	return make_room(&end);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	for (const Kind *kind = kinds(); kind < kinds() + kKinds; kind++)
		if (std::strcmp(kind->target.name, how->target) == 0)
			return open_endpoint(how, kind->target, endpoint, address,
								 [=](icepath_endpoint &end) { return set_up(end, kind->type, how->name); });
	*endpoint = nullptr;
	return open_error().tell(ICEPATH_UNSUPPORTED, "icepath-uds.so has no target %.31s", how->target);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (joins_datagrams(*end))
		return join_datagrams(end, peer);
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		end->socket = peer->fds[0];
		if (const int status = make_room(end); status != ICEPATH_OK)
			return status;
	}
	if (end->in_fan_in() && end->side == 1)
		return watch_one_of_many(end);
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("uds", target, open_end, connect_end);
	return &plugin;
}
