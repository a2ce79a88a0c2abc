// SPDX-License-Identifier: Apache-2.0
#include "tests/symbols/small_program.h"

#include <elf.h>

#include <bit>
#include <cstring>

namespace icepath::symbols {
namespace {

template <typename T> void put(std::string &file, uint64_t offset, const T &value)
{
	std::memcpy(file.data() + offset, &value, sizeof(value));
}

Elf64_Sym symbol_of(uint32_t name, unsigned char type, uint64_t address, uint64_t bytes)
{
	Elf64_Sym symbol{};
	symbol.st_name = name;
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
	symbol.st_shndx = 1;
	symbol.st_value = address;
	symbol.st_size = bytes;
	return symbol;
}

} // namespace

std::string small_program()
{
	constexpr uint64_t kSections = 0x200, kNames = 0x300, kSymbols = 0x400, kTable = 0x500, kBytes = 0x2000;
	std::string file(kBytes, '\0');
	Elf64_Ehdr head{};
	std::memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
	head.e_phoff = sizeof(head);
	head.e_phnum = 2;
	head.e_shoff = kSections;
	head.e_shnum = 2;
	put(file, 0, head);

	Elf64_Phdr code{}, unwinding{};
	code.p_type = PT_LOAD;
	code.p_offset = kProgramOffset;
	code.p_vaddr = kProgramAddress;
	code.p_filesz = kBytes - kProgramOffset;
	unwinding.p_type = PT_GNU_EH_FRAME;
	unwinding.p_offset = kTable;
	unwinding.p_vaddr = kProgramAddress + 0x1000;
	unwinding.p_filesz = 12 + 2 * 8;
	put(file, sizeof(head), code);
	put(file, sizeof(head) + sizeof(code), unwinding);

	Elf64_Shdr symbols{}, names{};
	symbols.sh_type = SHT_SYMTAB;
	symbols.sh_offset = kSymbols;
	symbols.sh_size = 3 * sizeof(Elf64_Sym);
	symbols.sh_link = 1;
	names.sh_type = SHT_STRTAB;
	names.sh_offset = kNames;
	names.sh_size = 0x40;
	put(file, kSections, symbols);
	put(file, kSections + sizeof(symbols), names);
	std::memcpy(file.data() + kNames + 1, "first\0_Z6secondi\0data", 22);
	put(file, kSymbols, symbol_of(7, STT_FUNC, kProgramAddress + 0x40, 0x10));
	put(file, kSymbols + sizeof(Elf64_Sym), symbol_of(1, STT_FUNC, kProgramAddress, 0x20));
	put(file, kSymbols + 2 * sizeof(Elf64_Sym), symbol_of(17, STT_OBJECT, kProgramAddress + 0x80, 0x10));

	const unsigned char how[] = {1, 0x1b, 0x03, 0x3b};
	put(file, kTable, how);
	put(file, kTable + 8, uint32_t{2});
	put(file, kTable + 12, int32_t{-0x1000});
	put(file, kTable + 20, int32_t{-0x1000 + 0x80});
	return file;
}

} // namespace icepath::symbols
