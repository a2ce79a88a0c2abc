// SPDX-License-Identifier: Apache-2.0
// Anonymous pipes, one for each direction, made by side 0. The caller ignores SIGPIPE, so that a dead reader is EPIPE.
#include <fcntl.h>

#include "transports/byte_transfer.h"
#include "transports/kernel_limit.h"
#include "transports/plugin_table.h"

using namespace icepath::transports;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({read_end, write_end, epoll}); }
	int read_end = -1, write_end = -1;
	int epoll = -1;
};

namespace {

constexpr uint64_t kLargest = 1024 * kMiB;

const icepath_target *target(uint32_t n)
{
	static const icepath_target pipe = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "pipe";
		it.summary = "anonymous pipes, one for each direction: a byte stream, framed by the known size";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_BYTE_STREAM;
		it.capabilities = ICEPATH_CAN_PINGPONG;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a byte stream has none";
		return it;
	}();
	return n == 0 ? &pipe : nullptr;
}

// The two ends of a pipe are different open files, so this concerns one side only.
int set_nonblocking(icepath_endpoint *end)
{
	if (end->wait != ICEPATH_WAIT_BLOCK && end->read_end >= 0 && fcntl(end->read_end, F_SETFL, O_NONBLOCK))
		return end->failed("fcntl(O_NONBLOCK)");
	if (end->wait == ICEPATH_WAIT_POLL && end->write_end >= 0 && fcntl(end->write_end, F_SETFL, O_NONBLOCK))
		return end->failed("fcntl(O_NONBLOCK)");
	return ICEPATH_OK;
}

// `sends`: from side 0 to side 1.
int make_pipe(icepath_endpoint &end, bool sends)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return end.failed("pipe2");
	(sends ? end.write_end : end.read_end) = ends[sends];
	end.give(ends[!sends]);
	return ICEPATH_OK;
}

int set_up(icepath_endpoint &end)
{
	int status = ICEPATH_OK;
	if (end.side == 0 && end.sends)
		status = make_pipe(end, true);
	if (status == ICEPATH_OK && end.side == 0 && end.receives)
		status = make_pipe(end, false);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side == 0 ? 0 : end->receives + end->sends); status != ICEPATH_OK)
		return status;
	uint32_t used = 0;
	if (end->side == 1 && end->receives)
		end->read_end = peer->fds[used++];
	if (end->side == 1 && end->sends)
		end->write_end = peer->fds[used++];
	if (end->wait == ICEPATH_WAIT_EPOLL && end->read_end >= 0 && (end->epoll = open_epoll(end->read_end)) < 0)
		return end->failed("epoll");
	return set_nonblocking(end);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return send_by_calls(*end, *message, "write",
						 [fd = end->write_end](const void *data, size_t bytes) { return write(fd, data, bytes); });
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	return recv_by_calls<Boundary::Stream>(
		*end, *message, "read", end->epoll,
		[fd = end->read_end](void *data, size_t bytes) { return read(fd, data, bytes); });
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("pipe", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
