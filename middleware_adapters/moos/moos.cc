// SPDX-License-Identifier: Apache-2.0
// MOOS 10 with its asynchronous client, through MOOSDB, over TCP with TCP_NODELAY. Notify() queues the message and
// wakes a library thread, which writes it. MOOSDB has a reading thread for each client, one that holds the variables,
// and a writing thread for each client. Another library thread of the receiver reads the message into its inbox and
// calls back, which wakes the receiver here; the receiver takes the inbox with Fetch().
//
// Both queues drop messages when they get long, so a sender has a window. A client's channel ends with MOOSDB.
#include <MOOS/libMOOS/Comms/MOOSMsg.h>
#include <MOOS/libMOOS/MOOSVersion.h>

#include "middleware_adapters/moos/client.h"
#include "plugin_kit/brokered_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/ring_wait.h"

using namespace icepath::plugin_kit;

namespace {

constexpr int kPort = 19000;
const char *const kArguments[] = {"--moos_port=19000", "--moos_no_colour", "--tcpnodelay", nullptr};
const icepath_daemon kDatabase = {sizeof(icepath_daemon), MOOSDB, nullptr, kArguments, nullptr, nullptr,
								  "disabling nagle"};
constexpr uint64_t kLargest = 8 * 1024 * 1024;
constexpr uint64_t kLongestJoinNs = 5'000'000'000;

} // namespace

struct icepath_endpoint : BrokeredEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : BrokeredEnd(how, what) {}
	std::string forth, back, hello; // variables
	MOOSMSG_LIST taken; // from the inbox
	DataBell bell;
	Client client; // its threads end before the objects that they call back
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only =
		relayed_target("moos", "MOOS's asynchronous client through MOOSDB over TCP", ICEPATH_WAIT_EPOLL, kLargest,
					   "icepath's own limit: MOOSDB copies a message several times");
	return n == 0 ? &only : nullptr;
}

// The next message of that variable; false: none.
bool take(icepath_endpoint &end, const std::string &variable, CMOOSMsg &message)
{
	for (;;) {
		if (end.taken.empty() && !end.client.Fetch(end.taken))
			return false;
		message = std::move(end.taken.front());
		end.taken.pop_front();
		if (message.GetKey() == variable)
			return true;
	}
}

template <class IsDone> int await(icepath_endpoint &end, const char *what, IsDone is_done)
{
	const uint64_t give_up_ns = icepath_now_ns() + kLongestJoinNs;
	while (!is_done()) {
		if (end.is_over())
			return end.end_of_call();
		if (icepath_now_ns() > give_up_ns)
			return end.sentence.tell(ICEPATH_FAILED, "%s: %s in 5 s", end.target, what);
		usleep(1000);
	}
	return ICEPATH_OK;
}

// MOOSDB handles a client's messages in order: a client that gets its own message back is registered.
int subscribe(icepath_endpoint &end)
{
	CMOOSMsg came;
	if (!end.client.Register(end.back, 0) || !end.client.Register(end.hello, 0) ||
		!end.client.Notify(end.hello, "hello"))
		return end.sentence.tell(ICEPATH_FAILED, "%s: registering with MOOSDB failed", end.target);
	return await(end, "MOOSDB hasn't answered", [&] { return take(end, end.hello, came); });
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const std::string prefix = "icepath-" + channel + "-", name = prefix + std::to_string(end.side);
	end.forth = name + "-message";
	end.back = prefix + std::to_string(1 - end.side) + "-message";
	end.hello = name + "-hello";
	end.client.SetTCPNoDelay(true);
	end.client.SetOnMailCallBack(
		[](void *it) {
			Client::keep_quiet();
			static_cast<DataBell *>(it)->ring();
			return true;
		},
		&end.bell);
	end.client.SetOnDisconnectCallBack(
		[](void *it) {
			auto &mine = *static_cast<icepath_endpoint *>(it);
			mine.broker_gone = true;
			mine.bell.ring();
			return true;
		},
		&end);
	{
		const ThreadsNamed named("moos");
		end.client.Run("127.0.0.1", kPort, name);
	}
	const int status = await(end, "MOOSDB can't be joined", [&] { return end.client.IsConnected(); });
	return status == ICEPATH_OK && end.receives ? subscribe(end) : status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer) { return connect_brokered(*end, *peer, join); }

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const bool is_queued =
		end->client.Notify(end->forth, const_cast<void *>(message->data), static_cast<unsigned>(message->bytes));
	message->return_ns = icepath_now_ns();
	if (is_queued)
		return end->end_of_send(message->return_ns);
	end->broker_gone = true;
	return end->end_of_call();
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	CMOOSMsg came;
	for (;;) {
		if (end->is_over())
			return end->end_of_call();
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		if (take(*end, end->back, came))
			break;
		message->wait_return_ns = end->bell.sleep();
	}
	message->take_return_ns = icepath_now_ns();
	message->bytes = std::min<uint64_t>(came.GetBinaryDataSize(), message->capacity);
	std::memcpy(message->data, came.GetBinaryData(), message->bytes);
	end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	end->bell.ring();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("moos", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "MOOS " MOOS_VERSION_NUMBER;
		table.daemon = &kDatabase;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
