// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cpuset/affinity.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

// Keeps every CPU from idle states that take time to leave, while it holds them, as cyclictest(8) does: a halted CPU takes
// 2 to 70 µs to wake, by what the hardware or the host does meanwhile, which hides whatever else is compared. The request
// (Documentation/power/pm_qos_interface.rst) lasts no longer than its file is open, so it goes with the process, however that
// one ends. Opening the file takes root; holding, later, takes no rights. No program that is started inherits it.
class KeptAwake {
public:
	// Finds out what holding does here, by holding for a moment; then CPUs idle as the machine has it. `root` is put before
	// every path, so that tests can bring files of their own.
	explicit KeptAwake(const std::string &root = "");
	~KeptAwake();
	KeptAwake(const KeptAwake &) = delete;
	KeptAwake &operator=(const KeptAwake &) = delete;

	const Step &step() const { return step_; }
	bool works() const { return works_; } // false: hold() and let_go() do nothing, and CPUs idle as the machine has it
	Problem hold();
	Problem let_go();

private:
	Problem ask_for(int32_t most_us);
	void try_it(const std::string &root);

	const std::string path_;
	int file_ = -1;
	bool works_ = false;
	Step step_;
};

} // namespace icepath::cpuset
