// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of faults: how each is caused, the user's message, and what remains. docs/faults.md shows it.
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

// The fate of the requested run.
enum class Kept : uint8_t {
	Nothing, // no run directory
	Partial, // the data until then, which `icepath report` reads
	Marked,  // finished, reported, and marked as partial
	Whole,   // finished and reported
	Unasked, // no run was asked for
};

// The stage of one fault.
struct Scene {
	Scene();
	Folder folder; // icepath's working folder
	std::filesystem::path temporary; // its TMPDIR
	std::unique_ptr<Running> other; // an earlier run, if any
	std::unique_ptr<Running> icepath;
	std::string setting; // of the machine, before icepath changed it

	pid_t child(const std::string &name) const; // icepath's first child of that name; fails the test if there is none
};

// How the fault is caused, and the further checks.
struct Staging {
	const char *shell = ""; // what /bin/sh does before it becomes icepath, which is "$@"; it may run "$@" itself
	std::map<std::string, std::string> environment = {};
	void (*before)(Scene &) = nullptr;
	void (*cause)(Scene &) = nullptr; // during the run, in round 2
	void (*after)(Scene &, const Outcome &) = nullptr; // further checks
	bool at_a_moment = false; // the cause must come within milliseconds of something: nothing may run beside it
};

struct Fault {
	const char *name;
	const char *what; // the table's words
	std::vector<std::string> arguments; // icepath's
	const char *sees; // a sentence of its output, in which "…" matches anything; empty: not mentioned
	int exit_code;
	Kept kept;
	Staging how = {};
	friend void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }
};

const std::vector<Fault> &faults();

// The table in docs/faults.md.
std::string table_of_faults();

// Waits until the run reports round 2; fails the test otherwise.
void await_rounds(const Running &running);

} // namespace icepath::end_to_end
