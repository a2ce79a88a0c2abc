// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports with the untyped C++ interface: polled, or awaited in a WaitSet.
//
// It sleeps only once nothing is left to take. A WaitSet that waits first may sleep though its subscriber has data. If
// the sender has set the notification's flag, which was seen, and posts its semaphore only later, the next wait finds
// the semaphore raised, lowers it, finds no flag, and sleeps before it looks at the subscriber (2.0.3:
// ConditionListener::wasNotified() returns whether the semaphore is raised, and waitAndReturnTriggeredTriggers() waits
// where it is).
#include <optional>
#include <stdexcept>

#include "middleware_adapters/iceoryx/ports.h"
#include "plugin_kit/spin_pause.h"
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>

namespace icepath::plugin_kit {

class UntypedPorts : public Ports {
public:
	explicit UntypedPorts(const WantedPorts &wanted)
	{
		const auto service = [&](uint32_t from) {
			const auto text = [](const std::string &it) {
				return iox::capro::IdString_t(iox::cxx::TruncateToCapacity, it);
			};
			return iox::capro::ServiceDescription{text(wanted.kService), text(wanted.channel),
												  text(wanted.event(from))};
		};
		if (wanted.sends) {
			iox::popo::PublisherOptions options;
			options.subscriberTooSlowPolicy = wanted.discards ? iox::popo::ConsumerTooSlowPolicy::DISCARD_OLDEST_DATA
															  : iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
			publisher_.emplace(service(wanted.side), options);
		}
		if (wanted.receives) {
			iox::popo::SubscriberOptions options;
			options.queueCapacity = wanted.queue;
			options.queueFullPolicy = wanted.discards ? iox::popo::QueueFullPolicy::DISCARD_OLDEST_DATA
													  : iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
			subscriber_.emplace(service(1 - wanted.side), options);
		}
		if (wanted.receives && wanted.in_wait_set) {
			wait_set_.emplace();
			if (wait_set_->attachState(*subscriber_, iox::popo::SubscriberState::HAS_DATA).has_error())
				throw std::runtime_error("a WaitSet doesn't take the subscriber");
		}
	}

	bool are_joined() override
	{
		return (!publisher_ || has_subscriber()) &&
			   (!subscriber_ || subscriber_->getSubscriptionState() == iox::SubscribeState::SUBSCRIBED);
	}
	bool has_subscriber() override { return publisher_->hasSubscribers(); }

	void *lend(uint32_t bytes, const char *&why_not) override
	{
		auto lent = publisher_->loan(bytes);
		if (!lent.has_error())
			return lent.value();
		why_not = iox::popo::asStringLiteral(lent.get_error());
		return nullptr;
	}
	void publish(void *chunk) override { publisher_->publish(chunk); }

	Taking take(const void **chunk, uint64_t &bytes) override
	{
		auto taken = subscriber_->take();
		if (taken.has_error())
			return taken.get_error() == iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE ? Taking::NothingThere
																						  : Taking::HoldsTooMany;
		*chunk = taken.value();
		bytes = iox::mepoo::ChunkHeader::fromUserPayload(*chunk)->userPayloadSize();
		return Taking::Taken;
	}
	void await() override
	{
		if (wait_set_)
			static_cast<void>(wait_set_->timedWait(iox::units::Duration::fromMilliseconds(kLongestWaitMs)));
		else
			plugin_kit::pause_spin();
	}
	void release(const void *chunk) override { subscriber_->release(chunk); }

	// Sets an atomic: iox-roudi does the rest.
	void cancel() override
	{
		if (publisher_)
			publisher_->stopOffer();
	}

protected:
	std::optional<iox::popo::UntypedPublisher> publisher_;
	std::optional<iox::popo::UntypedSubscriber> subscriber_;

private:
	std::optional<iox::popo::WaitSet<1>> wait_set_; // of the subscriber; ends before it
};

} // namespace icepath::plugin_kit
