// SPDX-License-Identifier: Apache-2.0
// eProsima Fast DDS, by its DDS API and a type of our own: octets as many as a message has. Each end is a participant with a topic
// for each direction. DataWriter::write() copies the message into the writer's history and sends it in the sender's thread; a
// thread of the receiver's participant takes it from the transport, copies it into the reader's history, and triggers the WaitSet
// on which the receiver sleeps. The acknowledgement goes back by the same threads.
//
// Reliable, and all is kept: a writer whose history is full waits until the reader has acknowledged, at most for
// max_blocking_time, after which it looks whether it was cancelled. cancel() triggers a GuardCondition in the WaitSet. The death
// of a participant is known only by its lease, which takes seconds: here the process is watched.
//
// Participants of one process hand over to each other directly unless that is switched off, which it is here: `between threads`
// is to compare transports. Data-sharing is switched off, too: with a history of two, 3 of 19
// one-way blocks of 4 MiB messages stopped, the reader getting no more of what was written, for a reason that wasn't found (2.9.1).
#include <memory>
#include <string>

#include "middleware_adapters/channel_name.h"
#include "middleware_adapters/fastdds/octets.h"
#include "middleware_adapters/queue_length.h"
#include "middleware_adapters/relayed_target.h"
#include "transports/death_watch.h"
#include "transports/plugin_table.h"
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

using namespace icepath::transports;
namespace fast = eprosima::fastdds::dds;
using eprosima::fastrtps::types::ReturnCode_t;

namespace {

constexpr const char *kShm = "fastdds/shm", *kUdp = "fastdds/udp";
constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr uint32_t kSegmentBytes = 32 * 1024 * 1024;
constexpr uint32_t kSocketBytes = 4 * 1024 * 1024; // or what net.core.rmem_max allows
constexpr uint32_t kDomain = 1; // another than that of other implementations of DDS here
constexpr int kQueued = 256;
constexpr uint64_t kLongestJoinNs = 10'000'000'000;
// A message that was lost is asked for after so long; a writer that waits for room is told of it so soon at the latest.
const eprosima::fastrtps::Duration_t kHeartbeat(0, 20'000'000u), kLongestWrite(0, 100'000'000u);

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), queue(icepath::middleware::queue_length(how, kQueued))
	{}
	~icepath_endpoint()
	{
		if (!participant)
			return;
		participant->delete_contained_entities();
		fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
	}
	const int queue; // messages
	fast::DomainParticipant *participant = nullptr;
	fast::DataWriter *writer = nullptr;
	fast::DataReader *reader = nullptr;
	fast::GuardCondition over; // outlives the WaitSet
	fast::WaitSet wait_set;
	DeathWatch watch;
};

namespace {

icepath_target described(const char *name, const char *summary, uint32_t more_mechanisms)
{
	icepath_target it = relayed_target(name, summary, ICEPATH_WAIT_EPOLL, kLargest,
									   "icepath's participants have room for two messages of 4 MiB in flight");
	it.mechanisms |= more_mechanisms;
	return it;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target all[] = {
		described(kShm, "Fast DDS by its shared-memory transport, reliable", ICEPATH_USES_SHARED_MEMORY),
		described(kUdp, "Fast DDS by UDP on 127.0.0.1, reliable", 0),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

// Once for a process, before there is a participant.
void set_up_library()
{
	static const bool done = [] {
		fast::Log::SetVerbosity(fast::Log::Error);
		fast::Log::ClearConsumers();
		eprosima::fastrtps::LibrarySettingsAttributes settings;
		settings.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
		eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
		return true;
	}();
	static_cast<void>(done);
}

fast::DomainParticipantQos transport_of(const icepath_endpoint &end)
{
	fast::DomainParticipantQos qos;
	qos.transport().use_builtin_transports = false;
	if (std::strcmp(end.target, kUdp) == 0) {
		auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
		udp->interfaceWhiteList = {"127.0.0.1"};
		qos.transport().listen_socket_buffer_size = kSocketBytes;
		qos.transport().user_transports.push_back(udp);
	} else {
		auto shm = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
		shm->segment_size(kSegmentBytes);
		shm->max_message_size(static_cast<uint32_t>(end.payload_bytes) + 4096); // in one part
		qos.transport().user_transports.push_back(shm);
	}
	return qos;
}

// What a writer and a reader have in common.
template <class Qos> void set_up(Qos &qos, const icepath_endpoint &end)
{
	qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
	qos.durability().kind = fast::VOLATILE_DURABILITY_QOS;
	qos.history().kind = fast::KEEP_ALL_HISTORY_QOS;
	qos.resource_limits().max_samples = qos.resource_limits().max_samples_per_instance = end.queue;
	qos.resource_limits().max_instances = 1;
	qos.resource_limits().allocated_samples = end.queue;
	qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_MEMORY_MODE;
	qos.data_sharing().off();
}

bool make_writer(icepath_endpoint &end, fast::Topic *topic)
{
	fast::Publisher *publisher = topic ? end.participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT) : nullptr;
	fast::DataWriterQos qos;
	set_up(qos, end);
	qos.publish_mode().kind = fast::SYNCHRONOUS_PUBLISH_MODE;
	qos.reliability().max_blocking_time = kLongestWrite;
	qos.reliable_writer_qos().times.heartbeatPeriod = kHeartbeat;
	end.writer = publisher ? publisher->create_datawriter(topic, qos) : nullptr;
	return end.writer;
}

bool make_reader(icepath_endpoint &end, fast::Topic *topic)
{
	fast::Subscriber *subscriber = topic ? end.participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT) : nullptr;
	fast::DataReaderQos qos;
	set_up(qos, end);
	end.reader = subscriber ? subscriber->create_datareader(topic, qos) : nullptr;
	if (!end.reader)
		return false;
	end.reader->get_statuscondition().set_enabled_statuses(fast::StatusMask::data_available());
	return end.wait_set.attach_condition(end.reader->get_statuscondition()) == ReturnCode_t::RETCODE_OK &&
		   end.wait_set.attach_condition(end.over) == ReturnCode_t::RETCODE_OK;
}

int join(icepath_endpoint &end, const std::string &channel)
{
	end.participant = fast::DomainParticipantFactory::get_instance()->create_participant(kDomain, transport_of(end));
	if (!end.participant)
		return end.sentence.tell(ICEPATH_FAILED, "%s: no participant can be made of its transport", end.target);
	const fast::TypeSupport type(new icepath::middleware::Octets(end.payload_bytes));
	type.register_type(end.participant);
	const auto topic = [&](uint32_t from) {
		return end.participant->create_topic(channel + (from == 0 ? "-forth" : "-back"), type.get_type_name(),
											 fast::TOPIC_QOS_DEFAULT);
	};
	if (end.sends && !make_writer(end, topic(end.side)))
		return end.sentence.tell(ICEPATH_FAILED, "%s: no DataWriter for %llu bytes can be made", end.target,
								 static_cast<unsigned long long>(end.payload_bytes));
	if (end.receives && !make_reader(end, topic(1 - end.side)))
		return end.sentence.tell(ICEPATH_FAILED, "%s: no DataReader for %llu bytes can be made", end.target,
								 static_cast<unsigned long long>(end.payload_bytes));
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		set_up_library();
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
		fast::PublicationMatchedStatus readers;
		fast::SubscriptionMatchedStatus writers;
		return (!end->writer || (end->writer->get_publication_matched_status(readers) == ReturnCode_t::RETCODE_OK &&
								 readers.current_count > 0)) &&
			   (!end->reader || (end->reader->get_subscription_matched_status(writers) == ReturnCode_t::RETCODE_OK &&
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

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 0;
	message->call_ns = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const ReturnCode_t status = end->writer->write(const_cast<void *>(message->data), fast::HANDLE_NIL);
		message->return_ns = icepath_now_ns();
		if (message->call_ns == 0)
			message->call_ns = now_ns;
		if (status == ReturnCode_t::RETCODE_OK)
			return end->watch.look(*end, message->return_ns);
		if (status != ReturnCode_t::RETCODE_TIMEOUT)
			return end->sentence.tell(ICEPATH_FAILED, "%s: DataWriter::write() failed: return code %u", end->target,
									  status());
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		fast::SampleInfo info;
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const ReturnCode_t status = end->reader->take_next_sample(message->data, &info);
		message->take_return_ns = icepath_now_ns();
		if (status == ReturnCode_t::RETCODE_OK && info.valid_data) {
			message->bytes = end->payload_bytes;
			return ICEPATH_OK;
		}
		if (status != ReturnCode_t::RETCODE_OK && status != ReturnCode_t::RETCODE_NO_DATA)
			return end->sentence.tell(ICEPATH_FAILED, "%s: DataReader::take_next_sample() failed: return code %u",
									  end->target, status());
		fast::ConditionSeq active;
		end->wait_set.wait(active, eprosima::fastrtps::c_TimeInfinite);
		message->wait_return_ns = icepath_now_ns();
	}
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("fastdds", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Fast DDS " FASTDDS_VERSION;
		table.cancel = [](icepath_endpoint *end) {
			end->cancelled.store(true, std::memory_order_relaxed);
			end->over.set_trigger_value(true);
		};
		return table;
	}();
	return &plugin;
}
