// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sending with MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst): the kernel refers to the sender's pages and tells by
// the socket's error queue when it is done with them, and whether it has copied them after all, as it always does for a
// receiver on the same machine (skb_orphan_frags_rx).
//
// The caller may write to its buffer once send() is back, so the message is copied into one of the sender's own, which is
// used again only after the completion of every call that it went with. A program would build the message there; that copy
// comes before the first stamp. Completions are reaped after the last one.
#include <memory>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

struct ChannelEnd;

class ZerocopySender {
public:
	ZerocopySender();
	~ZerocopySender();

	// Null, or why this kernel can't.
	static const char *missing();

	// Once `socket` is connected; it stays the caller's. An icepath_status.
	int set_up(ChannelEnd &end, int socket);
	int send(ChannelEnd &end, icepath_send &message, int flags);
	// Takes the completions that are there. Must also be called where a pending one wakes a readiness wait (EPOLLERR).
	void reap();

private:
	struct Pool;
	std::unique_ptr<Pool> pool_;
};

} // namespace icepath::plugin_kit
