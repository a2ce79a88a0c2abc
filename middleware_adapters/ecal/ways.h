// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets: the transport layers of eCAL, and how a publisher uses its memory file.
#include <ecal/config/publisher.h>
#include <ecal/config/subscriber.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "plugin_kit/library.h"
#include "plugin_kit/loopback_address.h"
#include "plugin_kit/send_window.h"

namespace icepath::plugin_kit {

using Layer = eCAL::TransportLayer::eType;
inline constexpr uint64_t kLargest = 16 * 1024 * 1024;
inline constexpr uint64_t kDatagram = 65000; // a message's bytes, at least
inline constexpr unsigned kAcknowledgedWithinMs = 1000;

struct Way {
	icepath_target target;
	Layer layer;
	bool zero_copy, acknowledged;

	bool may_lose() const { return target.capabilities & ICEPATH_IS_LOSSY; }
	// Messages in flight. Memory files and TCP keep only the last one.
	uint64_t longest_window() const { return acknowledged ? plugin_kit::WindowedEnd::kLongestWindow : 1; }
};

inline const std::vector<Way> &ways()
{
	static const auto made = [](const char *name, const char *summary, Layer layer, bool zero_copy = false,
								bool acknowledged = false) {
		// With an acknowledgement Send() waits for the end of a callback: two that send to each other would wait for
		// its timeout each time.
		const uint32_t waits = acknowledged ? ICEPATH_WAIT_BLOCK : ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK;
		Way way{plugin_kit::relayed_target(name, summary, waits, kLargest,
										   "icepath's own limit: eCAL allocates several buffers of a message's size"),
				layer, zero_copy, acknowledged};
		if (layer == Layer::shm)
			way.target.mechanisms |= ICEPATH_USES_SHARED_MEMORY;
		if (layer == Layer::udp_mc) {
			way.target.capabilities |= ICEPATH_IS_LOSSY;
			// All datagrams of a message must find room before one is read; in a ping-pong, so must those that the
			// receiver itself has just sent. Each is charged twice its size, and the limit is doubled too (SO_RCVBUF).
			const uint64_t datagrams = std::max<uint64_t>(2, receive_buffer() / 65536);
			way.target.max_payload_bytes = std::min(kLargest, datagrams * kDatagram / 2);
			way.target.max_payload_why =
				"of what /proc/sys/net/core/rmem_max lets the receive buffer hold, half is the peer's";
		}
		return way;
	};
	static const std::vector<Way> all = {
		made("ecal/shm", "eCAL by a memory file, copied out of it before the callback (the default)", Layer::shm),
		made("ecal/shm-zero-copy", "eCAL by a memory file that the callback looks into (zero_copy_mode)", Layer::shm,
			 true),
		made("ecal/shm-ack", "as ecal/shm, each message acknowledged after its callback (acknowledge_timeout_ms)",
			 Layer::shm, false, true),
		made("ecal/udp", "eCAL by UDP, broadcast on the loopback device", Layer::udp_mc),
		made("ecal/tcp", "eCAL by TCP on a loopback address", Layer::tcp),
	};
	return all;
}

inline const icepath_target *target(uint32_t n) { return n < ways().size() ? &ways()[n].target : nullptr; }

inline const Way &way_of(const icepath_target &what)
{
	return *std::ranges::find(ways(), std::string_view(what.name),
							  [](const Way &way) { return std::string_view(way.target.name); });
}

// Its memory file has room for a payload from the start: for a larger one it makes another file, and messages sent soon
// afterwards may be lost.
inline eCAL::Publisher::Configuration publisher_of(const Way &way, uint64_t payload_bytes)
{
	eCAL::Publisher::Configuration how;
	how.layer.shm.enable = way.layer == Layer::shm;
	how.layer.udp.enable = way.layer == Layer::udp_mc;
	how.layer.tcp.enable = way.layer == Layer::tcp;
	how.layer.shm.zero_copy_mode = way.zero_copy;
	how.layer.shm.acknowledge_timeout_ms = way.acknowledged ? kAcknowledgedWithinMs : 0;
	how.layer.shm.memfile_min_size_bytes =
		std::max<unsigned>(how.layer.shm.memfile_min_size_bytes, static_cast<unsigned>(payload_bytes) + 1024);
	return how;
}

inline eCAL::Subscriber::Configuration subscriber_of(const Way &way)
{
	eCAL::Subscriber::Configuration how;
	how.layer.shm.enable = way.layer == Layer::shm;
	how.layer.udp.enable = way.layer == Layer::udp_mc;
	how.layer.tcp.enable = way.layer == Layer::tcp;
	return how;
}

} // namespace icepath::plugin_kit
