// SPDX-License-Identifier: Apache-2.0
// Eclipse iceoryx: the library lends chunks of a shared memory that iox-roudi makes; they are filled in place and
// passed by reference. The receiver polls, sleeps in a WaitSet (untyped.h, or c_binding.cc with the C binding), or is
// woken by a Listener's thread, which may also handle the message itself (listener.cc). iox-roudi only joins publishers
// and subscribers.
//
// A process killed while it publishes may leave a lock of the shared memory taken, for which iox-roudi then waits
// forever: it joins nobody any more.
//
// A full queue makes publish() wait, in a loop of the library that can't be cancelled. Only the queue's removal ends
// it: iox-roudi does that a tenth of a second after the publisher stopped offering. It runs without its monitoring
// (roudi.h), so the receiver's death doesn't end it.
#include <signal.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>

#include "middleware_adapters/iceoryx/roudi.h"
#include "middleware_adapters/iceoryx/untyped.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <iceoryx_versions.hpp>

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kQueuedBytes = 8 * kLargestChunk;
constexpr uint64_t kLongestQueue = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY;

uint64_t queue_of(const icepath_open &how)
{
	const uint64_t fits = std::clamp<uint64_t>(kQueuedBytes / how.payload_bytes, 8, kLongestQueue);
	const uint64_t asked = value_of(how.qos, ICEPATH_QOS_DEPTH).value_or(how.depth);
	return asked ? std::min(asked, fits) : fits;
}

std::unique_ptr<Ports> untyped_ports(const WantedPorts &wanted) { return std::make_unique<UntypedPorts>(wanted); }

struct Variant {
	const char *name, *summary;
	uint32_t waits, mechanisms, qos;
	std::unique_ptr<Ports> (*make)(const WantedPorts &);
};
constexpr uint32_t kPolledOrInWaitSet = ICEPATH_WAIT_SPIN | ICEPATH_WAIT_EPOLL;
constexpr uint32_t kDiscards = 1u << ICEPATH_QOS_RELIABILITY, kQueues = 1u << ICEPATH_QOS_DEPTH;
constexpr Variant kVariants[] = {
	{"iceoryx", "loaned chunks in shared memory, untyped; polled (spin) or awaited in a WaitSet (epoll)",
	 kPolledOrInWaitSet, 0, kDiscards | kQueues, untyped_ports},
	{"iceoryx/listener", "the same, taken by a Listener's thread, which handles it, or wakes the receiver's",
	 ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK, ICEPATH_USES_LIBRARY_THREADS | ICEPATH_USES_SHARED_MEMORY, kDiscards,
	 listener_ports},
#ifdef ICEPATH_HAS_C_BINDING
	{"iceoryx-c", "loaned chunks by the C binding; polled (spin) or awaited in a wait set (epoll)", kPolledOrInWaitSet,
	 0, kDiscards | kQueues, c_ports},
#endif
};

// Once per process.
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
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), queue(queue_of(how)),
		  discards(value_of(how.qos, ICEPATH_QOS_RELIABILITY) == ICEPATH_BEST_EFFORT), handler(how.handler)
	{}
	const uint64_t queue; // chunks
	const bool discards; // when the queue is full
	const icepath_handler handler;
	std::unique_ptr<Ports> ports;
	DeathWatch watch;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const std::vector<icepath_target> all = [] {
		std::vector<icepath_target> targets;
		for (const Variant &variant : kVariants) {
			icepath_target it{};
			it.size = sizeof(it);
			it.name = variant.name;
			it.summary = variant.summary;
			it.waits = variant.waits;
			it.mechanisms = ICEPATH_USES_LIBRARY_CALLS | variant.mechanisms;
			it.capabilities = ICEPATH_CAN_LOAN;
			it.qos = variant.qos;
			it.max_payload_bytes = kLargestChunk;
			it.max_payload_why = "the largest chunks that icepath's iox-roudi has are of 1 MiB";
			targets.push_back(it);
		}
		return targets;
	}();
	return n < all.size() ? &all[n] : nullptr;
}

// A signal that interrupts a WaitSet makes the library abort (2.0.3: a semaphore's EINTR is a fatal error), and icepath
// wakes threads with signals. So this thread blocks them all: it notices cancellation when its wait ends.
void hold_signals()
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// One message, or none. HoldsTooMany leaves a sentence.
Taking take_one(icepath_endpoint &end, Ports &ports, const void **chunk, icepath_recv &message)
{
	message.attempts++;
	message.take_call_ns = icepath_now_ns();
	const Taking taking = ports.take(chunk, message.bytes);
	message.take_return_ns = icepath_now_ns();
	if (taking == Taking::HoldsTooMany)
		end.sentence.tell(ICEPATH_FAILED, "%s: taking failed: more chunks are held than may be", end.target);
	return taking;
}

// Called in the Listener's thread.
void handle_data(icepath_endpoint &end, Ports &ports)
{
	for (;;) {
		icepath_recv message{};
		message.size = sizeof(message);
		ChannelEnd::begin_taking(message);
		const void *chunk = nullptr;
		const Taking taking = take_one(end, ports, &chunk, message);
		if (taking == Taking::NothingThere)
			return;
		if (taking == Taking::HoldsTooMany)
			return end.handler.handle(end.handler.side, ICEPATH_FAILED, &message);
		message.data = const_cast<void *>(chunk);
		end.handler.handle(end.handler.side, ICEPATH_OK, &message);
		ports.release(chunk);
	}
}

int make_ports(icepath_endpoint &end, const std::string &channel)
{
	const auto *const variant =
		std::ranges::find_if(kVariants, [&](const Variant &it) { return it.name == end.target; });
	WantedPorts wanted{
		channel,      end.side,          end.sends, end.receives, end.wait == ICEPATH_WAIT_EPOLL, end.queue,
		end.discards, end.payload_bytes, {}};
	if (end.wait == ICEPATH_WAIT_CALLBACK)
		wanted.on_data = [&end](Ports &ports) { handle_data(end, ports); };
	try {
		end.ports = variant->make(wanted);
	} catch (const std::exception &failure) {
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s", end.target, failure.what());
	}
	return ICEPATH_OK;
}

// Side 0 names the channel, anew each time: iox-roudi still joins ports that were killed a moment ago.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) {
		join_runtime();
		return open_named(end, make_ports);
	});
}

// iox-roudi joins them within a tenth of a second.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (end->wait == ICEPATH_WAIT_EPOLL)
		hold_signals(); // only here: between open() and connect() icepath unblocks its wake-up signal
	return connect_discovered(*end, *peer, make_ports, [&] { return end->ports->are_joined(); });
}

int send_lent(icepath_endpoint *end, void *slot, icepath_send *message)
{
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	end->ports->publish(slot);
	message->return_ns = icepath_now_ns();
	// Without a queue, the message was lost.
	if (end->is_cancelled() || !end->ports->has_subscriber())
		return end->end_of_cancelled();
	return end->watch.look(*end, message->return_ns); // iox-roudi doesn't notice
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	if (const int status = end->check_slot(bytes); status != ICEPATH_OK)
		return status;
	const char *why_not = nullptr;
	*slot = end->ports->lend(static_cast<uint32_t>(bytes), why_not);
	return !*slot ? end->sentence.tell(ICEPATH_FAILED, "%s: no chunk can be lent: %s", end->target, why_not)
				  : ICEPATH_OK;
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		const Taking taking = take_one(*end, *end->ports, slot, *message);
		if (taking != Taking::NothingThere)
			return taking == Taking::Taken ? ICEPATH_OK : ICEPATH_FAILED;
		end->ports->await();
		if (end->wait == ICEPATH_WAIT_EPOLL)
			message->wait_return_ns = icepath_now_ns();
	}
}

int give_back(icepath_endpoint *end, const void *slot)
{
	end->ports->release(slot);
	return ICEPATH_OK;
}

// The library doesn't report its ports' settings: these are the ones that were set.
void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	set_value(*qos, ICEPATH_QOS_RELIABILITY, end->discards ? ICEPATH_BEST_EFFORT : ICEPATH_RELIABLE);
	if (std::string_view(end->target) != "iceoryx/listener") // whose thread takes some ahead
		set_value(*qos, ICEPATH_QOS_DEPTH, end->queue);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("iceoryx", target, open_end, connect_end, send_copy<lend, send_lent>,
											recv_copy<take_lent, give_back>);
		table.library_version = "iceoryx " ICEORYX_LATEST_RELEASE_VERSION;
		table.daemon = &kRouDi;
		table.granted = granted;
		table.cancel = [](icepath_endpoint *end) {
			end->cancelled.store(true, std::memory_order_relaxed);
			if (end->ports)
				end->ports->cancel();
		};
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
