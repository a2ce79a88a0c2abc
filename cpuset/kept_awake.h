// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cpuset/affinity.h"
#include "cpuset/step.h"

namespace icepath::cpuset {

// Between hold() and let_go(), keeps every CPU from idle states that take time to leave, as cyclictest(8) does: a
// halted CPU takes 2 to 70 µs to wake, depending on the hardware and the host, which hides other differences. The
// request (Documentation/power/pm_qos_interface.rst) lasts while its file is open, so it ends with the process, however
// that ends. Opening the file needs root; holding later needs no rights. Executed programs don't inherit it.
class KeptAwake {
public:
	// Finds out what holding does here, by holding for a moment. `root` is put before every path, for tests.
	explicit KeptAwake(const std::string &root = "");
	~KeptAwake();
	KeptAwake(const KeptAwake &) = delete;
	KeptAwake &operator=(const KeptAwake &) = delete;

	const Step &step() const { return step_; }
	bool works() const { return works_; } // false: hold() and let_go() do nothing
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
