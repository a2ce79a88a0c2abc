// SPDX-License-Identifier: Apache-2.0
// The least that can be done to hand a message over: one flag and one copy, in the same cache line where the message is
// small. Not for comparisons: its latency is the floor under the stamps of every other target, and its overhead is
// icepath's.
#include "transports/kernel_limit.h"
#include "transports/plugin_table.h"
#include "transports/shared_mapping.h"

using namespace icepath::transports;

namespace {

struct Slot {
	std::atomic<uint64_t> full; // 0: the sender's, 1: the receiver's
	// The message follows.
	void *data() { return this + 1; }
};

constexpr uint64_t kLargest = 64 * kMiB;

} // namespace

struct icepath_endpoint : SharedMemoryEnd {
	using SharedMemoryEnd::SharedMemoryEnd;
	Slot *in = nullptr, *out = nullptr;

	uint64_t slot_bytes() const { return (sizeof(Slot) + payload_bytes + 127) / 128 * 128; }
	uint64_t memory_bytes() const { return 2 * slot_bytes(); }
	void lay_out(uint8_t *first)
	{
		out = reinterpret_cast<Slot *>(first + (side == 0 ? 0 : slot_bytes()));
		in = reinterpret_cast<Slot *>(first + (side == 0 ? slot_bytes() : 0));
	}
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target null = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "null";
		it.summary = "one slot in shared memory and a spinning load: the floor of the stamps, to test icepath itself";
		it.waits = ICEPATH_WAIT_SPIN;
		it.mechanisms = ICEPATH_USES_USER_SLOT;
		it.capabilities = ICEPATH_CAN_PINGPONG | ICEPATH_NOT_IPC;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit";
		return it;
	}();
	return n == 0 ? &null : nullptr;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->return_ns = 0;
	message->attempts = 1;
	while (end->out->full.load(std::memory_order_acquire)) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
	}
	std::memcpy(end->out->data(), message->data, end->payload_bytes);
	message->publish_ns = icepath_now_ns();
	end->out->full.store(1, std::memory_order_release);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	message->ask_ns = icepath_now_ns();
	message->wait_return_ns = message->take_call_ns = message->take_return_ns = 0;
	message->attempts = 1;
	while (!end->in->full.load(std::memory_order_acquire)) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
	}
	message->observe_ns = icepath_now_ns();
	message->bytes = end->payload_bytes;
	std::memcpy(message->data, end->in->data(), end->payload_bytes);
	end->in->full.store(0, std::memory_order_release);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, [](icepath_endpoint &end) { return set_up_memory(end); });
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("null", target, open_end, connect_memory<icepath_endpoint>, send_message, recv_message);
	return &plugin;
}
