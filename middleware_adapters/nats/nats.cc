// SPDX-License-Identifier: Apache-2.0
// NATS with its C client, through nats-server, over TCP. natsConnection_Publish() puts a message into the connection's
// buffer. By default, a library thread, the flusher, writes it a moment later, so that more messages may join it; with
// natsOptions_SetSendAsap() the sender's thread writes it. Goroutines of the server pass it on, a library thread of the
// receiver reads it and puts it into the subscription's queue, and natsSubscription_NextMsg() sleeps on a condition
// variable there. By callback, the subscription's own library thread sleeps there, and the side handles each message in
// it. The handler may publish, as in the library's example replier.c.
//
// A closed subscription may still be in its handler. The library calls back once it isn't (OnComplete), in the same
// thread: that ends the side if the connection is lost, and the destructor waits for it.
//
// cancel() ends the subscription, and the call that sleeps on it returns. A publish that waits for the server to read
// fails because of the signal that comes with cancel(), and the connection with it. NATS doesn't report the peer's
// death. A client whose server is gone would reconnect, and miss messages: here the channel ends.
#include <nats/nats.h>

#include <semaphore>

#include "plugin_kit/brokered_end.h"
#include "plugin_kit/library.h"

using namespace icepath::plugin_kit;

namespace {

constexpr const char *kConfig = "/tmp/icepath-nats.conf";
constexpr const char *kUrl = "nats://127.0.0.1:14222";
// A client with more than max_pending unread bytes is dropped.
constexpr const char *kSettings = R"(listen: "127.0.0.1:14222"
max_payload: 8388608
max_pending: 268435456
)";
const char *const kArguments[] = {"-c", kConfig, nullptr};
const icepath_daemon kServer = {sizeof(icepath_daemon), "nats-server", "nats-server", kArguments, kConfig, kSettings,
								"Server is ready"};
constexpr uint64_t kLargest = 8'388'608;
constexpr int64_t kLongestJoinMs = 5000, kForeverMs = 24 * 3600 * 1000;

} // namespace

struct icepath_endpoint : BrokeredEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : BrokeredEnd(how, what), handler(how) {}
	~icepath_endpoint() override
	{
		if (has_thread) {
			is_closing = true;
			natsSubscription_Unsubscribe(subscription);
			handled_last.acquire();
		}
		natsSubscription_Destroy(subscription);
		natsConnection_Destroy(connection);
		natsOptions_Destroy(options);
	}
	const Handler handler;
	natsOptions *options = nullptr;
	natsConnection *connection = nullptr;
	natsSubscription *subscription = nullptr;
	bool has_thread = false; // the subscription
	std::atomic<bool> is_closing{false};
	std::binary_semaphore handled_last{0};
	std::atomic<bool> asking{false}; // inside recv()
	std::string forth; // the subject to the peer
};

namespace {

constexpr const char *kAsap = "nats", *kByFlusher = "nats/flusher";

icepath_target described(const char *name, const char *summary)
{
	return relayed_target(name, summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK, kLargest,
						  "icepath's nats-server has a max_payload of 8 MiB, the most that NATS recommends");
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target all[] = {
		described(kAsap, "NATS through nats-server over TCP, written by the sender's thread (SendAsap)"),
		described(kByFlusher, "NATS through nats-server over TCP, written by the library's flusher, its default"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

int failed(icepath_endpoint &end, const char *call, natsStatus status)
{
	if (end.is_over())
		return end.end_of_call();
	if (status == NATS_CONNECTION_CLOSED || status == NATS_IO_ERROR || status == NATS_INVALID_SUBSCRIPTION ||
		natsConnection_IsClosed(end.connection)) {
		end.broker_gone = true;
		return end.end_of_call();
	}
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, natsStatus_GetText(status));
}

// The callbacks run in the subscription's thread.
void on_message(natsConnection *, natsSubscription *, natsMsg *message, void *closure)
{
	const uint64_t called_ns = icepath_now_ns();
	icepath_endpoint &end = *static_cast<icepath_endpoint *>(closure);
	end.handler.take(called_ns, const_cast<char *>(natsMsg_GetData(message)),
					 static_cast<uint64_t>(natsMsg_GetDataLength(message)));
	natsMsg_Destroy(message);
	end.tell_of_room();
}

void on_complete(void *closure)
{
	icepath_endpoint &end = *static_cast<icepath_endpoint *>(closure);
	if (!end.is_closing) {
		end.broker_gone = true;
		end.handler.end(end.end_of_call());
	}
	end.handled_last.release();
}

natsStatus subscribe_with_thread(icepath_endpoint &end, const std::string &subject)
{
	natsStatus status = natsConnection_Subscribe(&end.subscription, end.connection, subject.c_str(), on_message, &end);
	if (status == NATS_OK)
		status = natsSubscription_SetOnCompleteCB(end.subscription, on_complete, &end);
	end.has_thread = status == NATS_OK;
	return status;
}

int subscribe(icepath_endpoint &end, const std::string &subject)
{
	natsStatus status = end.handler.is_used()
							? subscribe_with_thread(end, subject)
							: natsConnection_SubscribeSync(&end.subscription, end.connection, subject.c_str());
	if (status == NATS_OK)
		status = natsSubscription_SetPendingLimits(end.subscription, -1, -1); // none: messages over one are dropped
	if (status == NATS_OK)
		status = natsConnection_FlushTimeout(end.connection, kLongestJoinMs); // returns once the server has answered
	return status == NATS_OK ? ICEPATH_OK : failed(end, "subscribing", status);
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const icepath::plugin_kit::ThreadsNamed named("cnats");
	natsStatus status = natsOptions_Create(&end.options);
	if (status == NATS_OK)
		status = natsOptions_SetURL(end.options, kUrl);
	if (status == NATS_OK)
		status = natsOptions_SetAllowReconnect(end.options, false);
	if (status == NATS_OK)
		status = natsOptions_SetSendAsap(end.options, std::strcmp(end.target, kAsap) == 0);
	if (status == NATS_OK)
		status = natsConnection_Connect(&end.connection, end.options);
	if (status != NATS_OK)
		return end.sentence.tell(ICEPATH_FAILED, "%s: nats-server at %s can't be joined: %s", end.target, kUrl,
								 natsStatus_GetText(status));
	const std::string subject = "icepath." + channel + ".";
	end.forth = subject + std::to_string(end.side);
	return end.receives ? subscribe(end, subject + std::to_string(1 - end.side)) : ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer) { return connect_brokered(*end, *peer, join); }

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const natsStatus status =
		natsConnection_Publish(end->connection, end->forth.c_str(), message->data, static_cast<int>(message->bytes));
	message->return_ns = icepath_now_ns();
	return status == NATS_OK ? end->end_of_send(message->return_ns) : failed(*end, "natsConnection_Publish", status);
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	end->asking = !end->handler.is_used();
	if (end->cancelled || end->handler.is_used())
		return end->end_of_call();
	natsMsg *came = nullptr;
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	const natsStatus status = natsSubscription_NextMsg(&came, end->subscription, kForeverMs);
	message->take_return_ns = icepath_now_ns();
	end->asking = false;
	if (status != NATS_OK)
		return failed(*end, "natsSubscription_NextMsg", status);
	message->bytes = std::min<uint64_t>(static_cast<uint64_t>(natsMsg_GetDataLength(came)), message->capacity);
	std::memcpy(message->data, natsMsg_GetData(came), message->bytes);
	natsMsg_Destroy(came);
	end->tell_of_room();
	return ICEPATH_OK;
}

// Ending a subscription takes the connection's lock, which a publishing thread holds.
void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (end->asking)
		natsSubscription_Unsubscribe(end->subscription);
}

const char *version()
{
	static const std::string text = std::string("cnats ") + nats_GetVersion();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("nats", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.daemon = &kServer;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
