// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's or library's functions, from its file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace icepath::symbols {

std::string demangled(const std::string &name); // of a function, as in a file

// Of a file of this machine's kind (ELF, 64 bits, its byte order), read in whole. What can't be read is left out.
class ProgramFunctions {
public:
	ProgramFunctions() = default;
	explicit ProgramFunctions(std::span<const std::byte> file);

	// The function at that offset in the file, demangled, from the file's symbols; "" if no symbol's size covers it.
	std::string name(uint64_t file_offset) const;
	// Where the code at that offset is as an address of the file: of its function's begin, if the unwinding table
	// (.eh_frame_hdr) has that, else of the offset itself.
	uint64_t address(uint64_t file_offset) const;

private:
	struct Segment {
		uint64_t offset = 0, bytes = 0, address = 0;
	};
	struct Function {
		uint64_t begin = 0, end = 0;
		std::string name; // as in the file
	};
	uint64_t address_of(uint64_t file_offset) const;
	void add_segments(std::span<const std::byte> file);
	void add_symbols(std::span<const std::byte> file);
	void add_begins(std::span<const std::byte> file, uint64_t offset, uint64_t bytes, uint64_t address);

	std::vector<Segment> segments_; // that are loaded
	std::vector<Function> functions_; // by begin, which differ
	std::vector<uint64_t> begins_; // of functions, named or not, in order
};

} // namespace icepath::symbols
