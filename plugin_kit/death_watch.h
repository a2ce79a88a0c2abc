// SPDX-License-Identifier: Apache-2.0
#pragma once
// For mechanisms whose sends succeed though the receiver is dead.
#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// Looks at intervals, after the message's stamps, because a look costs a system call.
class DeathWatch {
public:
	// ICEPATH_OK, or ICEPATH_CLOSED with its sentence.
	int look(ChannelEnd &end, uint64_t now_ns)
	{
		if (now_ns - looked_ns_ < kEveryNs)
			return ICEPATH_OK;
		looked_ns_ = now_ns;
		if (!end.a_peer_has_ended())
			return ICEPATH_OK;
		return end.sentence.tell(ICEPATH_CLOSED, "the process at the other end of %s has ended", end.target);
	}

private:
	static constexpr uint64_t kEveryNs = 100'000'000;
	uint64_t looked_ns_ = 0;
};

} // namespace icepath::plugin_kit
