// SPDX-License-Identifier: Apache-2.0
// Eclipse Cyclone DDS with shared memory, through iceoryx: it lends chunks of a shared memory that iox-roudi makes
// (dds_loan_sample), which are filled in place and passed on by reference (dds_write). iceoryx's listener thread in the
// receiver's process takes each into the reader's history and triggers the waitset on which the receiver sleeps. So
// nobody can poll without that thread. UDP on the loopback device serves discovery. A separate plug-in, because
// cyclonedds/udp needs no daemon.
//
// What to know of it (0.10.2):
//
//  - Only a type of fixed size may be lent: here `octet[n]`, where n is the cell's payload.
//  - dds_take() copies a sample out of its chunk, even into a loan. dds_takecdr() gives the chunk itself (iox_chunk),
//    as ROS 2 uses it.
//  - Only histories that keep the last n samples use shared memory, and older ones are dropped, reliable or not: so
//    there is a window (send_window.h).
//  - DDS finds its peer by UDP, iceoryx by iox-roudi a tenth of a second later, which nothing reports; messages written
//    before that are lost. So connect() greets its peer until the listener of the peer's reader has heard.
//
// cancel() triggers a guard condition in the waitset.
#include <dds/ddsc/dds_loan_api.h>
#include <dds/ddsi/ddsi_serdata.h>

#include "middleware_adapters/cyclonedds/participant.h"
#include "middleware_adapters/iceoryx/roudi.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLongestHeld = 128; // messages: iceoryx lets a subscriber hold 256 chunks
constexpr int32_t kBeyondWindow = 16; // greetings
constexpr dds_time_t kGreeting = 1; // a greeting's source timestamp identifies it
constexpr uint64_t kLongestGreetingNs = 10'000'000'000;

std::string config_of(uint32_t domain)
{
	return R"(<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>spdp</AllowMulticast></General>
<Discovery><ExternalDomainId>)" +
		   std::to_string(domain) + R"(</ExternalDomainId></Discovery>
<SharedMemory><Enable>true</Enable><LogLevel>off</LogLevel></SharedMemory>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";
}

// What idlc makes of `struct octets { octet all[n]; }`.
struct OctetsType {
	explicit OctetsType(uint32_t count)
		: operations{uint32_t{DDS_OP_ADR} | uint32_t{DDS_OP_TYPE_ARR} | uint32_t{DDS_OP_SUBTYPE_1BY}, 0, count,
					 DDS_OP_RTS},
		  name("octet" + std::to_string(count)), type{.m_size = count,
													  .m_align = 1,
													  .m_flagset = DDS_TOPIC_FIXED_SIZE,
													  .m_nkeys = 0,
													  .m_typename = name.c_str(),
													  .m_keys = nullptr,
													  .m_nops = 2,
													  .m_ops = operations,
													  .m_meta = "",
													  .type_information = {},
													  .type_mapping = {},
													  .restrict_data_representation = 0}
	{}
	OctetsType(const OctetsType &) = delete;
	OctetsType &operator=(const OctetsType &) = delete;
	const uint32_t operations[4];
	const std::string name;
	const dds_topic_descriptor_t type;
};

// Of one direction, in shared memory; starts zeroed.
struct Way {
	SendWindow window;
	std::atomic<uint32_t> heard; // a greeting
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what, kLongestHeld), type(static_cast<uint32_t>(how.payload_bytes))
	{}
	~icepath_endpoint() override
	{
		if (in_loan)
			ddsi_serdata_unref(in_loan);
		if (out_loan)
			dds_return_loan(dds.writer, &out_loan, 1);
	}
	uint64_t memory_bytes() const { return 2 * sizeof(Way); }
	void lay_out(uint8_t *first)
	{
		auto *ways = reinterpret_cast<Way *>(first);
		out_heard = &ways[side].heard;
		in_heard = &ways[1 - side].heard;
		out = &ways[side].window;
		in = &ways[1 - side].window;
	}
	std::atomic<uint32_t> *in_heard = nullptr, *out_heard = nullptr;
	const OctetsType type;
	CycloneParticipant dds;
	bool listens = false; // for greetings
	void *out_loan = nullptr;
	ddsi_serdata *in_loan = nullptr;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it = relayed_target(
			"cyclonedds/shm", "Cyclone DDS by shared memory: lent chunks of iceoryx, taken without a copy",
			ICEPATH_WAIT_EPOLL, kLargestChunk, "the largest chunks that icepath's iox-roudi has are of 1 MiB");
		it.mechanisms |= ICEPATH_USES_SHARED_MEMORY;
		it.capabilities |= ICEPATH_CAN_LOAN;
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const CycloneQos qos({}, 0);
	dds_qset_resource_limits(qos.all, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
	dds_qset_history(qos.all, DDS_HISTORY_KEEP_LAST, static_cast<int32_t>(end.window) + kBeyondWindow);
	dds_listener_t *listener = dds_create_listener(end.in_heard);
	dds_lset_data_available(listener,
							[](dds_entity_t, void *heard) { *static_cast<std::atomic<uint32_t> *>(heard) = 1; });
	end.listens = end.receives;
	const ThreadsNamed listener_of_iceoryx("iox listener");
	const std::string config = config_of(dds_domain_of(channel));
	const int status = end.dds.join(end, channel, {config, &end.type.type, qos.all, listener});
	dds_delete_listener(listener);
	if (status != ICEPATH_OK)
		return status;
	for (const dds_entity_t each : {end.dds.writer, end.dds.reader})
		if (each != 0 && !dds_is_loan_available(each))
			return end.sentence.tell(ICEPATH_FAILED, "%s: the library has no shared memory for %s of %u bytes",
									 end.target, each == end.dds.writer ? "writers" : "readers", end.type.type.m_size);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (const int status = end->may_lend(bytes); status != ICEPATH_OK)
		return status;
	if (!end->out_loan)
		if (const dds_return_t code = dds_loan_sample(end->dds.writer, &end->out_loan); code != DDS_RETCODE_OK)
			return failed(*end, "dds_loan_sample", code);
	*slot = end->out_loan;
	return ICEPATH_OK;
}

int greet(icepath_endpoint *end)
{
	const uint64_t give_up_ns = icepath_now_ns() + kLongestGreetingNs;
	while (end->out_heard->load() == 0) {
		void *slot = nullptr;
		if (const int status = lend(end, end->payload_bytes, &slot); status != ICEPATH_OK)
			return status;
		end->out_loan = nullptr;
		if (const dds_return_t code = dds_write_ts(end->dds.writer, slot, kGreeting); code != DDS_RETCODE_OK)
			return failed(*end, "dds_write_ts", code);
		if (icepath_now_ns() > give_up_ns)
			return end->sentence.tell(ICEPATH_FAILED, "%s: iox-roudi hasn't joined both ends in 10 s", end->target);
		usleep(5000);
	}
	return ICEPATH_OK;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	const int status = connect_discovered(*end, *peer, join, [&] { return end->dds.is_matched(); });
	return status == ICEPATH_OK && end->sends ? greet(end) : status;
}

int send_lent(icepath_endpoint *end, void *slot, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	end->out_loan = nullptr;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const dds_return_t code = dds_write(end->dds.writer, slot);
	message->return_ns = icepath_now_ns();
	return code == DDS_RETCODE_OK ? end->end_of_send(message->return_ns) : failed(*end, "dds_write", code);
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	if (end->listens)
		dds_set_listener(end->dds.reader, nullptr);
	end->listens = false;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		dds_sample_info_t info;
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const dds_return_t taken = dds_takecdr(end->dds.reader, &end->in_loan, 1, &info, DDS_ANY_STATE);
		message->take_return_ns = icepath_now_ns();
		if (taken < 0)
			return failed(*end, "dds_takecdr", taken);
		if (taken == 1 && info.valid_data && info.source_timestamp != kGreeting) {
			if (!end->in_loan->iox_chunk)
				return end->sentence.tell(ICEPATH_FAILED, "%s: a message arrived over the network", end->target);
			*slot = end->in_loan->iox_chunk;
			message->bytes = end->payload_bytes;
			return ICEPATH_OK;
		}
		if (taken == 1) {
			ddsi_serdata_unref(end->in_loan);
			end->in_loan = nullptr;
			continue;
		}
		end->dds.await_data();
		message->wait_return_ns = icepath_now_ns();
	}
}

int give_back(icepath_endpoint *end, const void *)
{
	ddsi_serdata_unref(end->in_loan);
	end->in_loan = nullptr;
	end->tell_of_room();
	return ICEPATH_OK;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("cyclonedds-shm", target, open_end, connect_end, send_copy<lend, send_lent>,
											recv_copy<take_lent, give_back>);
		table.library_version = "Cyclone DDS " CYCLONEDDS_VERSION;
		table.daemon = &kRouDi;
		table.cancel = [](icepath_endpoint *end) {
			end->cancelled = true;
			end->dds.end_wait();
		};
		table.granted = [](const icepath_endpoint *end, icepath_qos *qos) { end->dds.add_granted(*qos); };
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
