// SPDX-License-Identifier: Apache-2.0
#pragma once
// An end of a channel through a broker. A broker accepts messages however far the receiver lags: it keeps them, drops
// them, or drops the receiver. The window of WindowedEnd prevents that.
#include "plugin_kit/channel_end.h"
#include "plugin_kit/send_window.h"

namespace icepath::plugin_kit {

struct BrokeredEnd : WindowedEnd {
	using WindowedEnd::WindowedEnd;
	std::atomic<bool> broker_gone{false};

	bool is_over() const override { return is_cancelled() || broker_gone.load(std::memory_order_relaxed); }
	int end_of_call() override
	{
		if (broker_gone.load(std::memory_order_relaxed))
			return sentence.tell(ICEPATH_CLOSED, "the connection of %s to its broker is lost", target);
		return end_of_cancelled();
	}
};

// After open_with_memory(). `join(end, channel)` connects an end.
template <class Endpoint, class Join> int connect_brokered(Endpoint &end, const icepath_address &peer, Join join)
{
	if (const int status = connect_memory(&end, &peer); status != ICEPATH_OK)
		return status;
	return end.side == 1 ? join(end, text_of(peer)) : ICEPATH_OK;
}

} // namespace icepath::plugin_kit
