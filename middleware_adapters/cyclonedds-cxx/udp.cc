// SPDX-License-Identifier: Apache-2.0
// Eclipse Cyclone DDS, with its C++ API (DDS-PSM-CXX) and the type that idlc's C++ backend makes of
// cyclonedds/message.idl, over UDP on the loopback device. Beneath is the C library, with the threads and the quality
// of service of cyclonedds/udp.cc. The API adds:
//
//  - A sample owns its octets in a std::vector. write() copies them into a buffer for the writer's history, in the
//    sender's thread. The library's receiving thread makes a sample of an incoming message at once, which take() lends:
//    the bytes are copied twice more than with the C API, which copies from and to the program's own memory.
//  - A WaitSet allocates an object for what triggered it, each time. A listener is called through several objects, each
//    with its lock.
//
// cancel() triggers a GuardCondition in the WaitSet, or rings as the listener does. Only a lease, which takes seconds,
// reports a participant's death, so this adapter watches the process.
#include <optional>

#include "middleware_adapters/cyclonedds-cxx/participant.h"
#include "middleware_adapters/cyclonedds/qos.h"
#include "middleware_adapters/cyclonedds/udp_config.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/ring_wait.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr int kQueued = 256;
constexpr const char *kListener = "cyclonedds-cxx/udp-listener";

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
	std::optional<CxxParticipant> dds; // from open() on
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
		described("cyclonedds-cxx/udp", "Cyclone DDS by its C++ API, by UDP on the loopback device, reliable"),
		described(kListener, "as cyclonedds-cxx/udp, but the library's thread calls back and wakes the receiver"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

int join(icepath_endpoint &end, const std::string &channel)
{
	return guarded(end, "joining", [&] {
		const CycloneQos qos(end.asked, end.queue);
		const auto topic = [&](bool is_used, uint32_t from) {
			return is_used ? topic_of(channel, from) : std::string();
		};
		CxxSetup setup{cyclone_by_udp(dds_domain_of(channel)),
					   qos.all,
					   topic(end.sends, end.side),
					   topic(end.receives, 1 - end.side),
					   {}};
		if (end.calls_back)
			setup.on_data = [&end] { end.bell.ring(); };
		end.dds->join(setup);
		return ICEPATH_OK;
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		const int status = guarded(end, "opening", [&] {
			end.dds.emplace();
			return ICEPATH_OK;
		});
		return status == ICEPATH_OK ? open_named(end, join) : status;
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	return guarded(*end, "connecting",
				   [&] { return connect_discovered(*end, *peer, join, [&] { return end->dds->is_matched(); }); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 0;
	message->call_ns = 0;
	return guarded(*end, "DataWriter::write()", [&]() -> int {
		const auto *data = static_cast<const uint8_t *>(message->data);
		end->dds->outgoing().assign(data, data + message->bytes);
		for (;;) {
			if (end->is_cancelled())
				return end->end_of_cancelled();
			message->attempts++;
			const uint64_t now_ns = icepath_now_ns();
			const bool is_written = end->dds->write();
			message->return_ns = icepath_now_ns();
			if (message->call_ns == 0)
				message->call_ns = now_ns;
			if (is_written)
				return end->watch.look(*end, message->return_ns);
		}
	});
}

void sleep(icepath_endpoint &end, icepath_recv &message)
{
	if (end.calls_back) {
		if (const uint64_t back_ns = end.bell.sleep())
			message.wait_return_ns = back_ns;
		return;
	}
	end.dds->await();
	message.wait_return_ns = icepath_now_ns();
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	return guarded(*end, "a receive", [&]() -> int {
		for (;;) {
			if (end->is_cancelled())
				return end->end_of_cancelled();
			message->attempts++;
			message->take_call_ns = icepath_now_ns();
			bool is_empty = false;
			const std::vector<uint8_t> *octets = end->dds->take(is_empty);
			message->take_return_ns = icepath_now_ns();
			if (is_empty)
				sleep(*end, *message);
			if (!octets) // it may report its writer, and a message follow
				continue;
			message->bytes = std::min<uint64_t>(octets->size(), message->capacity);
			std::memcpy(message->data, octets->data(), message->bytes);
			end->dds->give_back();
			return ICEPATH_OK;
		}
	});
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	end->dds->end_wait();
	end->bell.ring();
}

void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	CycloneQos::add_granted(end->dds->writer(), *qos);
	const auto lifespan = value_of(*qos, ICEPATH_QOS_LIFESPAN);
	CycloneQos::add_granted(end->dds->reader(), *qos);
	qos->policies &= ~(1u << ICEPATH_QOS_LIFESPAN); // readers have none: theirs is the topic's
	if (lifespan)
		set_value(*qos, ICEPATH_QOS_LIFESPAN, *lifespan);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table("cyclonedds-cxx", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Cyclone DDS C++ " CYCLONEDDS_CXX_VERSION;
		table.cancel = cancel;
		table.granted = granted;
		return table;
	}();
	return &plugin;
}
