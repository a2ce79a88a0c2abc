// SPDX-License-Identifier: Apache-2.0
#pragma once
// Somebody else's program, run as a benchmark needs it. It never outlives this process.
#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/run/middleware_space.h"

namespace icepath::bench {

class ChildProgram {
public:
	struct How {
		std::optional<uint32_t> cpu = {}; // pinned there from its first instruction
		int output = -1; // where stdout and stderr go; -1: nowhere
		std::vector<int> keep = {}; // descriptors that it inherits under the same numbers
		int end_signal = SIGINT; // what ends it, as a user would
		bool with_children = false; // what it leaves running when it ends is killed
		const run::MiddlewareSpace *space = nullptr; // where it runs; nullptr: where this process does
	};
	// arguments[0] is looked for in PATH; where it isn't there, the program ends with 127. Throws Failure.
	ChildProgram(std::vector<std::string> arguments, const How &how);
	~ChildProgram(); // ends it and reaps it
	ChildProgram(const ChildProgram &) = delete;
	ChildProgram &operator=(const ChildProgram &) = delete;

	pid_t pid() const { return pid_; } // -1: it was reaped
	// Ends it as its destructor does, so that its last words can be read.
	void end();

	// Its exit code once it has ended by itself (128 and more: by a signal), nothing where it hasn't within the time.
	std::optional<int> wait(int timeout_ms);

private:
	std::string name_;
	int end_signal_;
	pid_t pid_ = -1, group_ = -1;
	Fd pidfd_;
};

// Where a program may write without end, and what it wrote so far.
Fd open_output();
std::string text_of(const Fd &output);

struct Ended {
	int code;
	std::string output;
};
// Runs a program to its end, with `how` but for its output. Throws Failure where it isn't installed or takes longer.
Ended run_to_end(const std::vector<std::string> &arguments, ChildProgram::How how, int timeout_ms);

// Ends by SIGKILL: a server's last words are no use here, and it may not listen to anything else.
class Server {
public:
	// With `how` but for its output. Returns once `is_ready` of what it wrote so far. Throws Failure.
	Server(const std::vector<std::string> &arguments, ChildProgram::How how,
		   const std::function<bool(const std::string &output)> &is_ready);

private:
	Fd output_;
	ChildProgram program_;
};

// Of a program that didn't do its work: its name and the last of what it wrote.
Failure failure_of(const std::string &program, const Ended &ended);

} // namespace icepath::bench
