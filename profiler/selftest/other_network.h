// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network namespace of measured processes, in which this process, of one thread, is for a moment.
#include "profiler/channel.h"

namespace icepath::selftest {

class InOtherNetwork {
public:
	// Enters that of `process`, a pidfd or the namespace itself; without one (-1) a new one, which goes when nothing holds it any more.
	// Throws Failure(MachineCannot) where that can't be entered, and where it is the one in which this process is already: in the
	// machine's own network more than what is measured would be disturbed.
	explicit InOtherNetwork(int process);
	~InOtherNetwork(); // back; if that can't be, this process ends
	InOtherNetwork(const InOtherNetwork &) = delete;
	InOtherNetwork &operator=(const InOtherNetwork &) = delete;

private:
	const Fd home_;
};

Fd open_own_network();

} // namespace icepath::selftest
