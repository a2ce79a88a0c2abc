// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who called the code that a process runs in user mode, and which functions were inlined there.
//
// Libraries are mostly built without frame pointers, so callers are found by the unwinding tables of their files
// (.eh_frame), from a copy of a thread's registers and stack. Code without a table, as what is made at run time, is
// taken to have a frame pointer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace icepath::symbols {

// As they were when the thread was stopped.
struct UserState {
	static constexpr size_t kRegisters = 17, kStackPointer = 7; // of x86-64, by their numbers in DWARF
	std::array<uint64_t, kRegisters> registers{};
	std::span<const std::byte> stack; // from the stack pointer on
};

struct UserFrames {
	std::vector<uint64_t> addresses; // from the innermost one on: where it runs, then within each call
	bool is_whole = false; // up to a frame that says it has no caller
};

// For use by one thread. Needs the right to trace the processes, while they live.
class UserStacks {
public:
	UserStacks();
	~UserStacks();
	UserStacks(UserStacks &&other) noexcept;
	UserStacks &operator=(UserStacks &&other) noexcept;

	// At most kMostFrames, all in memory that can be executed, but perhaps the first. Empty if the process is gone, or
	// if this isn't x86-64.
	static constexpr size_t kMostFrames = 100;
	UserFrames frames(uint32_t process, const UserState &state);

	// Names of the functions that the compiler put in at the address, each into the one before, demangled. None if the
	// file has no debugging information itself, or if kMostInlined places were looked up before.
	static constexpr size_t kMostInlined = 16384;
	std::vector<std::string> inlined(uint32_t process, uint64_t address);

	// What a process has mapped is read once between two calls. Until then its files are open that callers were found
	// by.
	void look_again();

private:
	class Process;
	using Place = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>; // of a file: its device and inode; the offset
	Process &process_of(uint32_t process);

	std::map<uint32_t, std::unique_ptr<Process>> processes_;
	std::map<Place, std::vector<std::string>> inlined_; // all that were looked up
};

} // namespace icepath::symbols
