// SPDX-License-Identifier: Apache-2.0
#pragma once
// send() and recv() of a plug-in whose library lends memory: copies into a lent slot, and out of a taken one.
#include <algorithm>
#include <cstring>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

template <auto kLend, auto kSendLent, class Endpoint> int send_copy(Endpoint *end, icepath_send *message)
{
	void *slot = nullptr;
	if (const int status = kLend(end, message->bytes, &slot); status != ICEPATH_OK)
		return status;
	std::memcpy(slot, message->data, message->bytes);
	return kSendLent(end, slot, message);
}

template <auto kTakeLent, auto kGiveBack, class Endpoint> int recv_copy(Endpoint *end, icepath_recv *message)
{
	const void *slot = nullptr;
	if (const int status = end->check_capacity(*message); status != ICEPATH_OK)
		return status;
	if (const int status = kTakeLent(end, &slot, message); status != ICEPATH_OK)
		return status;
	message->bytes = std::min(message->bytes, message->capacity);
	std::memcpy(message->data, slot, message->bytes);
	return kGiveBack(end, slot);
}

} // namespace icepath::plugin_kit
