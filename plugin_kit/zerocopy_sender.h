// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sending with MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst): the kernel refers to the sender's pages. The
// socket's error queue reports when it is done with them, and whether it copied after all, as it always does for a
// receiver on the same machine (skb_orphan_frags_rx).
//
// The caller may write to its buffer once send() returns, so the message is copied into a buffer of the sender's,
// reused only after the completion of every call that referred to it. A program would build the message there; that
// copy precedes the first stamp. Completions are reaped after the last stamp.
#include <memory>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

struct ChannelEnd;

class ZerocopySender {
public:
	ZerocopySender();
	~ZerocopySender();

	// NULL, or why this kernel can't.
	static const char *missing();

	// Once `socket` is connected; it stays the caller's. Returns an icepath_status.
	int set_up(ChannelEnd &end, int socket);
	int send(ChannelEnd &end, icepath_send &message, int flags);
	// Takes pending completions. Also needed when one wakes a readiness wait (EPOLLERR).
	void reap();

private:
	struct Pool;
	std::unique_ptr<Pool> pool_;
};

} // namespace icepath::plugin_kit
