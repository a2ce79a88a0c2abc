// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine with four CPUs, of which a test may change whatever `--isolate full` changes: files in a folder.
#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cpuset/topology.h"
#include "profiler/isolation/journalled_changes.h"
#include "tests/cpuset/fake_machine.h"
#include "tests/isolation/fake_cgroups.h"

namespace icepath::isolation {

class FakeHost {
public:
	enum class Cgroups : uint8_t { V1, V2 };
	explicit FakeHost(Cgroups cgroups = Cgroups::V1); // V1: in which the run can have no partition

	Tree tree;
	std::optional<FakeCgroups> cgroups; // V2
	Head head() const;
	cpuset::Machine machine() const;
	// Isolates CPUs 2 and 3, all that can be done, and raises two limits; in this process.
	std::vector<cpuset::Step> isolate(Changes &changes) const;
	// In a child, which ends without a word where `dies` says so, or in the middle of a write beyond so many bytes of a
	// file; true: it did.
	bool isolate_and_die(const std::function<bool(const std::string &path, bool after)> &dies,
						 rlim_t longest_file = RLIM_INFINITY);

	// Every file with its bytes, but the journal's.
	std::map<std::string, std::string> files() const;
	std::string read(const std::string &path) const; // bytes
	void write(const std::string &path, const std::string &content); // a newline is added
	std::string journal() const { return read(kJournalPath); }
	void write_journal(const std::string &bytes); // none is added

private:
	cpuset::FakeMachine machine_;
};

} // namespace icepath::isolation
