// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/program_functions.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace icepath::symbols {
namespace {

constexpr size_t kMostSymbols = 4'000'000;

template <typename T> std::optional<T> read_at(std::span<const std::byte> file, uint64_t offset)
{
	if (offset > file.size() || file.size() - offset < sizeof(T))
		return std::nullopt;
	T value;
	std::memcpy(&value, file.data() + offset, sizeof(T));
	return value;
}

std::span<const std::byte> part_of(std::span<const std::byte> file, uint64_t offset, uint64_t bytes)
{
	if (offset > file.size() || file.size() - offset < bytes)
		return {};
	return file.subspan(offset, bytes);
}

std::string text_at(std::span<const std::byte> texts, uint64_t offset)
{
	if (offset >= texts.size())
		return {};
	const auto *begin = reinterpret_cast<const char *>(texts.data() + offset);
	return {begin, strnlen(begin, texts.size() - offset)};
}

bool is_of_this_machine(const Elf64_Ehdr &head)
{
	constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
	return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
		   head.e_ident[EI_DATA] == kByteOrder;
}

} // namespace

std::string demangled(const std::string &name)
{
	int status = 0;
	const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
														   &std::free);
	return status == 0 && text ? std::string(text.get()) : name;
}

ProgramFunctions::ProgramFunctions(std::span<const std::byte> file)
{
	const auto head = read_at<Elf64_Ehdr>(file, 0);
	if (!head || !is_of_this_machine(*head))
		return;
	add_segments(file);
	add_symbols(file);
}

void ProgramFunctions::add_segments(std::span<const std::byte> file)
{
	const auto head = *read_at<Elf64_Ehdr>(file, 0);
	for (size_t i = 0; i < head.e_phnum; i++) {
		const auto segment = read_at<Elf64_Phdr>(file, head.e_phoff + i * sizeof(Elf64_Phdr));
		if (!segment)
			return;
		if (segment->p_type == PT_LOAD)
			segments_.push_back({segment->p_offset, segment->p_filesz, segment->p_vaddr});
		else if (segment->p_type == PT_GNU_EH_FRAME)
			add_begins(file, segment->p_offset, segment->p_filesz, segment->p_vaddr);
	}
}

// A table of 4-byte distances from the header, sorted by the first of each pair: what linkers make (LSB 4.1, 10.6.2).
void ProgramFunctions::add_begins(std::span<const std::byte> file, uint64_t offset, uint64_t bytes, uint64_t address)
{
	constexpr unsigned char kVersion = 1, kSigned4 = 0x0b, kUnsigned4 = 0x03, kOfTheTable = 0x30;
	struct Head {
		unsigned char version, frame, count, table;
		uint32_t frame_at, entries;
	};
	const std::span<const std::byte> part = part_of(file, offset, bytes);
	const auto head = read_at<Head>(part, 0);
	if (!head || head->version != kVersion || (head->frame & 0x0f) != kSigned4 || head->count != kUnsigned4 ||
		head->table != (kOfTheTable | kSigned4))
		return;
	for (uint64_t i = 0; i < head->entries && i < kMostSymbols; i++) {
		const auto distance = read_at<int32_t>(part, sizeof(Head) + i * 2 * sizeof(int32_t));
		if (!distance)
			break;
		begins_.push_back(address + static_cast<uint64_t>(int64_t{*distance}));
	}
	std::ranges::sort(begins_);
}

void ProgramFunctions::add_symbols(std::span<const std::byte> file)
{
	const auto head = *read_at<Elf64_Ehdr>(file, 0);
	for (size_t i = 0; i < head.e_shnum; i++) {
		const auto section = read_at<Elf64_Shdr>(file, head.e_shoff + i * sizeof(Elf64_Shdr));
		if (!section)
			break;
		if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)
			continue;
		const auto names = read_at<Elf64_Shdr>(file, head.e_shoff + uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
		if (!names || section->sh_link >= head.e_shnum)
			continue;
		const std::span<const std::byte> texts = part_of(file, names->sh_offset, names->sh_size);
		const std::span<const std::byte> symbols = part_of(file, section->sh_offset, section->sh_size);
		for (size_t at = 0; functions_.size() < kMostSymbols; at += sizeof(Elf64_Sym)) {
			const auto symbol = read_at<Elf64_Sym>(symbols, at);
			if (!symbol)
				break;
			const unsigned type = ELF64_ST_TYPE(symbol->st_info);
			if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0 ||
				symbol->st_value > UINT64_MAX - symbol->st_size)
				continue;
			functions_.push_back(
				{symbol->st_value, symbol->st_value + symbol->st_size, text_at(texts, symbol->st_name)});
		}
	}
	std::ranges::stable_sort(functions_, {}, &Function::begin);
	const auto repeated = std::ranges::unique(functions_, {}, &Function::begin);
	functions_.erase(repeated.begin(), repeated.end());
}

uint64_t ProgramFunctions::address_of(uint64_t file_offset) const
{
	for (const Segment &segment : segments_)
		if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes)
			return segment.address + (file_offset - segment.offset);
	return file_offset;
}

std::string ProgramFunctions::name(uint64_t file_offset) const
{
	const uint64_t address = address_of(file_offset);
	const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
	if (after == functions_.begin() || address >= std::prev(after)->end)
		return {};
	return demangled(std::prev(after)->name);
}

uint64_t ProgramFunctions::address(uint64_t file_offset) const
{
	const uint64_t address = address_of(file_offset);
	const auto after = std::ranges::upper_bound(begins_, address);
	return after == begins_.begin() ? address : *std::prev(after);
}

} // namespace icepath::symbols
