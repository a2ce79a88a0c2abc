// SPDX-License-Identifier: Apache-2.0
// The ring of shm-ring, whose slots are lent: the sender writes its message where the receiver reads it, so nothing is
// copied. One slot may be lent, and one message taken, at a time.
#include "transports/ring_channel.h"
#include "transports/spsc_ring.h"

using namespace icepath::transports;

struct icepath_endpoint : RingEnd<SpscRing> {
	using RingEnd::RingEnd;
	void *lent = nullptr;
	const void *taken = nullptr;
};

namespace {

const RingVariant *variant(uint32_t n)
{
	static const RingVariant loan = [] {
		RingVariant it("shm-loan", "the ring of shm-ring, written and read in place: nothing is copied",
					   BellMake::Futex);
		it.target.capabilities |= ICEPATH_CAN_LOAN;
		return it;
	}();
	return n == 0 ? &loan : nullptr;
}

int loan(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	if (bytes > end->payload_bytes)
		return end->sentence.tell(ICEPATH_UNSUPPORTED, "shm-loan: a slot has %llu bytes, %llu were asked for",
								  static_cast<unsigned long long>(end->payload_bytes),
								  static_cast<unsigned long long>(bytes));
	int status = ICEPATH_OK;
	uint32_t attempts = 0;
	*slot = end->lent = end->await_room(attempts, status);
	return status;
}

int send_loaned(icepath_endpoint *end, void *slot, icepath_send *message)
{
	if (!slot || slot != end->lent)
		return end->sentence.tell(ICEPATH_FAILED, "shm-loan: a slot was sent that isn't lent");
	end->lent = nullptr;
	message->attempts = 1;
	end->publish(*message);
	return ICEPATH_OK;
}

int take(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	if (end->taken)
		return end->sentence.tell(ICEPATH_FAILED, "shm-loan: the message before wasn't given back");
	int status = ICEPATH_OK;
	*slot = end->taken = end->await_message(*message, status);
	return status;
}

int give_back(icepath_endpoint *end, const void *slot)
{
	if (!slot || slot != end->taken)
		return end->sentence.tell(ICEPATH_FAILED, "shm-loan: a message was given back that isn't taken");
	end->taken = nullptr;
	end->release();
	return ICEPATH_OK;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = ring_table<icepath_endpoint, variant>("shm-loan");
		table.loan = loan;
		table.send_loaned = send_loaned;
		table.take = take;
		table.give_back = give_back;
		return table;
	}();
	return &plugin;
}
