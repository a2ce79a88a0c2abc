// SPDX-License-Identifier: Apache-2.0
#pragma once
// The exit codes, and the exception for what can't be done.
#include <stdexcept>
#include <string>

namespace icepath {

enum class ExitCode : int {
	Ok = 0,
	TargetMissed = 1,  // a target missed, or a regression proven
	Usage = 2,         // bad input: arguments, plans, run directories
	MachineCannot = 3, // the kernel, the privileges or the hardware don't allow it
	Invalid = 4,       // measured, but invalid or inconclusive (with --strict); or nothing was measured
	Internal = 70,     // a defect of icepath
	Interrupted = 130, // SIGINT, SIGTERM or SIGHUP: the partial result is kept and marked
};

// Thrown when a part can't do what it was asked. what() is one sentence for the user: what failed, where, why, and what
// to do about it. Caught in main(), or where a cell can be given up while the others continue.
class Failure : public std::runtime_error {
public:
	Failure(ExitCode code, const std::string &sentence) : std::runtime_error(sentence), code_(code) {}
	ExitCode code() const noexcept { return code_; }

private:
	ExitCode code_;
};

} // namespace icepath
