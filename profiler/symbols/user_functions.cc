// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/user_functions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

namespace icepath::symbols {
namespace {

constexpr off_t kMostFileBytes = off_t{256} << 20;

std::vector<MappedFile> maps_of(uint32_t process)
{
	std::ifstream file(fmt::format("/proc/{}/maps", process));
	return executable_maps(std::string(std::istreambuf_iterator<char>(file), {}));
}

// Whether it is the file that is mapped, and not another one that has its name by now. On file systems as btrfs and
// overlayfs stat() tells another device than the kernel's list of what is mapped; so it is mapped once more, and what
// that list tells of both is compared.
bool is_the_mapped_one(int fd, const MappedFile &map)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	void *memory = mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	const std::vector<MappedFile> own = maps_of(static_cast<uint32_t>(getpid()));
	const MappedFile *again = map_around(own, reinterpret_cast<uintptr_t>(memory));
	const bool is_it = again && again->major == map.major && again->minor == map.minor && again->inode == map.inode;
	munmap(memory, page);
	return is_it;
}

// The file that is mapped; nothing if its name is another one's by now, or if it can't be read.
std::vector<std::byte> bytes_of(const MappedFile &map)
{
	const int fd = open(map.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return {};
	std::vector<std::byte> bytes;
	struct stat status{};
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= kMostFileBytes &&
		is_the_mapped_one(fd, map)) {
		bytes.resize(static_cast<size_t>(status.st_size));
		size_t done = 0;
		while (done < bytes.size()) {
			const ssize_t some = pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
			if (some <= 0)
				break;
			done += static_cast<size_t>(some);
		}
		bytes.resize(done);
	}
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
		maps->second = maps_of(process);
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
