// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets: kinds of ports, by carriers.
#include <algorithm>
#include <string_view>
#include <vector>

#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

enum class Ports { Plain, Buffered, Rpc };
inline constexpr uint64_t kLargest = 16 * 1024 * 1024, kLargestByDatagrams = 65536;

struct Way {
	icepath_target target;
	const char *carrier;
	Ports ports;
};

inline const std::vector<Way> &ways()
{
	static const auto made = [](const char *name, const char *carrier, Ports ports, const char *summary,
								uint32_t capabilities = 0, uint32_t mechanisms = 0) {
		Way way{plugin_kit::relayed_target(name, summary, ICEPATH_WAIT_BLOCK, kLargest,
										   "icepath's own limit: YARP's 2 GB take longer than a block of messages"),
				carrier, ports};
		way.target.capabilities |= capabilities;
		if (!(capabilities & ICEPATH_IS_RENDEZVOUS)) // else a handler can't send
			way.target.waits |= ICEPATH_WAIT_CALLBACK;
		way.target.mechanisms |= mechanisms;
		if (capabilities & ICEPATH_IS_LOSSY) {
			way.target.max_payload_bytes = kLargestByDatagrams;
			way.target.max_payload_why =
				"icepath's own limit: of a message in many datagrams YARP loses some too often";
		}
		return way;
	};
	static const std::vector<Way> all = {
		made("yarp/tcp", "tcp", Ports::Plain, "YARP ports over TCP, each message acknowledged (tcp, the default)",
			 ICEPATH_IS_RENDEZVOUS),
		made("yarp/fast-tcp", "fast_tcp", Ports::Plain, "YARP ports over TCP without acknowledgements (fast_tcp)"),
		made("yarp/unix-stream", "unix_stream", Ports::Plain, "YARP ports over a Unix socket (unix_stream)"),
		made("yarp/udp", "udp", Ports::Plain, "YARP ports over UDP (udp)", ICEPATH_IS_LOSSY),
		made("yarp/mcast", "mcast", Ports::Plain, "YARP ports over UDP multicast (mcast)", ICEPATH_IS_LOSSY),
		made("yarp/buffered", "tcp", Ports::Buffered, "YARP's BufferedPort over TCP, strict, so that none is dropped"),
		made("yarp/shmem", "shmem", Ports::Buffered, "as yarp/buffered, over shared memory (shmem)", 0,
			 ICEPATH_USES_SHARED_MEMORY),
		made("yarp/rpc", "tcp", Ports::Rpc, "a call from a YARP RpcClient to an RpcServer for each message, over TCP",
			 ICEPATH_IS_RENDEZVOUS),
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
