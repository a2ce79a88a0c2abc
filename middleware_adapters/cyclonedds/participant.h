// SPDX-License-Identifier: Apache-2.0
#pragma once
// A participant of Cyclone DDS at one end of a channel, with a topic for each direction.
//
// For the library, each end is a domain of its own; on the network they are one: within one domain of a process,
// messages would pass from history to history, and `between threads` is to compare transports.
#include <dds/dds.h>

#include <atomic>
#include <string>

#include "middleware_adapters/cyclonedds/qos.h"
#include "middleware_adapters/cyclonedds/udp_config.h"
#include "plugin_kit/discovery.h"

namespace icepath::plugin_kit {

inline int failed(plugin_kit::ChannelEnd &end, const char *call, dds_return_t code)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, dds_strretcode(code));
}

struct CycloneSetup {
	std::string config; // XML, to which that of an arm is added
	const dds_topic_descriptor_t *type;
	const dds_qos_t *qos;
	const dds_listener_t *listener; // of the reader; NULL: none
};

class CycloneParticipant {
public:
	CycloneParticipant() = default;
	~CycloneParticipant()
	{
		if (domain_ > 0)
			dds_delete(domain_); // and everything in it
	}
	CycloneParticipant(const CycloneParticipant &) = delete;
	CycloneParticipant &operator=(const CycloneParticipant &) = delete;

	dds_entity_t writer = 0, reader = 0;

	int join(plugin_kit::ChannelEnd &end, const std::string &channel, const CycloneSetup &setup)
	{
		dds_domainid_t id = 0;
		const std::string config = with_arm(setup.config);
		while ((domain_ = dds_create_domain(id, config.c_str())) == DDS_RETCODE_PRECONDITION_NOT_MET &&
			   id < kLastDomain)
			id++; // that domain exists
		if (domain_ < 0)
			return failed(end, "dds_create_domain", domain_);
		participant_ = dds_create_participant(id, nullptr, nullptr);
		if (participant_ < 0)
			return failed(end, "dds_create_participant", participant_);
		const auto topic = [&](uint32_t from) {
			return dds_create_topic(participant_, setup.type, topic_of(channel, from).c_str(), nullptr, nullptr);
		};
		if (end.sends) {
			writer = dds_create_writer(participant_, topic(end.side), setup.qos, nullptr);
			if (writer < 0)
				return failed(end, "dds_create_writer", writer);
		}
		if (!end.receives)
			return ICEPATH_OK;
		reader = dds_create_reader(participant_, topic(1 - end.side), setup.qos, setup.listener);
		return reader < 0 ? failed(end, "dds_create_reader", reader) : make_wait_set(end);
	}

	bool is_matched() const
	{
		dds_publication_matched_status_t readers{};
		dds_subscription_matched_status_t writers{};
		return (writer == 0 || (dds_get_publication_matched_status(writer, &readers) == DDS_RETCODE_OK &&
								readers.current_count > 0)) &&
			   (reader == 0 ||
				(dds_get_subscription_matched_status(reader, &writers) == DDS_RETCODE_OK && writers.current_count > 0));
	}

	void add_granted(icepath_qos &granted) const
	{
		CycloneQos::add_granted(writer, granted);
		CycloneQos::add_granted(reader, granted);
	}

	// Waits until something came since the last take, or end_wait() was called.
	void await_data() const { dds_waitset_wait(wait_set_, nullptr, 0, DDS_INFINITY); }
	// Any thread; later waits return at once.
	void end_wait()
	{
		if (const dds_entity_t over = over_; over > 0)
			dds_set_guardcondition(over, true);
	}

private:
	static constexpr dds_domainid_t kLastDomain = 229; // in one process

	int make_wait_set(plugin_kit::ChannelEnd &end)
	{
		wait_set_ = dds_create_waitset(participant_);
		over_ = dds_create_guardcondition(participant_);
		// The status wakes as a read condition does, and costs less: that would be evaluated for each sample.
		if (const dds_return_t code = dds_set_status_mask(reader, DDS_DATA_AVAILABLE_STATUS); code != DDS_RETCODE_OK)
			return failed(end, "dds_set_status_mask", code);
		for (const dds_entity_t condition : {reader, over_.load()})
			if (const dds_return_t code = dds_waitset_attach(wait_set_, condition, 0); code != DDS_RETCODE_OK)
				return failed(end, "dds_waitset_attach", code);
		return ICEPATH_OK;
	}

	dds_entity_t domain_ = 0, participant_ = 0, wait_set_ = 0;
	std::atomic<dds_entity_t> over_{0};
};

} // namespace icepath::plugin_kit
