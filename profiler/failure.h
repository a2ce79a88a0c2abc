// SPDX-License-Identifier: Apache-2.0
#pragma once
// The exit codes, and the exception for what can't be done.
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace icepath {

enum class ExitCode : int {
	Ok = 0,
	TargetMissed = 1,
	Usage = 2,
	MachineCannot = 3,
	Invalid = 4,
	Internal = 70, // EX_SOFTWARE of sysexits.h
	Interrupted = 130, // as shells say it of SIGINT
};

struct ExitCodeMeaning {
	ExitCode code;
	const char *meaning; // as man pages and docs/options.md say it
};
inline constexpr ExitCodeMeaning kExitCodes[] = {
	{ExitCode::Ok, "done"},
	{ExitCode::TargetMissed, "an injected delay wasn't found in its layer, or a figure isn't what a gate expects"},
	{ExitCode::Usage,
	 "bad input: arguments, plans, run directories, gates; nothing was changed. After a run: a gate expects "
	 "something of a figure that is missing; what was measured is kept"},
	{ExitCode::MachineCannot, "the kernel, the privileges or the hardware don't allow it, or the output can't be "
							  "written; what was measured is kept"},
	{ExitCode::Invalid,
	 "measured, but invalid or inconclusive (--strict); nothing could be measured; the run doesn't decide what a gate "
	 "expects, or isn't whole; or it doesn't answer what icepath explain or compare is asked"},
	{ExitCode::Internal, "a defect of icepath"},
	{ExitCode::Interrupted, "interrupted by SIGINT, SIGTERM or SIGHUP; the partial result is kept and marked"},
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

// Any exception as one: memory or threads ran out, or icepath has a defect.
inline Failure failure_of(const std::exception &error)
{
	if (const auto *failure = dynamic_cast<const Failure *>(&error))
		return *failure;
	const auto *system = dynamic_cast<const std::system_error *>(&error);
	const bool no_thread = system && system->code() == std::errc::resource_unavailable_try_again;
	if (no_thread || dynamic_cast<const std::bad_alloc *>(&error) ||
		(system && system->code() == std::errc::not_enough_memory))
		return {ExitCode::MachineCannot,
				std::string(no_thread ? "no thread can be started" : "memory ran out") +
					": raise the limits (ulimit -v, ulimit -u, those of the control group), or measure fewer cells"};
	return {ExitCode::Internal, std::string("internal error: ") + error.what()};
}

} // namespace icepath
