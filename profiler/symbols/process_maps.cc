// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/process_maps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace icepath::symbols {
namespace {

// Reads a number and the character behind it.
template <typename Number> bool take(std::string_view &line, Number &number, int base, char behind)
{
	const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
	if (error != std::errc() || stop == line.data() + line.size() || *stop != behind)
		return false;
	line.remove_prefix(static_cast<size_t>(stop - line.data()) + 1);
	return true;
}

// "55d0c8a00000-55d0c8a21000 r-xp 00002000 fd:01 1234      /usr/bin/name": the kernel pads the path with spaces.
std::optional<MappedFile> executable_map(std::string_view line)
{
	MappedFile map;
	if (!take(line, map.begin, 16, '-') || !take(line, map.end, 16, ' ') || map.begin >= map.end || line.size() < 5 ||
		line[2] != 'x' || line[4] != ' ')
		return std::nullopt;
	line.remove_prefix(5);
	const std::string with_space = std::string(line) + ' '; // nothing follows the inode of memory without a file
	line = with_space;
	if (!take(line, map.offset, 16, ' ') || !take(line, map.major, 16, ':') || !take(line, map.minor, 16, ' ') ||
		!take(line, map.inode, 10, ' '))
		return std::nullopt;
	line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
	map.path = line.substr(0, line.empty() ? 0 : line.size() - 1);
	return map;
}

} // namespace

std::vector<MappedFile> executable_maps(std::string_view text)
{
	std::vector<MappedFile> maps;
	while (!text.empty()) {
		const size_t end = std::min(text.find('\n'), text.size());
		if (auto map = executable_map(text.substr(0, end)))
			maps.push_back(std::move(*map));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	std::ranges::stable_sort(maps, {}, &MappedFile::begin);
	return maps;
}

std::vector<MappedFile> executable_maps_of(uint32_t process)
{
	std::ifstream file(fmt::format("/proc/{}/maps", process));
	return executable_maps(std::string(std::istreambuf_iterator<char>(file), {}));
}

const MappedFile *map_around(const std::vector<MappedFile> &maps, uint64_t address)
{
	const auto after = std::ranges::upper_bound(maps, address, {}, &MappedFile::begin);
	return after != maps.begin() && address < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

namespace {

// Whether it is the file that is mapped, and not another one that has its name by now. On file systems as btrfs and
// overlayfs stat() tells another device than the kernel's list of what is mapped; so it is mapped once more: this
// compares both entries of that list.
bool is_the_mapped_one(int fd, const MappedFile &map)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	void *memory = mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	const std::vector<MappedFile> own = executable_maps_of(static_cast<uint32_t>(getpid()));
	const MappedFile *again = map_around(own, reinterpret_cast<uintptr_t>(memory));
	const bool is_it = again && again->major == map.major && again->minor == map.minor && again->inode == map.inode;
	munmap(memory, page);
	return is_it;
}

} // namespace

int open_mapped(const MappedFile &map)
{
	constexpr off_t kMostFileBytes = off_t{256} << 20;
	const int fd = open(map.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status{};
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= kMostFileBytes &&
		is_the_mapped_one(fd, map))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

} // namespace icepath::symbols
