// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of a channel, which side 0 makes and passes to side 1 in its address.
#include <string>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// A name that no earlier channel had: messages of a killed sender may still be on their way.
inline std::string new_channel() { return std::to_string(getpid()) + "-" + std::to_string(icepath_now_ns()); }

inline void give_text(ChannelEnd &end, const std::string &text)
{
	end.given.bytes_used =
		static_cast<uint32_t>(text.copy(reinterpret_cast<char *>(end.given.bytes), sizeof(end.given.bytes)));
}

inline std::string text_of(const icepath_address &peer)
{
	return {reinterpret_cast<const char *>(peer.bytes), std::min<size_t>(peer.bytes_used, sizeof(peer.bytes))};
}

} // namespace icepath::plugin_kit
