// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/user_functions.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace icepath::symbols {
namespace {

// Of the file that is mapped; none if that can't be read.
std::vector<std::byte> bytes_of(const MappedFile &map)
{
	const int fd = open_mapped(map);
	if (fd < 0)
		return {};
	struct stat status{};
	(void)fstat(fd, &status);
	std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
	size_t done = 0;
	while (done < bytes.size()) {
		const ssize_t some = pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
		if (some <= 0)
			break;
		done += static_cast<size_t>(some);
	}
	bytes.resize(done);
	close(fd);
	return bytes;
}

} // namespace

const ProgramFunctions &UserFunctions::functions_of(const MappedFile &map)
{
	const auto [at, is_new] = files_.try_emplace({makedev(map.major, map.minor), map.inode});
	if (is_new)
		at->second = ProgramFunctions(bytes_of(map));
	return at->second;
}

std::string UserFunctions::name(uint32_t process, uint64_t address)
{
	const auto [maps, is_new] = maps_.try_emplace(process);
	if (is_new)
		maps->second = executable_maps_of(process);
	const MappedFile *map = map_around(maps->second, address);
	if (!map)
		return "[unknown]";
	if (map->path.empty())
		return "[no file]";
	if (map->path.starts_with('[') || map->inode == 0)
		return map->path;
	const ProgramFunctions &functions = functions_of(*map);
	const uint64_t offset = address - map->begin + map->offset;
	const std::string file = map->path.substr(map->path.rfind('/') + 1), name = functions.name(offset);
	return name.empty() ? fmt::format("{}+{:#x}", file, functions.address(offset)) : fmt::format("{}!{}", file, name);
}

} // namespace icepath::symbols
