// SPDX-License-Identifier: Apache-2.0
#pragma once
// The publisher and the subscriber of one end of a channel, through one of the library's interfaces.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace icepath::plugin_kit {

class Ports;

struct WantedPorts {
	std::string channel;
	uint32_t side;
	bool sends, receives;
	bool in_wait_set; // otherwise they are polled
	uint64_t queue; // of the subscriber, in chunks
	bool discards; // a full queue drops its oldest chunk; otherwise the publisher waits
	uint64_t payload_bytes;
	std::function<void(Ports &)> on_data; // takes what is there, in a Listener's thread; empty: no callback

	static constexpr const char *kService = "icepath";
	const char *event(uint32_t from) const { return from == 0 ? "forth" : "back"; }
};

enum class Taking { Taken, NothingThere, HoldsTooMany };

class Ports {
public:
	virtual ~Ports() = default;
	Ports() = default;
	Ports(const Ports &) = delete;
	Ports &operator=(const Ports &) = delete;

	virtual bool are_joined() = 0; // to the peer's ports, by iox-roudi
	virtual bool has_subscriber() = 0;
	virtual void *lend(uint32_t bytes, const char *&why_not) = 0; // NULL: see `why_not`
	virtual void publish(void *chunk) = 0;
	virtual Taking take(const void **chunk, uint64_t &bytes) = 0;
	virtual void await() = 0; // after NothingThere; at most `kLongestWaitMs`
	virtual void release(const void *chunk) = 0;
	virtual void cancel() = 0; // called by another thread

	static constexpr int kLongestWaitMs = 200; // the interval of checks for cancellation
};

// With a Listener: its thread calls `on_data`, or, without one, take() sleeps until that thread brings something.
std::unique_ptr<Ports> listener_ports(const WantedPorts &wanted);
// With the C binding.
std::unique_ptr<Ports> c_ports(const WantedPorts &wanted);

} // namespace icepath::plugin_kit
