// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>

namespace icepath::cpuset {

// Keeps every CPU from idle states that take time to leave, as long as it lives, as cyclictest(8) does: a halted CPU takes
// 2 to 70 µs to wake, by what the hardware or the host does meanwhile, which hides whatever else is compared. The request
// (Documentation/power/pm_qos_interface.rst) lasts as long as the file is open, so it goes with the process. Needs root.
class KeptAwake {
public:
	KeptAwake();
	// False: not root, or the kernel has no cpuidle, and then CPUs halt by the idle loop's default.
	bool works() const { return works_; }

private:
	std::ofstream file_;
	bool works_;
};

} // namespace icepath::cpuset
