// SPDX-License-Identifier: Apache-2.0
// Aeron, with its C API: an exclusive publication of the inter-process channel for each direction. offer() copies the
// message into the publication's log, files in /dev/shm that both ends map, in frames of at most an MTU, here the
// largest possible. The receiver polls the log; a message of one frame is read in place, one of several is assembled in
// a buffer of the library's. No other thread takes part, and no system call. The media driver (aeronmd) made the files,
// and from time to time advances a publication's limit as its subscriber advances: when there is no room, the sender
// yields its CPU to the driver.
//
// No function sleeps until a message comes: programs poll, or rest between polls for a time of their choice. So there
// is only `spin`. aeron/udp isn't offered: its driver's threads would share the CPUs with ends that never sleep.
//
// cancel() sets a flag that both loops check. The driver reports a killed end after 10 s: here the process is watched.
#include <sched.h>

#include <charconv>

#include "middleware_adapters/aeron/client.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;
using icepath::plugin_kit::AeronClient;

namespace {

// A message is at most an eighth of a term.
constexpr uint64_t kLargest = 2 * 1024 * 1024;
constexpr const char *kPublished = "aeron:ipc?term-length=16m|mtu=65504", *kSubscribed = "aeron:ipc";
constexpr const char *kFolder = "/dev/shm/icepath-aeron";

// One thread, which rests when idle.
const char *const kArguments[] = {"-Daeron.dir=/dev/shm/icepath-aeron", "-Daeron.threading.mode=SHARED",
								  "-Daeron.print.configuration=true", nullptr};
const icepath_daemon kDriver = {sizeof(icepath_daemon),  AERONMD, nullptr, kArguments, nullptr, nullptr,
								"aeron_driver_context_t"};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	AeronClient client;
	DeathWatch watch;
	icepath_recv *awaited = nullptr; // NULL: there was a message
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "aeron/ipc";
		it.summary = "an exclusive publication and a subscription of Aeron's inter-process channel, polled";
		it.waits = ICEPATH_WAIT_SPIN;
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "an eighth of a term, which has 16 MiB here";
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

int failed(icepath_endpoint &end, const char *what)
{
	const char *why = aeron_errmsg();
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, what,
							 *why ? why : "the driver didn't answer in time, or its client thread reported an error");
}

// Called by poll().
void take(void *taker, const uint8_t *data, size_t bytes, aeron_header_t *)
{
	auto &end = *static_cast<icepath_endpoint *>(taker);
	icepath_recv &message = *end.awaited;
	message.take_return_ns = icepath_now_ns();
	message.bytes = std::min<uint64_t>(bytes, message.capacity);
	std::memcpy(message.data, data, message.bytes);
	end.awaited = nullptr;
}

// `channel` is the stream number forth; the next one is the way back.
int join(icepath_endpoint &end, const std::string &channel)
{
	int32_t forth = 0;
	std::from_chars(channel.data(), channel.data() + channel.size(), forth);
	const auto side = static_cast<int32_t>(end.side);
	if (!end.client.start(kFolder))
		return failed(end, "joining the driver");
	if (end.sends && !end.client.publish(kPublished, forth + side))
		return failed(end, "a publication");
	if (end.receives && !end.client.subscribe(kSubscribed, forth + 1 - side, take, &end))
		return failed(end, "a subscription");
	return ICEPATH_OK;
}

// Side 0 names it: a process has up to 256 pairs of streams, and a 22-bit process id.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		if (end.side == 1)
			return ICEPATH_OK;
		static std::atomic<int32_t> channels{0};
		const std::string channel = std::to_string((getpid() << 9) + (channels++ % 256) * 2);
		give_text(end, channel);
		return join(end, channel);
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	return icepath::plugin_kit::connect_discovered(*end, *peer, join, [&] { return end->client.is_joined(); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 0;
	message->call_ns = message->publish_ns = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const int64_t position = end->client.offer(message->data, message->bytes);
		message->return_ns = icepath_now_ns();
		if (message->call_ns == 0)
			message->call_ns = now_ns;
		if (position > 0)
			return end->watch.look(*end, message->return_ns);
		if (end->client.has_failed() ||
			(position != AERON_PUBLICATION_BACK_PRESSURED && position != AERON_PUBLICATION_ADMIN_ACTION &&
			 position != AERON_PUBLICATION_NOT_CONNECTED)) // a closed end is awaited like a dead one
			return failed(*end, "aeron_exclusive_publication_offer");
		sched_yield();
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	end->awaited = message;
	while (end->awaited) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		if (end->client.poll() < 0 || end->client.has_failed())
			return failed(*end, "aeron_subscription_poll");
	}
	return ICEPATH_OK;
}

const char *version()
{
	static const std::string text = std::string("Aeron ") + aeron_version_text();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("aeron", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.daemon = &kDriver;
		return table;
	}();
	return &plugin;
}
