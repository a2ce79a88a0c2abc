// SPDX-License-Identifier: Apache-2.0
// Eclipse Cyclone DDS, by its C API and a type that idlc makes (message.idl), over UDP on the loopback device. dds_write() puts
// the message into the writer's history and sends it in the sender's thread, in several datagrams where it is long; the thread
// recvUC of the receiver's domain puts it into the reader's history, and triggers the waitset on which the receiver sleeps.
// Acknowledgements are asked for and given by the same threads and by those that serve timed events.
//
// Reliable, and all is kept: the reader's history has a limit, at which the receiving thread of the library tries again and again,
// and a writer waits while too many bytes weren't acknowledged, at most for max_blocking_time, after which it looks whether it was
// cancelled. How many that are is adapted, and begins here with WhcHigh, 500 kB: by default it begins below one message of 64 KiB,
// and a full channel took another message now and then. cancel() triggers a guard condition in the waitset. The death of a
// participant is known only by its lease, which takes seconds: here the process is watched.
//
// Each end is a domain of its own for the library, though one for the network: within one domain of a process messages would go
// from history to history, and `between threads` is to compare transports.
#include <dds/dds.h>

#include <string>

#include "message.h"
#include "middleware_adapters/channel_name.h"
#include "middleware_adapters/queue_length.h"
#include "middleware_adapters/relayed_target.h"
#include "transports/death_watch.h"
#include "transports/plugin_table.h"

using namespace icepath::transports;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr int kQueued = 256;
constexpr dds_domainid_t kDomains = 230; // in one process
// Another domain than that of other implementations of DDS here. Only discovery is by multicast.
constexpr const char *kConfig = R"(<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>spdp</AllowMulticast></General>
<Discovery><ExternalDomainId>2</ExternalDomainId></Discovery>
<Internal><Watermarks><WhcHighInit>500kB</WhcHighInit></Watermarks></Internal>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";
constexpr uint64_t kLongestJoinNs = 10'000'000'000;
constexpr dds_duration_t kLongestWrite = DDS_MSECS(100);

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), queue(icepath::middleware::queue_length(how, kQueued))
	{}
	~icepath_endpoint()
	{
		if (domain > 0)
			dds_delete(domain); // and what is in it
	}
	const int queue; // messages
	dds_entity_t domain = 0, participant = 0, writer = 0, reader = 0, wait_set = 0;
	std::atomic<dds_entity_t> over{0};
	DeathWatch watch;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only =
		relayed_target("cyclonedds/udp", "Cyclone DDS by UDP on the loopback device, reliable", ICEPATH_WAIT_EPOLL,
					   kLargest, "icepath's readers have room for two messages of 4 MiB");
	return n == 0 ? &only : nullptr;
}

int failed(icepath_endpoint &end, const char *call, dds_return_t code)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, dds_strretcode(code));
}

dds_entity_t make_domain()
{
	dds_entity_t domain = DDS_RETCODE_ERROR;
	for (dds_domainid_t id = 0; id < kDomains; id++)
		if ((domain = dds_create_domain(id, kConfig)) != DDS_RETCODE_PRECONDITION_NOT_MET)
			break; // that one is there
	return domain;
}

struct Qos {
	explicit Qos(int most_messages) : all(dds_create_qos())
	{
		dds_qset_reliability(all, DDS_RELIABILITY_RELIABLE, kLongestWrite);
		dds_qset_durability(all, DDS_DURABILITY_VOLATILE);
		dds_qset_history(all, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
		dds_qset_resource_limits(all, most_messages, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
	}
	~Qos() { dds_delete_qos(all); }
	Qos(const Qos &) = delete;
	Qos &operator=(const Qos &) = delete;
	dds_qos_t *const all;
};

int join(icepath_endpoint &end, const std::string &channel)
{
	end.domain = make_domain();
	if (end.domain < 0)
		return failed(end, "dds_create_domain", end.domain);
	dds_domainid_t id = 0;
	dds_get_domainid(end.domain, &id);
	end.participant = dds_create_participant(id, nullptr, nullptr);
	if (end.participant < 0)
		return failed(end, "dds_create_participant", end.participant);
	const Qos qos(end.queue);
	const auto topic = [&](uint32_t from) {
		std::string name = "icepath_" + channel + (from == 0 ? "_forth" : "_back");
		std::ranges::replace(name, '-', '_'); // which no name may have
		return dds_create_topic(end.participant, &icepath_Message_desc, name.c_str(), nullptr, nullptr);
	};
	if (end.sends) {
		end.writer = dds_create_writer(end.participant, topic(end.side), qos.all, nullptr);
		if (end.writer < 0)
			return failed(end, "dds_create_writer", end.writer);
	}
	if (!end.receives)
		return ICEPATH_OK;
	end.reader = dds_create_reader(end.participant, topic(1 - end.side), qos.all, nullptr);
	if (end.reader < 0)
		return failed(end, "dds_create_reader", end.reader);
	end.wait_set = dds_create_waitset(end.participant);
	end.over = dds_create_guardcondition(end.participant);
	const dds_entity_t there = dds_create_readcondition(end.reader, DDS_ANY_STATE);
	for (const dds_entity_t condition : {there, end.over.load()})
		if (const dds_return_t code = dds_waitset_attach(end.wait_set, condition, 0); code != DDS_RETCODE_OK)
			return failed(end, "dds_waitset_attach", code);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		if (end.side == 1)
			return ICEPATH_OK;
		const std::string channel = new_channel();
		give_text(end, channel);
		return join(end, channel);
	});
}

// Side 1 comes first, and finds the participant of side 0.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (end->side == 1)
		if (const int status = join(*end, text_of(*peer)); status != ICEPATH_OK)
			return status;
	const auto is_matched = [&] {
		dds_publication_matched_status_t readers{};
		dds_subscription_matched_status_t writers{};
		return (!end->sends || (dds_get_publication_matched_status(end->writer, &readers) == DDS_RETCODE_OK &&
								readers.current_count > 0)) &&
			   (!end->receives || (dds_get_subscription_matched_status(end->reader, &writers) == DDS_RETCODE_OK &&
								   writers.current_count > 0));
	};
	const uint64_t give_up_ns = icepath_now_ns() + kLongestJoinNs;
	while (!is_matched()) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (icepath_now_ns() > give_up_ns)
			return end->sentence.tell(ICEPATH_FAILED, "%s: the two ends haven't discovered each other in 10 s",
									  end->target);
		usleep(1000);
	}
	return ICEPATH_OK;
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
		const dds_return_t code = dds_write(end->writer, &sample);
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
	icepath_Message sample = sample_in(message->data, message->capacity); // a shorter one is put there
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		void *samples[] = {&sample};
		dds_sample_info_t info;
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const dds_return_t taken = dds_take(end->reader, samples, &info, 1, 1);
		message->take_return_ns = icepath_now_ns();
		if (taken < 0)
			return failed(*end, "dds_take", taken);
		if (taken == 1 && info.valid_data) {
			message->bytes = sample.octets._length;
			return ICEPATH_OK;
		}
		dds_waitset_wait(end->wait_set, nullptr, 0, DDS_INFINITY);
		message->wait_return_ns = icepath_now_ns();
	}
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (const dds_entity_t over = end->over; over > 0)
		dds_set_guardcondition(over, true);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("cyclonedds", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Cyclone DDS " CYCLONEDDS_VERSION;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
