// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/loaded_files.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "profiler/channel.h"
#include "profiler/run/worker_process.h"
#include "profiler/rundir/limits.h"
#include "profiler/symbols/process_maps.h"

namespace icepath::run {
namespace {

// Linkers put program headers and the note into the first page.
constexpr size_t kBegin = 16384;
constexpr size_t kLongestId = 64;

template <typename Struct> std::optional<Struct> read_at(std::span<const std::byte> bytes, uint64_t at)
{
	if (at > bytes.size() || bytes.size() - at < sizeof(Struct))
		return std::nullopt;
	Struct value;
	std::memcpy(&value, bytes.data() + at, sizeof(value));
	return value;
}

uint64_t padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

std::string id_in_notes(std::span<const std::byte> notes)
{
	for (uint64_t at = 0; const auto note = read_at<Elf64_Nhdr>(notes, at);) {
		const uint64_t name = at + sizeof(Elf64_Nhdr), id = name + padded(note->n_namesz);
		at = id + padded(note->n_descsz);
		if (at > notes.size())
			break;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof(ELF_NOTE_GNU) ||
			std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0 || note->n_descsz > kLongestId)
			continue;
		std::string hex;
		for (const std::byte one : notes.subspan(id, note->n_descsz))
			hex += fmt::format("{:02x}", std::to_integer<unsigned>(one));
		return hex;
	}
	return "";
}

std::string build_id_of_file(const symbols::MappedFile &map)
{
	const Fd file(symbols::open_mapped(map));
	std::array<std::byte, kBegin> begin{};
	const ssize_t got = file ? pread(file.get(), begin.data(), begin.size(), 0) : -1;
	return got > 0 ? build_id_of(std::span(begin).first(static_cast<size_t>(got))) : "";
}

} // namespace

std::string build_id_of(std::span<const std::byte> begin)
{
	const auto head = read_at<Elf64_Ehdr>(begin, 0);
	if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
		return "";
	for (uint64_t i = 0; i < head->e_phnum; ++i) {
		const auto segment = read_at<Elf64_Phdr>(begin, head->e_phoff + i * sizeof(Elf64_Phdr));
		if (!segment || segment->p_type != PT_NOTE || segment->p_offset > begin.size() ||
			begin.size() - segment->p_offset < segment->p_filesz)
			continue;
		if (std::string id = id_in_notes(begin.subspan(segment->p_offset, segment->p_filesz)); !id.empty())
			return id;
	}
	return "";
}

std::vector<model::LoadedFile> loaded_files(pid_t process, const std::string &target, const std::string &plugin,
											const std::string &version)
{
	std::vector<model::LoadedFile> files;
	for (const symbols::MappedFile &map : symbols::executable_maps_of(static_cast<uint32_t>(process)))
		if (map.path.starts_with('/') && map.path != worker_program() &&
			std::ranges::find(files, map.path, &model::LoadedFile::path) == files.end())
			files.push_back({target, map.path, map.path == plugin ? version : "", build_id_of_file(map)});
	return files;
}

} // namespace icepath::run
