// SPDX-License-Identifier: Apache-2.0
#pragma once
// The publisher and the subscriber of one end of a channel, by one of the library's interfaces.
#include <cstdint>
#include <memory>
#include <string>

namespace icepath::plugin_kit {

struct WantedPorts {
	std::string channel;
	uint32_t side;
	bool sends, receives;
	bool in_wait_set; // or else they are asked again and again
	uint64_t queue; // of the subscriber, in chunks
	bool discards; // a full one drops its oldest; or else the publisher waits
	uint64_t payload_bytes;

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

	virtual bool are_joined() = 0; // with those of the peer, by iox-roudi
	virtual bool has_subscriber() = 0;
	virtual void *lend(uint32_t bytes, const char *&why_not) = 0; // null: see `why_not`
	virtual void publish(void *chunk) = 0;
	virtual Taking take(const void **chunk, uint64_t &bytes) = 0;
	virtual void await() = 0; // after NothingThere; no longer than `kLongestWaitMs`
	virtual void release(const void *chunk) = 0;
	virtual void cancel() = 0; // by another thread

	static constexpr int kLongestWaitMs = 200; // it is looked so often whether all is over
};

// By a Listener: take() sleeps until its thread brings something.
std::unique_ptr<Ports> listener_ports(const WantedPorts &wanted);
// By the C binding.
std::unique_ptr<Ports> c_ports(const WantedPorts &wanted);

} // namespace icepath::plugin_kit
