// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a selftest endpoint does to itself around its messages, or has another process do to it.
#include <cstdint>
#include <memory>

#include "plugin_kit/channel_end.h"

namespace icepath::selftest {

enum class Own : uint8_t {
	Work, // the sender computes before each message
	Asleep, // the receiver sleeps before it asks for each message
	Held, // the sender's socket is corked, and uncorked some time after each message
	FullQueue, // a filling precedes each message in the pipe, and the receiver takes it out some time later
	Lock, // before each message the sender waits for a lock that another process holds
	Fault, // before each message the sender touches a page that another process must provide
};

class OwnDelay {
public:
	OwnDelay() = default;
	virtual ~OwnDelay() = default;
	OwnDelay(const OwnDelay &) = delete;
	OwnDelay &operator=(const OwnDelay &) = delete;
	virtual bool before_send() { return true; } // these functions: false with errno set
	virtual bool after_send() { return true; }
	virtual bool before_ask() { return true; }
};

// For one end, which sends its messages over `fd`. NULL with errno set if it isn't available here.
std::unique_ptr<OwnDelay> own_delay(Own own, uint64_t ns, const plugin_kit::ChannelEnd &end, int fd);

std::unique_ptr<OwnDelay> lock_of_another(uint64_t ns);
std::unique_ptr<OwnDelay> page_of_another(uint64_t ns);

} // namespace icepath::selftest
