// SPDX-License-Identifier: Apache-2.0
#pragma once
// How two ends meet if their library discovers peers: they join a channel (open_named()), and each waits in connect()
// until its library has discovered the other.
#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// DDS topic names can't have '-'.
inline std::string topic_of(const std::string &channel, uint32_t from)
{
	std::string name = "icepath_" + channel + (from == 0 ? "_forth" : "_back");
	std::ranges::replace(name, '-', '_');
	return name;
}

// The DDS domain of a channel, by the id of side 0's process. Participants of one domain discover each other and send
// datagrams during each other's messages, so cells mostly have domains of their own: two share one if their ids differ
// by a multiple of kDomains. A domain's ports begin at 7400 + 250 times its number (RTPS 2.3, 9.6.1.1); those of
// domains from 102 on are ephemeral ports on Linux.
inline uint32_t dds_domain_of(const std::string &channel)
{
	constexpr uint32_t kDomains = 101;
	return static_cast<uint32_t>(std::strtoul(channel.c_str(), nullptr, 10) % kDomains);
}

// The rest of connect(), after meet(). Side 1 connects first and finds side 0's half. `is_matched()` asks the library.
template <class Endpoint, class Join, class IsMatched>
int connect_discovered(Endpoint &end, const icepath_address &peer, Join join, IsMatched is_matched)
{
	constexpr uint64_t kLongestNs = 10'000'000'000;
	if (end.side == 1)
		if (const int status = join(end, plugin_kit::text_of(peer)); status != ICEPATH_OK)
			return status;
	const uint64_t give_up_ns = icepath_now_ns() + kLongestNs;
	while (!is_matched()) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		if (icepath_now_ns() > give_up_ns)
			return end.sentence.tell(ICEPATH_FAILED, "%s: the two ends haven't discovered each other in 10 s",
									 end.target);
		usleep(1000);
	}
	return ICEPATH_OK;
}

} // namespace icepath::plugin_kit
