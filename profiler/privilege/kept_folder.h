// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder that root named, for a process that gives root up before it reads a stranger's file and then writes what it read there.
#include <string>

#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

// Its process keeps root, and of root's capabilities the one to write in another's folder. It makes new files in that folder, whose names it is
// asked for, and gives each its name when it is whole; it sees nothing of what is written. A name is of letters, digits, '.', '-' and '_', doesn't
// begin with '.', and ends as files of reports do. So who was taken over while reading can make and replace such files there, and nothing else.
class KeptFolder {
public:
	// Makes the folder where it isn't there. Throws Failure(MachineCannot) where no process can be begun.
	explicit KeptFolder(const std::string &path);

	// A new file that nobody else can know, to be written. Throws Failure(Usage) that says why not.
	Fd begin(const std::string &name);
	void keep(const std::string &name); // gives it its name; what had it is replaced. Throws likewise
	void drop(const std::string &name); // removes it

private:
	Fd ask(unsigned kind, const std::string &name);

	const std::string path_;
	RootProcess process_;
};

} // namespace icepath::privilege
