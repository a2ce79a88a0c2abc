// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of functions that processes run in user mode, found with the rights of whoever asks.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/symbols/process_maps.h"
#include "profiler/symbols/program_functions.h"

namespace icepath::symbols {

// For use by one thread. Reads each file once, and what a process has mapped once between two calls of look_again().
class UserFunctions {
public:
	// "libc.so.6!memcpy"; without a symbol the library and the place in it, "libc.so.6+0x2a3f0", which is its
	// function's begin where the library tells that; "[vdso]" and the like for code of the kernel's; "[no file]" for
	// code made at run time, and "[unknown]" if the process's addresses can't be read. Never an address of the process.
	std::string name(uint32_t process, uint64_t address);
	void look_again() { maps_.clear(); }

private:
	using Identity = std::pair<uint64_t, uint64_t>; // of a file: its device and inode
	const ProgramFunctions &functions_of(const MappedFile &map);

	std::map<uint32_t, std::vector<MappedFile>> maps_; // by process
	std::map<Identity, ProgramFunctions> files_;
};

} // namespace icepath::symbols
