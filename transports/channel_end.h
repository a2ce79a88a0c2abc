// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every endpoint of a kernel transport has, and the exchange of addresses that they share.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "icepath/plugin.h"
#include "transports/peer_process.h"
#include "transports/sentence.h"

namespace icepath::transports {

struct ChannelEnd {
	const char *target = "";
	uint32_t side = 0;
	bool sends = false, receives = false;
	icepath_wait wait = ICEPATH_WAIT_BLOCK;
	uint64_t payload_bytes = 0;
	std::atomic<bool> cancelled{false};
	int peer_pidfd = -1;
	Sentence sentence;

	explicit ChannelEnd(const icepath_open &how)
		: side(how.side), sends(how.sends), receives(how.receives), wait(how.wait), payload_bytes(how.payload_bytes) {}
	ChannelEnd(const ChannelEnd &) = delete;
	ChannelEnd &operator=(const ChannelEnd &) = delete;

	bool is_cancelled() const { return cancelled.load(std::memory_order_relaxed); }

	// The status of a call that was cancelled: where the mechanism doesn't tell of the peer's death, this is when it is
	// seen.
	int end_of_cancelled() {
		if (has_ended(peer_pidfd))
			return sentence.tell(ICEPATH_CLOSED, "the process at the other end of %s has ended", target);
		return sentence.tell(ICEPATH_CANCELLED, "a call on %s was cancelled", target);
	}

	int failed(const char *what) {
		return sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", target, what, std::strerror(errno));
	}
};

// The last fd of each address is the pidfd of who made it.
inline int add_own_pidfd(icepath_address &address, Sentence &sentence) {
	const int pidfd = own_pidfd();
	if (pidfd < 0)
		return sentence.tell(ICEPATH_FAILED, "pidfd_open failed: %s (needs Linux 5.3)", std::strerror(errno));
	address.fds[address.fds_used++] = pidfd;
	return ICEPATH_OK;
}

// connect() of side 0 comes last: by then the peer has its own copies, and keeping ours would hide its death.
inline void close_given(icepath_address &given) {
	for (uint32_t i = 0; i < given.fds_used; i++)
		close(given.fds[i]);
	given.fds_used = 0;
}

// Checks what `open` was asked against what the target offers.
inline int check_open(const icepath_open &how, const icepath_target &target, Sentence &sentence) {
	if (how.size != sizeof(icepath_open))
		return sentence.tell(ICEPATH_UNSUPPORTED, "%s: icepath_open has %u bytes, expected %zu", target.name, how.size,
							 sizeof(icepath_open));
	if (target.why_not)
		return sentence.tell(ICEPATH_UNSUPPORTED, "%s does not work here: %s", target.name, target.why_not);
	if ((target.waits & how.wait) == 0)
		return sentence.tell(ICEPATH_UNSUPPORTED, "%s does not support the wait that was asked for", target.name);
	if (how.side > 1)
		return sentence.tell(ICEPATH_UNSUPPORTED, "%s has sides 0 and 1, not %u", target.name, how.side);
	if (how.payload_bytes == 0 || how.payload_bytes > target.max_payload_bytes)
		return sentence.tell(ICEPATH_UNSUPPORTED, "%s carries 1 to %llu bytes, not %llu: %s", target.name,
							 static_cast<unsigned long long>(target.max_payload_bytes),
							 static_cast<unsigned long long>(how.payload_bytes), target.max_payload_why);
	return ICEPATH_OK;
}

} // namespace icepath::transports
