// SPDX-License-Identifier: Apache-2.0
#include "plugin_kit/pipe_channel.h"

#include <fcntl.h>

#include <climits>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/fresh_name.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"

namespace icepath::plugin_kit {
namespace {

constexpr uint64_t kLargest = 1024 * kMiB;

// The two ends of a pipe are separate open files, so this affects one side only.
int set_nonblocking(icepath_endpoint *end)
{
	if (end->wait != ICEPATH_WAIT_BLOCK && end->read_end >= 0 && fcntl(end->read_end, F_SETFL, O_NONBLOCK))
		return end->failed("fcntl(O_NONBLOCK)");
	if (end->wait == ICEPATH_WAIT_POLL && end->write_end >= 0 && fcntl(end->write_end, F_SETFL, O_NONBLOCK))
		return end->failed("fcntl(O_NONBLOCK)");
	return ICEPATH_OK;
}

// `sends`: the pipe leads from its maker to the peer.
int make_one(icepath_endpoint &end, MakePipe make, const char *channel, bool sends)
{
	int ends[2];
	if (!make(fresh_name(channel).c_str(), ends))
		return end.failed("making a pipe");
	(sends ? end.write_end : end.read_end) = ends[sends];
	end.give(ends[!sends]);
	return ICEPATH_OK;
}

int set_up(icepath_endpoint &end, MakePipe make, const char *channel)
{
	int status = ICEPATH_OK;
	if (end.makes() && end.sends)
		status = make_one(end, make, channel, true);
	if (status == ICEPATH_OK && end.makes() && end.receives)
		status = make_one(end, make, channel, false);
	return status;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->makes() ? 0 : end->receives + end->sends); status != ICEPATH_OK)
		return status;
	uint32_t used = 0;
	if (!end->makes() && end->receives)
		end->read_end = peer->fds[used++];
	if (!end->makes() && end->sends)
		end->write_end = peer->fds[used++];
	if (end->wait == ICEPATH_WAIT_EPOLL && end->read_end >= 0 && end->epoll < 0 &&
		(end->epoll = open_epoll(end->read_end)) < 0)
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

icepath_target pipe_target(const char *name, const char *summary)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.mechanisms = ICEPATH_USES_BYTE_STREAM | ICEPATH_USES_PIPE;
	it.max_payload_bytes = kLargest;
	it.max_payload_why = "icepath's own limit: a byte stream has none";
	return it;
}

icepath_target for_fan_in(icepath_target pipe)
{
	pipe.capabilities |= ICEPATH_CAN_FANIN;
	pipe.fanin_waits = pipe.waits;
	pipe.fanin_max_bytes = PIPE_BUF;
	return pipe;
}

int open_pipes(const icepath_open *how, const icepath_target &target, MakePipe make, icepath_endpoint **endpoint,
			   icepath_address *address)
{
	return open_endpoint(how, target, endpoint, address,
						 [=](icepath_endpoint &end) { return set_up(end, make, how->name); });
}

icepath_plugin pipe_table(const char *name, decltype(icepath_plugin::target) target,
						  decltype(icepath_plugin::open) open)
{
	return plugin_table(name, target, open, connect_end, send_message, recv_message);
}

} // namespace icepath::plugin_kit
