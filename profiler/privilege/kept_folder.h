// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder that root named, for a process that gives root up, then writes data from a stranger's file.
#include <string>

#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

// Its process stays root, with the single capability to write in another user's folder. It makes new files of requested
// names in that folder, and gives each its name when it is complete; it never sees the contents. If root named a file,
// that is the only name. Else a name has only letters, digits, '.', '-' and '_', doesn't begin with '.', and ends as
// report files do. So a process that was taken over while reading can make and replace that file or such files there,
// and nothing else.
class KeptFolder {
public:
	// Makes the folder if it doesn't exist. `file`: the one that root named; empty: none. Throws Failure(MachineCannot)
	// if no process can be started.
	explicit KeptFolder(const std::string &path, const std::string &file = {});

	// A new file to write, with a name that nobody else can guess. Throws Failure(Usage) with the reason.
	Fd begin(const std::string &name);
	void keep(const std::string &name); // gives it its name, and replaces a file of that name. Throws likewise
	void drop(const std::string &name); // removes it

private:
	Fd ask(unsigned kind, const std::string &name);

	const std::string path_;
	RootProcess process_;
};

} // namespace icepath::privilege
