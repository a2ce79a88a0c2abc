// SPDX-License-Identifier: Apache-2.0
// Eclipse iceoryx, by its untyped C++ API: chunks of a shared memory that iox-roudi makes are lent, filled in place and handed
// over by reference, and the receiver polls, or sleeps in a WaitSet. iox-roudi joins publishers and subscribers, and has no part
// in a message's way.
//
// It sleeps only once nothing is left to take. A WaitSet that is asked first may sleep though its subscriber has data: where the
// sender has set the notification's flag, which was seen, and posts its semaphore only later, the next wait finds the semaphore
// raised, lowers it, finds no flag, and sleeps before it looks at the subscriber (2.0.3: ConditionListener::wasNotified() is
// whether the semaphore is raised, and waitAndReturnTriggeredTriggers() waits where it is).
//
// Who is killed while it publishes may leave a lock of the shared memory taken, for which iox-roudi then waits for ever: it joins
// nobody any more.
//
// A full queue makes publish() wait, in a loop of the library that knows no cancelling. What frees it is that the queue goes:
// iox-roudi takes it away a tenth of a second after the publisher stopped offering, or 1.5 s after the receiver died.
#include <signal.h>

#include <algorithm>
#include <optional>
#include <string>

#include "middleware_adapters/iceoryx/roudi.h"
#include "transports/plugin_table.h"
#include "transports/spin_pause.h"
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <iceoryx_versions.hpp>

using namespace icepath::transports;

namespace {

constexpr uint64_t kLargest = icepath::middleware::kLargestChunk;
constexpr uint64_t kQueuedBytes = 8 * kLargest;
constexpr uint64_t kLongestQueue = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY;
// It looks so often whether it was cancelled.
const iox::units::Duration kLongestWait = iox::units::Duration::fromMilliseconds(200);

uint64_t queue_of(const icepath_open &how)
{
	const uint64_t fits = std::clamp<uint64_t>(kQueuedBytes / how.payload_bytes, 8, kLongestQueue);
	return how.depth ? std::min<uint64_t>(how.depth, fits) : fits;
}

iox::capro::ServiceDescription service(const std::string &channel, uint32_t from)
{
	const auto text = [](const std::string &it) { return iox::capro::IdString_t(iox::cxx::TruncateToCapacity, it); };
	return {text("icepath"), text(channel), text(from == 0 ? "forth" : "back")};
}

// Once for a process.
void join_runtime()
{
	static const bool joined = [] {
		iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kOff,
																 iox::log::LogLevelOutput::kHideLogLevel);
		const std::string name = "icepath-" + std::to_string(getpid());
		iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
		return true;
	}();
	static_cast<void>(joined);
}

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : ChannelEnd(how, what), queue(queue_of(how))
	{}
	const uint64_t queue; // chunks
	std::optional<iox::popo::UntypedPublisher> publisher;
	std::optional<iox::popo::UntypedSubscriber> subscriber;
	std::optional<iox::popo::WaitSet<1>> wait_set; // of the subscriber, for ICEPATH_WAIT_EPOLL; ends before it
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "iceoryx";
		it.summary = "loaned chunks in shared memory, untyped; polled (spin) or awaited in a WaitSet (epoll)";
		it.waits = ICEPATH_WAIT_SPIN | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		it.capabilities = ICEPATH_CAN_PINGPONG | ICEPATH_CAN_LOAN;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "the largest chunks that icepath's iox-roudi has are of 1 MiB";
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

// A signal that interrupts a WaitSet makes the library abort (2.0.3: a semaphore's EINTR is a fatal error), and icepath wakes
// threads by signals. This thread gets none: it sees that it was cancelled when its wait is over.
void hold_signals()
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

int make_ports(icepath_endpoint &end, const std::string &channel)
{
	if (end.sends) {
		iox::popo::PublisherOptions options;
		options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
		end.publisher.emplace(service(channel, end.side), options);
	}
	if (end.receives) {
		iox::popo::SubscriberOptions options;
		options.queueCapacity = end.queue;
		options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
		end.subscriber.emplace(service(channel, 1 - end.side), options);
		if (end.wait == ICEPATH_WAIT_EPOLL) {
			end.wait_set.emplace();
			if (end.wait_set->attachState(*end.subscriber, iox::popo::SubscriberState::HAS_DATA).has_error())
				return end.sentence.tell(ICEPATH_FAILED, "%s: a WaitSet doesn't take the subscriber", end.target);
		}
	}
	return ICEPATH_OK;
}

// Side 0 names the channel, anew each time: iox-roudi goes on to join those that were killed a moment ago.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		join_runtime();
		if (end.side == 1)
			return ICEPATH_OK;
		const std::string channel = std::to_string(getpid()) + "-" + std::to_string(icepath_now_ns());
		end.given.bytes_used =
			static_cast<uint32_t>(channel.copy(reinterpret_cast<char *>(end.given.bytes), sizeof(end.given.bytes)));
		return make_ports(end, channel);
	});
}

// iox-roudi joins them within a tenth of a second. Side 1 comes first, and finds the ports of side 0.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		if (peer->bytes_used == 0 || peer->bytes_used > sizeof(peer->bytes))
			return end->sentence.tell(ICEPATH_FAILED, "%s: the peer doesn't name the channel", end->target);
		const std::string channel(reinterpret_cast<const char *>(peer->bytes), peer->bytes_used);
		if (const int status = make_ports(*end, channel); status != ICEPATH_OK)
			return status;
	}
	if (end->wait == ICEPATH_WAIT_EPOLL)
		hold_signals(); // only here: between open() and connect() icepath allows the one that it wakes by
	const uint64_t give_up_ns = icepath_now_ns() + 3'000'000'000;
	const auto is_joined = [&] {
		return (!end->publisher || end->publisher->hasSubscribers()) &&
			   (!end->subscriber || end->subscriber->getSubscriptionState() == iox::SubscribeState::SUBSCRIBED);
	};
	while (!is_joined()) {
		if (icepath_now_ns() > give_up_ns)
			return end->sentence.tell(ICEPATH_FAILED, "%s: iox-roudi hasn't joined both ends in 3 s", end->target);
		usleep(1000);
	}
	return ICEPATH_OK;
}

int publish(icepath_endpoint *end, void *chunk, icepath_send &message)
{
	message.attempts = 1;
	message.call_ns = icepath_now_ns();
	end->publisher->publish(chunk);
	message.return_ns = icepath_now_ns();
	// Without a queue it went nowhere.
	return end->is_cancelled() || !end->publisher->hasSubscribers() ? end->end_of_cancelled() : ICEPATH_OK;
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	if (bytes > end->payload_bytes)
		return end->sentence.tell(ICEPATH_UNSUPPORTED, "%s: a slot has %llu bytes, %llu were asked for", end->target,
								  static_cast<unsigned long long>(end->payload_bytes),
								  static_cast<unsigned long long>(bytes));
	auto lent = end->publisher->loan(static_cast<uint32_t>(bytes));
	if (lent.has_error())
		return end->sentence.tell(ICEPATH_FAILED, "%s: loan() failed: %s", end->target,
								  iox::popo::asStringLiteral(lent.get_error()));
	*slot = lent.value();
	return ICEPATH_OK;
}

int send_lent(icepath_endpoint *end, void *slot, icepath_send *message) { return publish(end, slot, *message); }

int send_message(icepath_endpoint *end, icepath_send *message)
{
	void *chunk = nullptr;
	if (const int status = lend(end, message->bytes, &chunk); status != ICEPATH_OK)
		return status;
	std::memcpy(chunk, message->data, message->bytes);
	return publish(end, chunk, *message);
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	message->ask_ns = icepath_now_ns();
	message->wait_return_ns = message->observe_ns = 0;
	message->attempts = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		auto taken = end->subscriber->take();
		if (!taken.has_error()) {
			message->take_return_ns = icepath_now_ns();
			*slot = taken.value();
			message->bytes = iox::mepoo::ChunkHeader::fromUserPayload(*slot)->userPayloadSize();
			return ICEPATH_OK;
		}
		if (taken.get_error() != iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE)
			return end->sentence.tell(ICEPATH_FAILED, "%s: take() failed: more chunks are held than may be",
									  end->target);
		if (end->wait_set) {
			static_cast<void>(end->wait_set->timedWait(kLongestWait));
			message->wait_return_ns = icepath_now_ns();
		} else {
			pause_spin();
		}
	}
}

int give_back(icepath_endpoint *end, const void *slot)
{
	end->subscriber->release(slot);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const void *chunk = nullptr;
	if (message->capacity < end->payload_bytes)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the receive buffer is smaller than the payload", end->target);
	if (const int status = take_lent(end, &chunk, message); status != ICEPATH_OK)
		return status;
	message->bytes = std::min(message->bytes, message->capacity);
	std::memcpy(message->data, chunk, message->bytes);
	return give_back(end, chunk);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("iceoryx", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "iceoryx " ICEORYX_LATEST_RELEASE_VERSION;
		table.daemon = &icepath::middleware::kRouDi;
		table.cancel = [](icepath_endpoint *end) {
			end->cancelled.store(true, std::memory_order_relaxed);
			if (end->publisher)
				end->publisher->stopOffer(); // sets an atomic: iox-roudi does the rest
		};
		table.loan = lend;
		table.send_loaned = send_lent;
		table.take = take_lent;
		table.give_back = give_back;
		return table;
	}();
	return &plugin;
}
