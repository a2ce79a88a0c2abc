// SPDX-License-Identifier: Apache-2.0
// Targets for tests that make their own messages late, each for a cause that is known: UDP over loopback whose receiver
// sleeps, keeps a message until the next one is there, or drops a request that is then sent again.
#include <linux/filter.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "plugin_kit/loopback_address.h"
#include "plugin_kit/loopback_datagram.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/socket_channel.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kSleepsEach = 50, kKeepsEach = 20; // messages
constexpr useconds_t kLongSleepUs = 2000, kShortSleepUs = 200;
constexpr int kKeptMs = 30;
// A request is dropped in some blocks and not in others, which take a tenth of a second or two, however fast the
// machine is: by chance, after each turn of so much time in which requests came one soon after the other. It is sent
// again once no more is dropped, and in the same block.
constexpr uint64_t kTurnNs = 40'000'000, kSoonNs = 5'000'000, kDropsInTurns = 2;
constexpr useconds_t kDropsForUs = 20'000;
constexpr int kSentAgainAfterMs = 60;

icepath_target one(const char *name, const char *summary)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = ICEPATH_WAIT_BLOCK;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV;
	it.capabilities = ICEPATH_IS_LOSSY;
	limit_to_datagrams(it);
	it.why_not = loopback_missing();
	return it;
}

enum Target : uint32_t { kQuiet, kSleepsAtTimes, kSleepsAlways, kKeeps, kDrops };

const icepath_target *target(uint32_t n)
{
	static const icepath_target all[] = {
		one("causes/quiet", "UDP"),
		one("causes/sleeps-at-times", "UDP, and the receiver sleeps after some messages"),
		one("causes/sleeps-always", "UDP, and the receiver sleeps after each message"),
		one("causes/keeps", "UDP, and the receiver keeps some messages until the next one is there"),
		one("causes/drops", "UDP that at times drops a request, which is sent again"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

bool is_of(const icepath_endpoint *end, Target which) { return end->target == target(which)->name; }

int set_up(icepath_endpoint &end)
{
	end.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.socket < 0)
		return end.failed("socket");
	return bind_to_loopback(end.socket, end.given) ? ICEPATH_OK : end.failed("bind to 127.0.0.1");
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

// Whether the next request is to be dropped. Asked before each answer.
bool is_to_drop()
{
	static uint64_t last_ns = icepath_now_ns(), turn_ns = 0;
	const uint64_t now_ns = icepath_now_ns();
	turn_ns += std::min(now_ns - last_ns, kSoonNs);
	last_ns = now_ns;
	if (turn_ns < kTurnNs)
		return false;
	turn_ns = 0;
	return now_ns / 1024 % kDropsInTurns == 0;
}

bool drops = false; // what comes to this process's only endpoint

// The kernel counts what a filter refuses as dropped at the socket (udp_queue_rcv_one_skb()).
bool begin_to_drop(int socket)
{
	sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	const sock_fprog filter{static_cast<uint16_t>(std::size(nothing)), nothing};
	drops = setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0;
	return drops;
}

bool end_to_drop(int socket)
{
	const int unused = 0;
	usleep(kDropsForUs);
	drops = false;
	return setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)) == 0;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "causes: the peer's address is not one of 127.0.0.1");
	if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
		return end->failed("connect to 127.0.0.1");
	return watch_socket(end);
}

const icepath_plugin &base();

// Of this process's only endpoint. A request has no more bytes.
uint8_t last_request[64];
uint64_t request_bytes = 0;

int send_one(icepath_endpoint *end, icepath_send *message)
{
	request_bytes = std::min<uint64_t>(message->bytes, sizeof(last_request));
	std::memcpy(last_request, message->data, request_bytes);
	if (is_of(end, kDrops) && !end->makes() && is_to_drop() && !begin_to_drop(end->socket))
		return end->failed("setsockopt(SO_ATTACH_FILTER)");
	return base().send(end, message);
}

// Waits for the answer, and sends the request again and again until it is there.
void await_answer(const icepath_endpoint *end)
{
	pollfd socket{end->socket, POLLIN, 0};
	while (poll(&socket, 1, kSentAgainAfterMs) == 0)
		(void)!::send(end->socket, last_request, request_bytes, MSG_DONTWAIT);
}

int receive_one(icepath_endpoint *end, icepath_recv *message)
{
	static uint64_t messages = 0;
	if (is_of(end, kDrops) && end->makes())
		await_answer(end);
	if (drops && !end_to_drop(end->socket))
		return end->failed("setsockopt(SO_DETACH_FILTER)");
	const int status = base().recv(end, message);
	if (status != ICEPATH_OK)
		return status;
	++messages;
	if (is_of(end, kSleepsAtTimes) && messages % kSleepsEach == 0)
		usleep(kLongSleepUs);
	if (is_of(end, kSleepsAlways))
		usleep(kShortSleepUs);
	if (is_of(end, kKeeps) && messages % kKeepsEach == 0) {
		pollfd socket{end->socket, POLLIN, 0};
		poll(&socket, 1, kKeptMs);
	}
	return status;
}

const icepath_plugin &base()
{
	static const icepath_plugin table = socket_table("causes", target, open_end, connect_end);
	return table;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin its = base();
		its.send = send_one;
		its.recv = receive_one;
		return its;
	}();
	return &plugin;
}
