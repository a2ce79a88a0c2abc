// SPDX-License-Identifier: Apache-2.0
// eCAL 6 in its local mode: a publisher and a subscriber for each direction, which discover each other by broadcasts on
// the loopback device, four times a second. CPublisher::Send() passes a message on in the sender's thread; a library
// thread of the receiver calls back. There the side handles the message (callback), or the receiver is woken (block).
//
// ecal/shm: Send() copies the message, writes it into a memory file, whose mutex it holds meanwhile, and sets an event,
// a condition variable in shared memory. The receiver's thread for that file copies it out and calls back. With
// zero_copy_mode both copies are omitted, and the thread calls back with the mutex held.
// ecal/udp: Send() sends datagrams of up to 64 KiB. One thread at the receiver reads all that arrive, including those
// that its own process has sent.
// ecal/tcp: Send() writes to the connection. Four threads at the receiver take turns to read: the length of a header,
// the rest of it, the payload. Then they wake the subscription's thread, which calls back.
//
// A memory file keeps only the last message, read or not; so do a TCP connection's sender and its subscription. So the
// window is one message (send_window.h). With acknowledge_timeout_ms, Send() itself waits for the end of the callback,
// at most that long, and then returns as if nothing had happened. The next message may overwrite one that wasn't read,
// so the channel ends there. Its window is for what the callback keeps.
//
// By callback, a handler may send: eCAL's own test does (TestChainedPublisherSubscriberCallback, pull request 1798).
// With zero_copy_mode it holds the file of the message that it handles, and Send() writes another. A side that sends
// one message for each needs no window: a message says that the one before was taken, so at most one waits. With an
// acknowledgement, the threads of both sides would wait in Send() for the end of each other's callback: ecal/shm-ack
// has no callback.
//
// A publisher with a subscriber may not reach it yet: the thread for its file, or its connection, comes later. So in
// connect() each side sends messages with a time that no other has, until one has arrived.
//
// cancel() wakes the receiver, which sleeps here; Send() returns by itself. eCAL learns of a peer's death after 10 s:
// here its process is watched. A process killed while it sets an event leaves the event's mutex taken, and the next
// process that sets it waits forever.
#include <ecal/core.h>
#include <ecal/pubsub/publisher.h>
#include <ecal/pubsub/subscriber.h>

#include <optional>

#include "middleware_adapters/ecal/arrivals.h"
#include "middleware_adapters/ecal/ways.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"

using namespace icepath::plugin_kit;

namespace {

constexpr unsigned kRefreshMs = 250;
constexpr long long kHelloTime = 1; // microseconds since 1970
constexpr uint64_t kHelloEveryNs = 20'000'000;
constexpr uint64_t kQueued = 256;

// Of one direction, in shared memory; starts zeroed.
struct Greeting {
	alignas(64) std::atomic<uint32_t> has_come;
};

// eCAL in this process. All processes of a port receive what any of them publishes, subscribes to and sends by UDP.
// There are many here; those that have no channel with each other don't share a port.
class Library {
public:
	// NULL: it couldn't be initialized.
	static const Library *of(unsigned port)
	{
		static const Library only(port);
		return only.is_there_ ? &only : nullptr;
	}
	// Channels whose side 0 is in one process have a port of their own, almost always; otherwise more processes listen.
	static unsigned port_of(const std::string &channel)
	{
		constexpr unsigned kFirst = 10'000, kPairs = 11'000; // from 32768 on, ports are ephemeral
		const auto pid = static_cast<unsigned>(std::strtoul(channel.c_str(), nullptr, 10)); // see new_channel()
		return kFirst + pid % kPairs * 2;
	}
	const unsigned port;

private:
	explicit Library(unsigned its_port) : port(its_port)
	{
		eCAL::Configuration how;
		how.registration.registration_refresh = kRefreshMs;
		how.registration.local.udp.port = port;
		how.transport_layer.udp.port = port + 1;
		is_there_ = eCAL::Initialize(how, "icepath", eCAL::Init::Publisher | eCAL::Init::Subscriber);
	}
	// Runs before exit() destroys eCAL's objects. Otherwise the thread that uses them last would do this, and if that
	// is one of eCAL's own, it joins itself.
	~Library() { eCAL::Finalize(); }
	bool is_there_ = false;
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what, way_of(what).longest_window()), way(way_of(what)), handler(how),
		  has_window(!way.may_lose() && !(handler.answers() && (side == 0 || how.answers == 1)))
	{
		if (receives && !handler.is_used())
			arrivals.keep(way.may_lose() ? queue_length(how, kQueued) : window, payload_bytes, way.may_lose());
	}
	~icepath_endpoint() override
	{
		if (subscriber)
			subscriber->RemoveReceiveCallback(); // waits for a running callback
	}
	uint64_t memory_bytes() const { return WindowedEnd::memory_bytes() + 2 * sizeof(Greeting); }
	void lay_out(uint8_t *first)
	{
		WindowedEnd::lay_out(first);
		auto *greetings = reinterpret_cast<Greeting *>(first + WindowedEnd::memory_bytes());
		greeting_out = greetings + side;
		greeting_in = greetings + (1 - side);
	}

	const Way &way;
	const Handler handler;
	const bool has_window; // whether the sender waits for messages to be taken
	Greeting *greeting_in = nullptr, *greeting_out = nullptr;
	uint64_t greeted_ns = 0;
	Arrivals arrivals;
	std::optional<eCAL::CPublisher> publisher;
	std::optional<eCAL::CSubscriber> subscriber;
};

namespace {

void on_message(icepath_endpoint &end, const eCAL::SReceiveCallbackData &came)
{
	if (came.send_timestamp == kHelloTime)
		return end.greeting_in->has_come.store(1, std::memory_order_release);
	if (!end.handler.is_used())
		return end.arrivals.put(came.buffer, came.buffer_size);
	end.handler.take(icepath_now_ns(), const_cast<void *>(came.buffer), came.buffer_size);
	if (!end.way.may_lose())
		end.tell_of_room();
}

void make_ends(icepath_endpoint &end, const std::string &channel)
{
	if (end.receives) {
		end.subscriber.emplace(topic_of(channel, 1 - end.side), eCAL::SDataTypeInformation(), subscriber_of(end.way));
		end.subscriber->SetReceiveCallback([&end](const eCAL::STopicId &, const eCAL::SDataTypeInformation &,
												  const eCAL::SReceiveCallbackData &came) { on_message(end, came); });
	}
	if (end.sends)
		end.publisher.emplace(topic_of(channel, end.side), eCAL::SDataTypeInformation(),
							  publisher_of(end.way, end.payload_bytes));
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const ThreadsNamed named("ecal");
	return guarded(end, "joining", [&]() -> int {
		const Library *const library = Library::of(Library::port_of(channel));
		if (!library)
			return end.sentence.tell(ICEPATH_FAILED, "%s: eCAL::Initialize() failed", end.target);
		if (library->port != Library::port_of(channel))
			return end.sentence.tell(ICEPATH_FAILED, "%s: eCAL is for the channels of another process in this one",
									 end.target);
		make_ends(end, channel);
		return ICEPATH_OK;
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

// Whether this end's messages reach the peer.
bool is_heard(icepath_endpoint &end)
{
	if (!end.sends || end.greeting_out->has_come.load(std::memory_order_acquire))
		return true;
	const uint64_t now_ns = icepath_now_ns();
	if (now_ns - end.greeted_ns > kHelloEveryNs) {
		const ThreadsNamed named("ecal"); // names TCP's threads, which the first message makes
		const std::vector<char> hello(end.payload_bytes);
		end.publisher->Send(hello.data(), hello.size(), kHelloTime);
		end.greeted_ns = now_ns;
	}
	return false;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	return connect_discovered(*end, *peer, join, [end] { return is_heard(*end); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (const int status = end->has_window ? end->await_room() : end->check_over(); status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const bool is_sent = end->publisher->Send(message->data, message->bytes);
	message->return_ns = icepath_now_ns();
	const bool is_late =
		end->way.acknowledged && message->return_ns - message->call_ns >= kAcknowledgedWithinMs * 1'000'000ull;
	if (is_sent && !is_late)
		return end->end_of_send(message->return_ns);
	if (end->a_peer_has_ended() || end->is_cancelled())
		return end->end_of_cancelled();
	return is_late ? end->sentence.tell(ICEPATH_FAILED, "%s: the receiver hasn't acknowledged a message in %u ms",
										end->target, kAcknowledgedWithinMs)
				   : end->sentence.tell(ICEPATH_FAILED, "%s: CPublisher::Send() failed, or there is no subscriber left",
										end->target);
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->is_cancelled() || end->handler.is_used())
		return end->end_of_cancelled();
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	const Arrivals::Waiting waiting = end->arrivals.take(message->data, message->bytes);
	message->take_return_ns = icepath_now_ns();
	if (waiting == Arrivals::Waiting::Over)
		return end->end_of_cancelled();
	if (waiting == Arrivals::Waiting::Overflowed)
		return end->sentence.tell(ICEPATH_FAILED, "%s: received more messages than the window allows", end->target);
	if (!end->way.may_lose())
		end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	end->arrivals.end();
}

const char *version()
{
	static const std::string text = [] {
		const eCAL::SVersion is = eCAL::GetVersion();
		return "eCAL " + std::to_string(is.major) + "." + std::to_string(is.minor) + "." + std::to_string(is.patch);
	}();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("ecal", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
