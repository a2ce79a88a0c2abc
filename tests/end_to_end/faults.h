// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of faults: how each is caused, what the user is told, and what remains. docs/faults.md shows it.
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

// What becomes of the run that was asked for.
enum class Kept : uint8_t {
	Nothing, // there is no run directory
	Partial, // what was written until then, which `icepath report` reads
	Marked,  // finished, reported, and marked as partial
	Whole,   // finished and reported
	Unasked, // no run was asked for
};

// Where one is tried.
struct Scene {
	Scene();
	Folder folder; // icepath is started in it
	std::filesystem::path temporary; // its TMPDIR
	std::unique_ptr<Running> other; // a run that was there before, if any
	std::unique_ptr<Running> icepath;

	pid_t child(const std::string &name)
		const; // of icepath, the first one that is so called; fails the test where there is none
};

// How it is caused, and what is looked at besides.
struct Staging {
	const char *shell = ""; // what /bin/sh does before it becomes icepath, which is "$@"; it may run "$@" itself
	std::map<std::string, std::string> environment = {};
	void (*before)(Scene &) = nullptr;
	void (*cause)(Scene &) = nullptr; // in the run, once it has come to round 2
	void (*after)(Scene &, const Outcome &) = nullptr; // looks further
};

struct Fault {
	const char *name;
	const char *what; // as the table has it
	std::vector<std::string> arguments; // of icepath
	const char *sees; // a sentence of its output, in which "…" stands for anything; empty: nothing is said of it
	int exit_code;
	Kept kept;
	Staging how = {};
	friend void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }
};

const std::vector<Fault> &faults();

// As docs/faults.md has it.
std::string table_of_faults();

// Until the run tells of round 2; fails the test where it doesn't.
void await_rounds(const Running &running);

} // namespace icepath::end_to_end
