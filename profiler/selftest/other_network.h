// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts this single-threaded process into the network namespace of measured processes for a moment.
#include "profiler/channel.h"

namespace icepath::selftest {

class InOtherNetwork {
public:
	// Enters the namespace of `process`, a pidfd or the namespace itself; -1: a new one, which ends with its last
	// holder. Throws Failure(MachineCannot) if it can't be entered, or if this process is already in it: in the
	// machine's own network, more than the measured processes would be disturbed.
	explicit InOtherNetwork(int process);
	~InOtherNetwork(); // returns; if that fails, this process ends
	InOtherNetwork(const InOtherNetwork &) = delete;
	InOtherNetwork &operator=(const InOtherNetwork &) = delete;

private:
	const Fd home_;
};

Fd open_own_network();

} // namespace icepath::selftest
