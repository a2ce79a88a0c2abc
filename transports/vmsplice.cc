// SPDX-License-Identifier: Apache-2.0
// Pipes that refer to the sender's pages instead of copying them: pages of its memory (vmsplice), or of a file (splice,
// as sendfile does it), here a memfd. The reader copies them out as from any pipe.
//
// A pipe refers to them beyond the call, so the message is copied into pages that aren't rewritten before they are out
// of the pipe (page_ring.h). A program would build it there; that copy counts to sender.user.
#include <fcntl.h>
#include <sys/uio.h>

#include <array>
#include <memory>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/page_ring.h"
#include "plugin_kit/pipe_channel.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 64 * kMiB;

const icepath_target *target(uint32_t n)
{
	static const auto all = [] {
		std::array<icepath_target, 2> both = {
			pipe_target("vmsplice", "pipes that refer to the sender's memory (vmsplice), read by the receiver"),
			pipe_target("splice", "pipes that refer to the pages of a memfd (splice), read by the receiver"),
		};
		for (icepath_target &it : both) {
			it.mechanisms &= ~uint32_t{ICEPATH_USES_PIPE}; // nothing writes to the pipe
			it.max_payload_bytes = kLargest;
			it.max_payload_why = "icepath's own limit: the sender keeps two messages at least";
		}
		return both;
	}();
	return n < all.size() ? &all[n] : nullptr;
}

bool make_pipe(const char *, int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	for (uint32_t n = 0; const icepath_target *nth = target(n); n++)
		if (std::strcmp(nth->name, how->target) == 0)
			return open_pipes(how, *nth, make_pipe, endpoint, address);
	*endpoint = nullptr;
	return open_error().tell(ICEPATH_UNSUPPORTED, "icepath-vmsplice.so has no target %.31s", how->target);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	static const auto connect_pipes = pipe_table("", target, open_end).connect;
	if (const int status = connect_pipes(end, peer); status != ICEPATH_OK || end->write_end < 0)
		return status;
	end->pages = std::make_shared<PageRing>();
	return end->pages->make(end->write_end, end->payload_bytes, end->sentence);
}

ssize_t refer_to_memory(const icepath_endpoint *end, const void *data, size_t bytes, unsigned flags)
{
	const iovec piece{const_cast<void *>(data), bytes};
	return vmsplice(end->write_end, &piece, 1, flags);
}

ssize_t refer_to_file(const icepath_endpoint *end, const void *data, size_t bytes, unsigned flags)
{
	off_t offset = end->pages->offset_of(data);
	return splice(end->pages->fd(), &offset, end->write_end, nullptr, bytes, flags);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const bool by_file = std::strcmp(end->target, "splice") == 0;
	const unsigned flags = end->wait == ICEPATH_WAIT_POLL ? SPLICE_F_NONBLOCK : 0;
	const void *const given = message->data;
	message->data = std::memcpy(end->pages->next(), given, message->bytes);
	const int status = send_by_calls(*end, *message, end->target, [=](const void *data, size_t bytes) {
		return by_file ? refer_to_file(end, data, bytes, flags) : refer_to_memory(end, data, bytes, flags);
	});
	message->data = given;
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = pipe_table("vmsplice", target, open_end);
		table.connect = connect_end;
		table.send = send_message;
		return table;
	}();
	return &plugin;
}
