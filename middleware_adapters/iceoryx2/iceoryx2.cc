// SPDX-License-Identifier: Apache-2.0
// Eclipse iceoryx2: the sender's own thread borrows a slot of shared memory, fills it in place and passes it to the
// receiver's by reference. There is no daemon. iceoryx2/poll makes no system call: the receiver asks repeatedly.
// iceoryx2/event also signals each message by an event, a datagram of a UNIX socket for which the receiver sleeps once
// nothing is left to take. In rare cases an event gets lost, and the receiver sleeps for 100 ms (src/lib.rs).
//
// A full queue makes the sender wait in the library, which yields, then sleeps, and asks each time whether to continue:
// a flag ends the wait, and so does a signal, which the library reports as a failure. A signal also ends a receiver's
// sleep. The peer's process reveals its death.
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "middleware_adapters/iceoryx2/shim.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/spin_pause.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 16 * 1024 * 1024;
constexpr uint64_t kQueue = 256; // messages, if they are small

icepath_target target_of(const char *name, const char *summary, icepath_wait wait)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = wait;
	it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
	it.capabilities = ICEPATH_CAN_LOAN;
	it.max_payload_bytes = kLargest;
	it.max_payload_why = "a channel has slots for six such messages in each direction";
	return it;
}

const icepath_target kTargets[] = {
	target_of("iceoryx2/poll", "loaned slots in shared memory, polled", ICEPATH_WAIT_SPIN),
	target_of("iceoryx2/event", "the same, each announced by an event that the receiver's Listener sleeps for",
			  ICEPATH_WAIT_BLOCK),
};

const icepath_target *target(uint32_t n) { return n < std::size(kTargets) ? &kTargets[n] : nullptr; }

struct FreePorts {
	void operator()(Iox2Ports *ports) const { iox2_ports_free(ports); }
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: ChannelEnd(how, what), queue(static_cast<uint64_t>(queue_length(how, kQueue)))
	{}
	const uint64_t queue;
	std::unique_ptr<Iox2Ports, FreePorts> ports;
	DeathWatch death;
	char why[kShimWhyBytes] = "";

	bool sleeps() const { return wait == ICEPATH_WAIT_BLOCK; }
	int failed_in_library() { return sentence.tell(ICEPATH_FAILED, "%s: iceoryx2 failed: %s", target, why); }
};

namespace {

int make_ports(icepath_endpoint &end, const std::string &channel)
{
	const auto gives_up = [](const void *it) { return static_cast<const icepath_endpoint *>(it)->is_cancelled(); };
	const Iox2Wanted wanted{channel.c_str(), end.side,          end.sends, end.receives, end.sleeps(),
							end.queue,       end.payload_bytes, gives_up,  &end};
	end.ports.reset(iox2_ports_make(&wanted, end.why));
	return end.ports ? ICEPATH_OK : end.failed_in_library();
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) { return open_named(end, make_ports); });
}

// Side 1 connects first, and finds side 0's ports.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	int status = end->meet(*peer, 0);
	if (status == ICEPATH_OK && end->side == 1)
		status = make_ports(*end, text_of(*peer));
	if (status != ICEPATH_OK)
		return status;
	return iox2_join(end->ports.get(), end->why) == kShimDone ? ICEPATH_OK : end->failed_in_library();
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	return iox2_lend(end->ports.get(), bytes, slot, end->why) == kShimDone ? ICEPATH_OK : end->failed_in_library();
}

int send_lent(icepath_endpoint *end, void *slot, icepath_send *message)
{
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const ShimStatus sent = iox2_send(end->ports.get(), slot, end->why);
	message->return_ns = icepath_now_ns();
	if (sent == kShimDone)
		return end->death.look(*end, message->return_ns);
	return sent == kShimFailed && !end->is_cancelled() ? end->failed_in_library() : end->end_of_cancelled();
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const ShimStatus taken = iox2_take(end->ports.get(), slot, &message->bytes, end->why);
		message->take_return_ns = icepath_now_ns();
		if (taken == kShimDone)
			return ICEPATH_OK;
		if (taken == kShimFailed)
			return end->failed_in_library();
		if (!end->sleeps())
			pause_spin();
		else if (iox2_wait(end->ports.get(), end->why) == kShimFailed)
			return end->failed_in_library();
		else
			message->wait_return_ns = icepath_now_ns();
	}
}

int give_back(icepath_endpoint *end, const void *slot)
{
	iox2_give_back(end->ports.get(), slot);
	return ICEPATH_OK;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("iceoryx2", target, open_end, connect_end, send_copy<lend, send_lent>,
											recv_copy<take_lent, give_back>);
		table.library_version = "iceoryx2 " ICEORYX2_VERSION;
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
