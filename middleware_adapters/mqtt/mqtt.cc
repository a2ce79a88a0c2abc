// SPDX-License-Identifier: Apache-2.0
// MQTT with libmosquitto and the broker mosquitto, over TCP. Each client has a library thread (mosquitto_loop_start),
// which writes what mosquitto_publish() queued. The broker has one thread for all clients, and the receiver's library
// thread passes each message to a callback, whose memory ends with it.
//
// By callback, the side handles each message there. It may publish: the library then leaves the packet to its thread,
// which writes it once the callback has returned (in_callback, issue 442). So a handler can't wait for room: an end
// that answers has no window, and at most the answers to one message are under way.
//
// By block, the receiver's queue is the adapter's: a program that waits for a message in its own thread needs one. The
// callback copies the payload into it, under a mutex, and notifies a condition variable, on which recv() sleeps.
// cancel() notifies it too.
//
// MQTT doesn't report the peer's death. A client without its broker would reconnect and miss messages: the channel
// ends.
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>

#include "plugin_kit/brokered_end.h"
#include "plugin_kit/library.h"
#include <mosquitto.h>

using namespace icepath::plugin_kit;

namespace {

constexpr const char *kConfig = "/tmp/icepath-mosquitto.conf";
constexpr int kPort = 18830;
// `user root`: its user namespace maps no other user, so mosquitto can't change its own. 0: no limit, because messages
// over a limit are dropped.
constexpr const char *kSettings = R"(listener 18830 127.0.0.1
allow_anonymous true
user root
persistence false
sys_interval 0
set_tcp_nodelay true
max_inflight_messages 0
max_queued_messages 0
log_dest stderr
log_type error
log_type warning
log_type information
)";
const char *const kArguments[] = {"-c", kConfig, nullptr};
const icepath_daemon kBroker = {
	sizeof(icepath_daemon), "mosquitto", "mosquitto", kArguments, kConfig, kSettings, "running"};
constexpr std::chrono::seconds kLongestJoin{5};
constexpr int kKeepAliveSeconds = 60;

struct Variant {
	const char *name, *summary;
	int qos;
	bool nodelay; // of the client's socket; the library's default is off
};
constexpr Variant kVariants[] = {
	{"mqtt/qos0", "MQTT through mosquitto over TCP, at most once", 0, true},
	{"mqtt/qos1", "MQTT through mosquitto over TCP, at least once: each is acknowledged", 1, true},
	{"mqtt/qos2", "MQTT through mosquitto over TCP, exactly once: four packets to the broker, and from it", 2, true},
	{"mqtt/qos1-nagle", "as mqtt/qos1, with Nagle's algorithm on the clients' sockets, as the library leaves it", 1,
	 false},
};

constexpr uint64_t kLargest = 16 * 1024 * 1024;

// Messages not taken yet: never more than the window.
struct Arrivals {
	std::mutex mutex;
	std::condition_variable changed;
	std::vector<uint8_t> slots;
	std::vector<uint32_t> lengths;
	uint64_t came = 0, taken = 0;
	bool overflowed = false;
	bool connected = false, subscribed = false;
	int refusal = 0; // of the connection, by the broker
};

} // namespace

struct icepath_endpoint : BrokeredEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : BrokeredEnd(how, what), handler(how) {}
	~icepath_endpoint() override
	{
		if (!client)
			return;
		mosquitto_disconnect(client);
		if (!broker_gone) // whatever is left to send, the library's thread ends
			shutdown(mosquitto_socket(client), SHUT_RDWR);
		mosquitto_loop_stop(client, false);
		mosquitto_destroy(client);
	}
	const Handler handler;
	const Variant *variant = nullptr;
	mosquitto *client = nullptr;
	Arrivals arrivals;
	std::string forth, back; // topics: to the peer, and from it
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const std::vector<icepath_target> all = [] {
		std::vector<icepath_target> targets;
		for (const Variant &variant : kVariants)
			targets.push_back(
				relayed_target(variant.name, variant.summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK, kLargest,
							   "icepath's own limit: MQTT's 256 MiB take longer than a block of messages"));
		return targets;
	}();
	return n < all.size() ? &all[n] : nullptr;
}

// The callbacks run in the library's thread.
void on_connect(mosquitto *, void *object, int refusal)
{
	Arrivals &arrivals = static_cast<icepath_endpoint *>(object)->arrivals;
	const std::lock_guard lock(arrivals.mutex);
	arrivals.connected = refusal == 0;
	arrivals.refusal = refusal;
	arrivals.changed.notify_all();
}

void on_subscribe(mosquitto *, void *object, int, int, const int *granted)
{
	Arrivals &arrivals = static_cast<icepath_endpoint *>(object)->arrivals;
	const std::lock_guard lock(arrivals.mutex);
	arrivals.subscribed = granted[0] <= 2; // otherwise refused
	arrivals.changed.notify_all();
}

void on_disconnect(mosquitto *, void *object, int)
{
	auto *end = static_cast<icepath_endpoint *>(object);
	{
		const std::lock_guard lock(end->arrivals.mutex);
		end->broker_gone = true;
		end->arrivals.changed.notify_all();
	}
	if (end->handler.is_used())
		end->handler.end(end->end_of_call());
}

void queue_up(icepath_endpoint &end, const mosquitto_message &message)
{
	Arrivals &arrivals = end.arrivals;
	const auto length = static_cast<uint32_t>(message.payloadlen);
	const std::lock_guard lock(arrivals.mutex);
	if (arrivals.came - arrivals.taken == end.window) {
		arrivals.overflowed = true;
	} else {
		const uint64_t slot = arrivals.came++ % end.window;
		arrivals.lengths[slot] = length;
		std::memcpy(&arrivals.slots[slot * end.payload_bytes], message.payload,
					std::min<uint64_t>(length, end.payload_bytes));
	}
	arrivals.changed.notify_one();
}

void on_message(mosquitto *, void *object, const mosquitto_message *message)
{
	const uint64_t called_ns = icepath_now_ns();
	auto *end = static_cast<icepath_endpoint *>(object);
	if (!end->handler.is_used())
		return queue_up(*end, *message);
	end->handler.take(called_ns, message->payload, static_cast<uint64_t>(message->payloadlen));
	end->tell_of_room();
}

int refused(icepath_endpoint &end, const char *call, int error)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call,
							 error == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(error));
}

// The broker confirms each step in a callback.
int await(icepath_endpoint &end, const bool &done, const char *what)
{
	Arrivals &arrivals = end.arrivals;
	std::unique_lock lock(arrivals.mutex);
	arrivals.changed.wait_for(lock, kLongestJoin, [&] { return done || arrivals.refusal || end.is_over(); });
	if (done)
		return ICEPATH_OK;
	if (arrivals.refusal)
		return end.sentence.tell(ICEPATH_FAILED, "%s: mosquitto refused the connection: %s", end.target,
								 mosquitto_connack_string(arrivals.refusal));
	if (end.is_over())
		return end.end_of_call();
	return end.sentence.tell(ICEPATH_FAILED, "%s: mosquitto hasn't answered in %d s: %s", end.target,
							 static_cast<int>(kLongestJoin.count()), what);
}

int join(icepath_endpoint &end, const std::string &channel)
{
	end.forth = "icepath/" + channel + "/" + std::to_string(end.side);
	end.back = "icepath/" + channel + "/" + std::to_string(1 - end.side);
	if (end.receives && !end.handler.is_used()) {
		end.arrivals.slots.resize(end.window * end.payload_bytes);
		end.arrivals.lengths.resize(end.window);
	}
	end.client = mosquitto_new(nullptr, true, &end);
	if (!end.client)
		return end.failed("mosquitto_new");
	mosquitto_connect_callback_set(end.client, on_connect);
	mosquitto_subscribe_callback_set(end.client, on_subscribe);
	mosquitto_disconnect_callback_set(end.client, on_disconnect);
	mosquitto_message_callback_set(end.client, on_message);
	mosquitto_int_option(end.client, MOSQ_OPT_TCP_NODELAY, end.variant->nodelay);
	if (const int error = mosquitto_connect(end.client, "127.0.0.1", kPort, kKeepAliveSeconds))
		return refused(end, "mosquitto_connect", error);
	if (const int error = mosquitto_loop_start(end.client))
		return refused(end, "mosquitto_loop_start", error);
	if (const int status = await(end, end.arrivals.connected, "connecting"); status != ICEPATH_OK)
		return status;
	if (!end.receives)
		return ICEPATH_OK;
	if (const int error = mosquitto_subscribe(end.client, nullptr, end.back.c_str(), end.variant->qos))
		return refused(end, "mosquitto_subscribe", error);
	return await(end, end.arrivals.subscribed, "subscribing");
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		end.variant = std::ranges::find_if(kVariants, [&](const Variant &it) { return it.name == end.target; });
		mosquitto_lib_init();
		return open_with_memory(end, join);
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer) { return connect_brokered(*end, *peer, join); }

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->handler.answers() ? end->check_over() : end->await_room(); status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const int error = mosquitto_publish(end->client, nullptr, end->forth.c_str(), static_cast<int>(message->bytes),
										message->data, end->variant->qos, false);
	message->return_ns = icepath_now_ns();
	if (error == MOSQ_ERR_NO_CONN || error == MOSQ_ERR_CONN_LOST) {
		end->broker_gone = true;
		return end->end_of_call();
	}
	return error ? refused(*end, "mosquitto_publish", error) : end->end_of_send(message->return_ns);
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	Arrivals &arrivals = end->arrivals;
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->handler.is_used())
		return end->end_of_call();
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	std::unique_lock lock(arrivals.mutex);
	arrivals.changed.wait(lock, [&] { return arrivals.came != arrivals.taken || end->is_over(); });
	if (end->is_cancelled() || arrivals.came == arrivals.taken)
		return end->end_of_call();
	if (arrivals.overflowed)
		return end->sentence.tell(ICEPATH_FAILED, "%s: received more messages than the window allows", end->target);
	const uint64_t slot = arrivals.taken % end->window;
	lock.unlock(); // this thread owns the slot until it counts it as taken
	message->bytes = std::min<uint64_t>(arrivals.lengths[slot], message->capacity);
	std::memcpy(message->data, &arrivals.slots[slot * end->payload_bytes], message->bytes);
	lock.lock();
	arrivals.taken++;
	lock.unlock();
	message->take_return_ns = icepath_now_ns();
	end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	const std::lock_guard lock(end->arrivals.mutex);
	end->cancelled = true;
	end->arrivals.changed.notify_all();
}

const char *version()
{
	static const std::string text = [] {
		int major = 0, minor = 0, revision = 0;
		mosquitto_lib_version(&major, &minor, &revision);
		return "libmosquitto " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(revision);
	}();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("mqtt", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.daemon = &kBroker;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
