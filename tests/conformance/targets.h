// SPDX-License-Identifier: Apache-2.0
#pragma once
// The suite's input: every target of every plug-in of this build, as its worker describes it.
#include <iosfwd>
#include <string>
#include <vector>

#include "profiler/targets/target.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {

struct TargetUnderTest {
	std::string plugin; // "uds"
	worker::TargetReply told;

	bool is_middleware() const { return told.library_version[0] != 0; }
	bool is_within_process() const { return (told.capabilities & ICEPATH_WITHIN_PROCESS) != 0; }
	// A supported wait, for tests that don't depend on it.
	icepath_wait some_wait() const { return static_cast<icepath_wait>(told.waits & -told.waits); }
};

bool is_lossy(const std::string &target); // ICEPATH_IS_LOSSY
model::Wait wait_of(icepath_wait wait);

// Read once from the plug-ins: from all, or from the one that ICEPATH_CONFORMANCE_PLUGIN names ("uds"); in the folder
// that ICEPATH_CONFORMANCE_FOLDER names, or in this build's.
const std::vector<TargetUnderTest> &all_targets();

struct Case {
	std::string plugin, target;
	worker::TargetReply told;
	icepath_wait wait;
	bool one_way;
	uint64_t payload_bytes;

	PairPlan plan() const;
	uint32_t messages() const; // of a block, after its warm-up
	uint32_t warm_up() const;
	bool goes_in_turns() const; // each message takes hundreds of a scheduler's turns
	double rate_hz() const;
	bool is_lossy() const { return (told.capabilities & ICEPATH_IS_LOSSY) != 0; }
	bool is_within_process() const { return (told.capabilities & ICEPATH_WITHIN_PROCESS) != 0; }
	bool is_by_callback() const { return wait == ICEPATH_WAIT_CALLBACK; }
	bool uses_user_slot() const { return (told.mechanisms & ICEPATH_USES_USER_SLOT) != 0; }
	bool uses_mapped_queue() const { return (told.mechanisms & ICEPATH_USES_MAPPED_QUEUE) != 0; }
	// To a kernel thread that polls: a polling sender needs no call.
	bool hands_over_in_memory() const { return target == "io-uring/sqpoll" && wait == ICEPATH_WAIT_POLL; }
	// Middleware makes its own calls, or none: its adapter stamps what it can see.
	bool is_middleware() const { return told.library_version[0] != 0; }
	std::string test_name() const;
};

// GoogleTest's hook: prints names instead of bytes.
void PrintTo(const Case &each, std::ostream *out);
void PrintTo(const TargetUnderTest &each, std::ostream *out);

// Every target that works here (absent_test.cc has the others) x wait x pattern x possible size.
const std::vector<Case> &all_cases();
// Likewise with impossible sizes.
std::vector<Case> cases_beyond();
// One size each, at most the target's largest: for tests that don't depend on it.
std::vector<Case> cases_of_size(uint64_t bytes);

} // namespace icepath::test
