// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which file is at which of a process's addresses.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace icepath::symbols {

// A line of /proc/PID/maps.
struct MappedFile {
	uint64_t begin = 0, end = 0; // addresses
	uint64_t offset = 0; // in the file, of `begin`
	uint32_t major = 0, minor = 0; // of its device
	uint64_t inode = 0; // 0: no file
	std::string path; // as the kernel writes it, perhaps "[vdso]" or with " (deleted)"; empty: memory of its own
};

// The executable ones, by begin, of a text of /proc/PID/maps. Lines that can't be read are left out.
std::vector<MappedFile> executable_maps(std::string_view text);
std::vector<MappedFile> executable_maps_of(uint32_t process); // none if they can't be read

// Where the address is; nullptr: nowhere.
const MappedFile *map_around(const std::vector<MappedFile> &maps, uint64_t address);

// A descriptor for reading the file that is mapped; -1: its name is another one's by now, it can't be read, or it is
// larger than any program.
int open_mapped(const MappedFile &map);

} // namespace icepath::symbols
