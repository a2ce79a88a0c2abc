// SPDX-License-Identifier: Apache-2.0
#pragma once
// A participant of Fast DDS at one end of a channel, with a topic for each direction, and its settings.
//
// With a history that keeps all, as by default where messages go one way, a writer whose history is full waits for
// acknowledgements, at most for max_blocking_time, then checks for cancellation.
//
// Participants of one process pass messages directly unless that is switched off, as for all but FastWay::Intraprocess:
// `between threads` is to compare transports.
#include <cstdlib>
#include <memory>
#include <string>

#include "middleware_adapters/fastdds/octets.h"
#include "middleware_adapters/fastdds/qos.h"
#include "plugin_kit/arm_settings.h"
#include "plugin_kit/discovery.h"
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

namespace icepath::plugin_kit {

namespace fast = eprosima::fastdds::dds;
using eprosima::fastrtps::types::ReturnCode_t;

// How a message gets into the reader's history. DataSharing: it stays in the writer's, which the reader maps.
// Intraprocess: the writer puts it there.
enum class FastWay { SharedMemory, DataSharing, Udp, Intraprocess };

struct FastSetup {
	FastWay way;
	uint64_t payload_bytes;
	int queue; // messages in a history
	fast::DataReaderListener *listener; // NULL: none
	icepath_qos asked;
};

class FastParticipant {
public:
	FastParticipant() = default;
	~FastParticipant()
	{
		if (!participant_)
			return;
		try {
			participant_->delete_contained_entities();
			fast::DomainParticipantFactory::get_instance()->delete_participant(participant_);
		} catch (const std::exception &) {
			// A killed process held a lock in shared memory: leave everything as it is until this process ends.
		}
	}
	FastParticipant(const FastParticipant &) = delete;
	FastParticipant &operator=(const FastParticipant &) = delete;

	fast::DataWriter *writer = nullptr;
	fast::DataReader *reader = nullptr;

	// Before the first participant. The endpoints of a process are all of one way.
	static void set_up_library(FastWay way)
	{
		static const bool done = [way] {
			// The user's settings are for other programs.
			for (const char *name : {kProfiles, "FASTDDS_DEFAULT_PROFILES_FILE", "ROS_DISCOVERY_SERVER"})
				if (!is_of_arm(name))
					unsetenv(name);
			setenv("SKIP_DEFAULT_XML", "1", 1); // nor those in the current folder
			if (is_of_arm(kProfiles))
				fast::DomainParticipantFactory::get_instance()->load_profiles();
			fast::Log::SetVerbosity(fast::Log::Error);
			fast::Log::ClearConsumers();
			eprosima::fastrtps::LibrarySettingsAttributes settings;
			settings.intraprocess_delivery = way == FastWay::Intraprocess ? eprosima::fastrtps::INTRAPROCESS_FULL
																		  : eprosima::fastrtps::INTRAPROCESS_OFF;
			eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
			return true;
		}();
		static_cast<void>(done);
	}

	int join(plugin_kit::ChannelEnd &end, const std::string &channel, const FastSetup &setup)
	{
		const auto none = [&](const char *what) {
			return end.sentence.tell(ICEPATH_FAILED, "%s: no %s for %llu bytes can be made", end.target, what,
									 static_cast<unsigned long long>(setup.payload_bytes));
		};
		participant_ = fast::DomainParticipantFactory::get_instance()->create_participant(dds_domain_of(channel),
																						  transport_of(setup));
		if (!participant_)
			return none("participant");
		const fast::TypeSupport type(new Octets(setup.payload_bytes));
		type.register_type(participant_);
		const auto topic = [&](uint32_t from) {
			return participant_->create_topic(topic_of(channel, from), type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
		};
		if (end.sends && !make_writer(topic(end.side), setup))
			return none("DataWriter");
		if (end.receives && !make_reader(topic(1 - end.side), setup))
			return none("DataReader");
		return ICEPATH_OK;
	}

	bool is_matched() const
	{
		fast::PublicationMatchedStatus readers;
		fast::SubscriptionMatchedStatus writers;
		return (!writer || (writer->get_publication_matched_status(readers) == ReturnCode_t::RETCODE_OK &&
							readers.current_count > 0)) &&
			   (!reader || (reader->get_subscription_matched_status(writers) == ReturnCode_t::RETCODE_OK &&
							writers.current_count > 0));
	}

	void granted(icepath_qos &qos) const
	{
		if (writer)
			add_granted(writer->get_qos(), qos);
		if (reader)
			add_granted(reader->get_qos(), qos);
	}

private:
	static constexpr const char *kProfiles = "FASTRTPS_DEFAULT_PROFILES_FILE";
	static constexpr uint32_t kSegmentBytes = 32 * 1024 * 1024;
	static constexpr uint32_t kSocketBytes = 4 * 1024 * 1024; // or what net.core.rmem_max allows

	// What an arm's profiles choose stays.
	static fast::DomainParticipantQos transport_of(const FastSetup &setup)
	{
		fast::DomainParticipantQos qos;
		if (is_of_arm(kProfiles))
			qos = fast::DomainParticipantFactory::get_instance()->get_default_participant_qos();
		if (!qos.transport().user_transports.empty())
			return qos;
		qos.transport().use_builtin_transports = false;
		if (setup.way == FastWay::Udp || setup.way == FastWay::Intraprocess) {
			auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
			udp->interfaceWhiteList = {"127.0.0.1"};
			udp->receiveBufferSize = kSocketBytes; // listen_socket_buffer_size applies to built-in transports only
			qos.transport().user_transports.push_back(udp);
			return qos;
		}
		auto memory = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
		if (setup.way == FastWay::SharedMemory) { // otherwise it carries acknowledgements only
			memory->segment_size(kSegmentBytes);
			memory->max_message_size(static_cast<uint32_t>(setup.payload_bytes) + 4096); // in one part
		}
		qos.transport().user_transports.push_back(memory);
		return qos;
	}

	// The settings that a writer and a reader share.
	template <class Qos> static void set_up(Qos &qos, const FastSetup &setup)
	{
		ask_for(qos, setup.asked, setup.queue);
		qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_MEMORY_MODE;
		if (setup.way == FastWay::DataSharing)
			qos.data_sharing().on("");
		else
			qos.data_sharing().off();
	}

	bool make_writer(fast::Topic *topic, const FastSetup &setup)
	{
		fast::Publisher *publisher = topic ? participant_->create_publisher(fast::PUBLISHER_QOS_DEFAULT) : nullptr;
		fast::DataWriterQos qos;
		if (publisher && is_of_arm(kProfiles))
			qos = publisher->get_default_datawriter_qos();
		set_up(qos, setup);
		if (is_of_arm(kProfiles)) {
			writer = publisher ? publisher->create_datawriter(topic, qos) : nullptr;
			return writer;
		}
		qos.publish_mode().kind = fast::SYNCHRONOUS_PUBLISH_MODE;
		qos.reliability().max_blocking_time = {0, 100'000'000u};
		// How soon a lost message is requested again. Data-sharing loses none, and requests no acknowledgement.
		qos.reliable_writer_qos().times.heartbeatPeriod = setup.way == FastWay::DataSharing
															  ? eprosima::fastrtps::Duration_t(3600, 0)
															  : eprosima::fastrtps::Duration_t(0, 20'000'000u);
		writer = publisher ? publisher->create_datawriter(topic, qos) : nullptr;
		return writer;
	}

	bool make_reader(fast::Topic *topic, const FastSetup &setup)
	{
		fast::Subscriber *subscriber = topic ? participant_->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT) : nullptr;
		fast::DataReaderQos qos;
		if (subscriber && is_of_arm(kProfiles))
			qos = subscriber->get_default_datareader_qos();
		set_up(qos, setup);
		reader = subscriber
					 ? subscriber->create_datareader(topic, qos, setup.listener, fast::StatusMask::data_available())
					 : nullptr;
		return reader;
	}

	fast::DomainParticipant *participant_ = nullptr;
};

} // namespace icepath::plugin_kit
