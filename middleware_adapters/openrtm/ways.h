// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets: interface types of a connector, by endpoints of the ORB.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

inline constexpr uint64_t kLargest = 16 * 1024 * 1024;

enum class Carrier { Tcp, Unix };

struct Way {
	icepath_target target;
	const char *interface_type;
	Carrier carrier;
	bool has_shared_memory() const { return std::string_view(interface_type) == "shared_memory"; }
};

inline const std::vector<Way> &ways()
{
	static const auto made = [](const char *name, const char *interface_type, Carrier carrier, const char *summary) {
		Way way{plugin_kit::relayed_target(name, summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, kLargest,
										   "icepath's own limit: OpenRTM copies a message some fifteen times"),
				interface_type, carrier};
		way.target.capabilities |= ICEPATH_BETWEEN_PROCESSES;
		return way;
	};
	static const std::vector<Way> all = {
		made("openrtm/corba-tcp", "corba_cdr", Carrier::Tcp,
			 "OpenRTM data ports, a CORBA call for each message over TCP (corba_cdr, flush)"),
		made("openrtm/corba-unix", "corba_cdr", Carrier::Unix, "as openrtm/corba-tcp, over a Unix socket"),
		made("openrtm/shared-memory", "shared_memory", Carrier::Tcp,
			 "OpenRTM data ports, the bytes in shared memory, told of by two CORBA calls over TCP"),
	};
	return all;
}

inline const icepath_target *target(uint32_t n) { return n < ways().size() ? &ways()[n].target : nullptr; }

inline const Way &way_of(const icepath_target &what)
{
	return *std::ranges::find(ways(), std::string_view(what.name),
							  [](const Way &way) { return std::string_view(way.target.name); });
}

} // namespace icepath::plugin_kit
