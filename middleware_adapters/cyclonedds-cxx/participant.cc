// SPDX-License-Identifier: Apache-2.0
#include "middleware_adapters/cyclonedds-cxx/participant.h"

#include <dds/dds.hpp>

#include <mutex>
#include <optional>

#include "message.hpp"
#include "middleware_adapters/cyclonedds/udp_config.h"

namespace icepath::plugin_kit {
namespace {

using dds::core::status::StatusMask;

class Listener : public dds::sub::NoOpDataReaderListener<Message> {
public:
	std::function<void()> on_data;

private:
	void on_data_available(dds::sub::DataReader<Message> &) override { on_data(); }
};

// Threads of a process share the library's list of domains, which isn't locked everywhere.
std::mutex joining;

} // namespace

struct CxxParticipant::Entities {
	Listener listener; // outlives the reader
	dds::core::cond::GuardCondition over;
	dds::core::cond::WaitSet wait_set;
	dds::domain::DomainParticipant participant{dds::core::null};
	dds::pub::DataWriter<Message> writer{dds::core::null};
	dds::sub::DataReader<Message> reader{dds::core::null};
	Message outgoing;
	std::optional<dds::sub::LoanedSamples<Message>> taken;
};

CxxParticipant::CxxParticipant() : entities_(std::make_unique<Entities>()) {}

CxxParticipant::~CxxParticipant()
{
	const std::lock_guard lock(joining);
	try {
		give_back();
		if (entities_->participant != dds::core::null)
			entities_->participant.close(); // and everything in it
	} catch (const std::exception &) {
		[[maybe_unused]] const Entities *stays = entities_.release(); // until the process ends
	}
}

// For the library, each end is a domain of its own; on the network they are one: within a domain, messages would pass
// from history to history.
void CxxParticipant::join(const CxxSetup &setup)
{
	constexpr uint32_t kDomainsOfLibrary = 230; // in one process
	static uint32_t domains = 0;
	const std::lock_guard lock(joining);
	Entities &all = *entities_;
	all.participant =
		dds::domain::DomainParticipant(domains++ % kDomainsOfLibrary, dds::domain::qos::DomainParticipantQos(), nullptr,
									   StatusMask::none(), with_arm(setup.config));
	if (!setup.to.empty()) {
		dds::pub::qos::DataWriterQos qos;
		qos.delegate().ddsc_qos(setup.qos);
		all.writer = dds::pub::DataWriter<Message>(dds::pub::Publisher(all.participant),
												   dds::topic::Topic<Message>(all.participant, setup.to), qos);
	}
	if (setup.from.empty())
		return;
	dds::sub::qos::DataReaderQos qos;
	qos.delegate().ddsc_qos(setup.qos);
	const dds::sub::Subscriber subscriber(all.participant);
	const dds::topic::Topic<Message> topic(all.participant, setup.from);
	if (setup.on_data) {
		all.listener.on_data = setup.on_data;
		all.reader = dds::sub::DataReader<Message>(subscriber, topic, qos, &all.listener, StatusMask::data_available());
		return;
	}
	all.reader = dds::sub::DataReader<Message>(subscriber, topic, qos);
	all.wait_set += dds::sub::cond::ReadCondition(all.reader, dds::sub::status::DataState::any());
	all.wait_set += all.over;
}

bool CxxParticipant::is_matched() const
{
	Entities &all = *entities_;
	return (all.writer == dds::core::null || all.writer.publication_matched_status().current_count() > 0) &&
		   (all.reader == dds::core::null || all.reader.subscription_matched_status().current_count() > 0);
}

dds_entity_t CxxParticipant::writer() const
{
	return entities_->writer == dds::core::null ? 0 : entities_->writer.delegate()->get_ddsc_entity();
}

dds_entity_t CxxParticipant::reader() const
{
	return entities_->reader == dds::core::null ? 0 : entities_->reader.delegate()->get_ddsc_entity();
}

std::vector<uint8_t> &CxxParticipant::outgoing() { return entities_->outgoing.octets(); }

bool CxxParticipant::write()
{
	try {
		entities_->writer.write(entities_->outgoing);
		return true;
	} catch (const dds::core::TimeoutError &) {
		return false;
	}
}

const std::vector<uint8_t> *CxxParticipant::take(bool &is_empty)
{
	const auto &taken = entities_->taken.emplace(entities_->reader.select().max_samples(1).take());
	is_empty = taken.length() == 0;
	return !is_empty && taken.begin()->info().valid() ? &taken.begin()->data().octets() : nullptr;
}

void CxxParticipant::give_back() { entities_->taken.reset(); }

void CxxParticipant::await() { entities_->wait_set.wait(dds::core::Duration::infinite()); }

bool CxxParticipant::end_wait()
{
	try {
		entities_->over.trigger_value(true);
		return true;
	} catch (const std::exception &) {
		return false;
	}
}

} // namespace icepath::plugin_kit
