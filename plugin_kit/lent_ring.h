// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plug-in of shm-ring's ring whose slots are lent: the sender writes its message where the receiver reads it, so
// nothing is copied. At most one slot is lent, and one message taken, at a time.
#include "plugin_kit/ring_channel.h"
#include "plugin_kit/rings.h"

struct icepath_endpoint : icepath::plugin_kit::RingEnd<icepath::plugin_kit::SpscRing> {
	using RingEnd::RingEnd;
	void *lent = nullptr;
	const void *taken = nullptr;
};

namespace icepath::plugin_kit {

inline int loan(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	int status = end->check_slot(bytes);
	if (status != ICEPATH_OK)
		return status;
	uint32_t attempts = 0;
	*slot = end->lent = end->await_room(attempts, status);
	return status;
}

inline int send_loaned(icepath_endpoint *end, void *slot, icepath_send *message)
{
	if (!slot || slot != end->lent)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the sent slot isn't lent", end->target);
	end->lent = nullptr;
	message->attempts = 1;
	end->publish(*message);
	return ICEPATH_OK;
}

inline int take(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	if (end->taken)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the previous message wasn't given back", end->target);
	int status = ICEPATH_OK;
	*slot = end->taken = end->await_message(*message, status);
	return status;
}

inline int give_back(icepath_endpoint *end, const void *slot)
{
	if (!slot || slot != end->taken)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the returned message isn't taken", end->target);
	end->taken = nullptr;
	end->release();
	return ICEPATH_OK;
}

template <const RingVariant *(*kVariant)(uint32_t)> icepath_plugin lent_ring_table(const char *name)
{
	icepath_plugin table = ring_table<icepath_endpoint, kVariant>(name);
	add_loans(table, loan, send_loaned, take, give_back);
	return table;
}

} // namespace icepath::plugin_kit
