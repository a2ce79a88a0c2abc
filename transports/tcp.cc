// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/socket_channel.h"
#include "plugin_kit/tcp_connection.h"
#include "plugin_kit/zerocopy.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 1024 * kMiB;
constexpr uint64_t kLargestZerocopy = 64 * kMiB;

icepath_target plain_target()
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = "tcp";
	it.summary = "TCP over loopback with TCP_NODELAY: a byte stream, framed by the known size";
	it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV | ICEPATH_USES_SKB_COPY | ICEPATH_USES_BYTE_STREAM;
	it.capabilities = ICEPATH_CAN_FANIN;
	it.fanin_waits = ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.fanin_max_bytes = it.max_payload_bytes = kLargest;
	it.max_payload_why = "icepath's own limit: a byte stream has none";
	it.why_not = loopback_missing();
	return it;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target all[] = {
		plain_target(),
		zerocopy_target(plain_target(), "tcp-zerocopy",
						"tcp with MSG_ZEROCOPY, which the kernel answers by copying on loopback", kLargestZerocopy,
						"icepath's own limit: the sender keeps two messages at least"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

int set_up(icepath_endpoint &end)
{
	end.stream = true;
	if (end.target == target(1)->name)
		end.zerocopy = std::make_shared<ZerocopySender>();
	return set_up_tcp(end);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (end->many)
		if (const int status = bind_another_tcp(*end); status != ICEPATH_OK)
			return status;
	if (const int status = connect_tcp(end, peer); status != ICEPATH_OK)
		return status;
	if (end->in_fan_in() && end->side == 1)
		return watch_one_of_many(end);
	return watch_socket_and_completions(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = with_zerocopy(socket_table("tcp", target, open_end, connect_end));
	return &plugin;
}
