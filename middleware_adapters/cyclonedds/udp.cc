// SPDX-License-Identifier: Apache-2.0
// Eclipse Cyclone DDS, with its C API and a type that idlc makes (message.idl), over UDP on the loopback device.
// dds_write() puts the message into the writer's history and sends it in the sender's thread, in several datagrams if
// it is long. The thread recvUC of the receiver's domain puts it into the reader's history. Then it triggers the
// waitset on which the receiver sleeps (epoll), or calls a listener: that takes the message and hands it to the side's
// handler there (callback), or, as udp-listener, wakes the receiver by a bell. The same threads, and those that serve
// timed events, request and send acknowledgements.
//
// A handler may write, as ddsperf does. But recvUC reads no acknowledgement meanwhile: a write that waits for one,
// because WhcHigh bytes lack theirs, waits in vain until max_blocking_time, and nobody else reads it. Acknowledgements
// are requested every 5 ms at most, so a ping-pong that keeps all messages gets there. So a side that answers keeps the
// last message (qos_where_answered()), as ddsperf does, and WhcHigh is above that one. A handler with another history,
// by --qos, may hang, and its block is cancelled.
//
// Otherwise it is reliable and keeps all by default. The reader's history has a limit, at which the library's
// receiving thread retries. A writer waits while too many bytes are unacknowledged, at most for max_blocking_time,
// then checks for cancellation. The allowed number of bytes adapts, and starts here at WhcHigh, 500 kB: by default it
// starts below one message of 64 KiB, and a full channel took another message now and then. cancel() triggers a guard
// condition in the waitset, or rings as the listener does. Only a lease, which takes seconds, reports a participant's
// death, so this adapter watches the process.
#include "middleware_adapters/cyclonedds/participant.h"
#include "middleware_adapters/cyclonedds/sample_batch.h"
#include "middleware_adapters/cyclonedds/udp_config.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/ring_wait.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr int kQueued = 256;
constexpr const char *kRings = "cyclonedds/udp-listener", *kLarge = "cyclonedds/udp-large";
// As the library's README advises on a loopback device, and as its own benchmark has it (examples/perfscript/perftest).
constexpr const char *kLargeSize = "<MaxMessageSize>65500B</MaxMessageSize>";

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), writes_in_handler(wait == ICEPATH_WAIT_CALLBACK && sends && receives),
		  asked(qos_where_answered(how)), queue(queue_length(how, kQueued)), rings(std::strcmp(what.name, kRings) == 0),
		  handler(how.handler), batch(how.payload_bytes)
	{}
	const bool writes_in_handler;
	const icepath_qos asked;
	const int queue; // messages
	const bool rings;
	// They outlive the participant, whose thread uses them in the listener.
	DataBell bell;
	const icepath_handler handler;
	SampleBatch batch;
	CycloneParticipant dds;
	DeathWatch watch;
};

namespace {

const icepath_target *target(uint32_t n)
{
	const auto described = [](const char *name, const char *summary, uint32_t waits) {
		icepath_target it =
			relayed_target(name, summary, waits, kLargest, "icepath's readers have room for two messages of 4 MiB");
		it.qos = kEveryPolicy;
		return it;
	};
	static const icepath_target all[] = {
		described(
			"cyclonedds/udp",
			"Cyclone DDS by UDP on the loopback device, reliable, multicast for discovery only; CYCLONEDDS_URI is "
			"read of an arm (--arm) only; awaited in a waitset, or handled in a listener",
			ICEPATH_WAIT_EPOLL | ICEPATH_WAIT_CALLBACK),
		described(kRings, "as cyclonedds/udp, but a listener wakes the receiver, which takes the message itself",
				  ICEPATH_WAIT_EPOLL),
		described(kLarge, "as cyclonedds/udp, in datagrams of up to 65 500 B, as the library's README advises",
				  ICEPATH_WAIT_EPOLL | ICEPATH_WAIT_CALLBACK),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

// Called in the library's thread.
void handle_data(dds_entity_t reader, void *argument)
{
	icepath_endpoint &end = *static_cast<icepath_endpoint *>(argument);
	do {
		icepath_recv asked{};
		asked.size = sizeof(asked);
		ChannelEnd::begin_taking(asked);
		if (const dds_return_t code = end.batch.take(reader, nullptr, asked); code < 0)
			return end.handler.handle(end.handler.side, failed(end, "dds_take", code), &asked);
		for (icepath_recv message{}; end.batch.next(message); message = {}) // each as `asked`
			end.handler.handle(end.handler.side, ICEPATH_OK, &message);
	} while (end.batch.may_have_left_some());
}

// Twice a message, but not less than by default. Adapting, the library would lower it after a loss.
std::string watermarks_above(uint64_t payload_bytes)
{
	return "<WhcAdaptive>false</WhcAdaptive><WhcHigh>" +
		   std::to_string(std::max<uint64_t>(500'000, 2 * payload_bytes)) + " B</WhcHigh>";
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const uint32_t domain = dds_domain_of(channel);
	const std::string size = std::strcmp(end.target, kLarge) == 0 ? kLargeSize : "";
	const std::string watermarks = end.writes_in_handler ? watermarks_above(end.payload_bytes) : kWatermarks;
	const std::string config = cyclone_by_udp(domain, watermarks, size);
	const CycloneQos qos(end.asked, end.queue);
	dds_listener_t *listener = dds_create_listener(&end);
	if (end.wait == ICEPATH_WAIT_CALLBACK)
		dds_lset_data_available(listener, handle_data);
	else if (end.rings)
		dds_lset_data_available(
			listener, [](dds_entity_t, void *ringing) { static_cast<icepath_endpoint *>(ringing)->bell.ring(); });
	const int status = end.dds.join(end, channel, {config, &icepath_Message_desc, qos.all, listener});
	dds_delete_listener(listener);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_named(end, join); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	return connect_discovered(*end, *peer, join, [&] { return end->dds.is_matched(); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const icepath_Message sample = SampleBatch::sample_in(const_cast<void *>(message->data), message->bytes);
	message->attempts = 0;
	message->call_ns = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const dds_return_t code = dds_write(end->dds.writer, &sample);
		message->return_ns = icepath_now_ns();
		if (message->call_ns == 0)
			message->call_ns = now_ns;
		if (code == DDS_RETCODE_OK)
			return end->watch.look(*end, message->return_ns);
		if (code != DDS_RETCODE_TIMEOUT)
			return failed(*end, "dds_write", code);
	}
}

void await_data(icepath_endpoint &end, icepath_recv &message)
{
	if (!end.rings) {
		end.dds.await_data();
		message.wait_return_ns = icepath_now_ns();
	} else if (const uint64_t back_ns = end.bell.sleep()) {
		message.wait_return_ns = back_ns;
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->wait == ICEPATH_WAIT_CALLBACK) // the batch is the library's thread's
		return end->end_of_cancelled();
	while (!end->batch.next(*message)) {
		if (!end->batch.may_have_left_some() && !end->is_cancelled())
			await_data(*end, *message);
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (const dds_return_t code = end->batch.take(end->dds.reader, message->data, *message); code < 0)
			return failed(*end, "dds_take", code);
	}
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	end->dds.end_wait();
	end->bell.ring();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("cyclonedds", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Cyclone DDS " CYCLONEDDS_VERSION;
		table.cancel = cancel;
		table.granted = [](const icepath_endpoint *end, icepath_qos *qos) { end->dds.add_granted(*qos); };
		return table;
	}();
	return &plugin;
}
