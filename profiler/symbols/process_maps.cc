// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/process_maps.h"

#include <algorithm>
#include <charconv>
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

const MappedFile *map_around(const std::vector<MappedFile> &maps, uint64_t address)
{
	const auto after = std::ranges::upper_bound(maps, address, {}, &MappedFile::begin);
	return after != maps.begin() && address < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

} // namespace icepath::symbols
