// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an endpoint of the selftest does to itself around its messages, or has another process do to it.
#include <cstdint>
#include <memory>

#include "plugin_kit/channel_end.h"

namespace icepath::selftest {

enum class Own : uint8_t {
	Work, // the sender computes before each message
	Asleep, // the receiver sleeps before it asks for each message
	Held, // the sender's socket is corked, and uncorked some time after each message
	FullQueue, // something else fills the pipe before each message, and the receiver takes that out some time later
	Lock, // before each message the sender waits for a lock that another process has
	Fault, // before each message the sender touches a page that another process has to bring
};

class OwnDelay {
public:
	OwnDelay() = default;
	virtual ~OwnDelay() = default;
	OwnDelay(const OwnDelay &) = delete;
	OwnDelay &operator=(const OwnDelay &) = delete;
	virtual bool before_send() { return true; } // all of them: false with errno set
	virtual bool after_send() { return true; }
	virtual bool before_ask() { return true; }
};

// Of one end, which has messages go by `fd`. Null with errno set where it can't be had here.
std::unique_ptr<OwnDelay> own_delay(Own own, uint64_t ns, const plugin_kit::ChannelEnd &end, int fd);

std::unique_ptr<OwnDelay> lock_of_another(uint64_t ns);
std::unique_ptr<OwnDelay> page_of_another(uint64_t ns);

} // namespace icepath::selftest
