// SPDX-License-Identifier: Apache-2.0
// Eclipse Cyclone DDS, with its C API and a type that idlc makes (message.idl), over UDP on the loopback device.
// dds_write() puts the message into the writer's history and sends it in the sender's thread, in several datagrams if
// it is long. The thread recvUC of the receiver's domain puts it into the reader's history, and triggers the waitset on
// which the receiver sleeps, or calls a listener, which wakes the receiver here. The same threads, and those that serve
// timed events, request and send acknowledgements.
//
// By default it is reliable and keeps all. The reader's history has a limit, at which the library's receiving thread
// retries. A writer waits while too many bytes are unacknowledged, at most for max_blocking_time, then checks for
// cancellation. The allowed number of bytes adapts, and starts here at WhcHigh, 500 kB: by default it starts below one
// message of 64 KiB, and a full channel took another message now and then. cancel() triggers a guard condition in the
// waitset, or rings as the listener does. Only a lease, which takes seconds, reports a participant's death, so this
// adapter watches the process.
#include "message.h"
#include "middleware_adapters/cyclonedds/participant.h"
#include "middleware_adapters/cyclonedds/udp_config.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/ring_wait.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr int kQueued = 256;
constexpr uint32_t kDomain = 2;
constexpr const char *kListener = "cyclonedds/udp-listener";

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), asked(how.qos), queue(queue_length(how, kQueued)),
		  calls_back(std::strcmp(what.name, kListener) == 0)
	{}
	const icepath_qos asked;
	const int queue; // messages
	const bool calls_back;
	DataBell bell; // rung by the listener; outlives the participant
	CycloneParticipant dds;
	DeathWatch watch;
};

namespace {

const icepath_target *target(uint32_t n)
{
	const auto described = [](const char *name, const char *summary) {
		icepath_target it = relayed_target(name, summary, ICEPATH_WAIT_EPOLL, kLargest,
										   "icepath's readers have room for two messages of 4 MiB");
		it.qos = kEveryPolicy;
		return it;
	};
	static const icepath_target all[] = {
		described("cyclonedds/udp", "Cyclone DDS by UDP on the loopback device, reliable"),
		described(kListener, "as cyclonedds/udp, but the library's thread calls back and wakes the receiver"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

int join(icepath_endpoint &end, const std::string &channel)
{
	static const std::string config = cyclone_by_udp(kDomain);
	const CycloneQos qos(end.asked, end.queue);
	dds_listener_t *listener = end.calls_back ? dds_create_listener(&end.bell) : nullptr;
	if (listener)
		dds_lset_data_available(listener, [](dds_entity_t, void *bell) { static_cast<DataBell *>(bell)->ring(); });
	const int status = end.dds.join(end, channel, {config.c_str(), &icepath_Message_desc, qos.all, listener});
	dds_delete_listener(listener);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_discovered(end, join); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	return connect_discovered(*end, *peer, join, [&] { return end->dds.is_matched(); });
}

icepath_Message sample_in(void *buffer, uint64_t bytes)
{
	icepath_Message sample{};
	sample.octets._buffer = static_cast<uint8_t *>(buffer);
	sample.octets._maximum = sample.octets._length = static_cast<uint32_t>(bytes);
	sample.octets._release = false;
	return sample;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const icepath_Message sample = sample_in(const_cast<void *>(message->data), message->bytes);
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

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	icepath_Message sample = sample_in(message->data, message->capacity); // a shorter message lands here
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		void *samples[] = {&sample};
		dds_sample_info_t info;
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const dds_return_t taken = dds_take(end->dds.reader, samples, &info, 1, 1);
		message->take_return_ns = icepath_now_ns();
		if (taken < 0)
			return failed(*end, "dds_take", taken);
		if (taken == 1 && info.valid_data) {
			message->bytes = sample.octets._length;
			return ICEPATH_OK;
		}
		if (taken == 1) // it reports its writer; a message may follow
			continue;
		if (end->calls_back) {
			if (const uint64_t back_ns = end->bell.sleep())
				message->wait_return_ns = back_ns;
		} else {
			end->dds.await_data();
			message->wait_return_ns = icepath_now_ns();
		}
	}
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
