// SPDX-License-Identifier: Apache-2.0
// Where names of sampled functions come from, with any bytes in it: a text of /proc/kallsyms ('k' before it) or of
// /proc/PID/maps ('m'), and a program's file ('p').
#include <cstdlib>
#include <span>
#include <string_view>

#include "profiler/symbols/kernel_symbols.h"
#include "profiler/symbols/process_maps.h"
#include "profiler/symbols/program_functions.h"

namespace {

using namespace icepath::symbols;

void must(bool holds)
{
	if (!holds)
		std::abort();
}

void look_up(const KernelSymbols &symbols)
{
	for (const uint64_t address : {uint64_t{0}, uint64_t{0xffffffff81000010}, UINT64_MAX})
		if (const auto number = symbols.find(address))
			must(*number < symbols.size() && !symbols.name(*number).empty());
}

void look_up(const std::vector<MappedFile> &maps)
{
	for (const MappedFile &map : maps) {
		must(map.begin < map.end);
		must(map_around(maps, map.begin) != nullptr);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
	if (data[0] == 'k')
		look_up(KernelSymbols(text));
	else if (data[0] == 'm')
		look_up(executable_maps(text));
	else if (data[0] == 'p') {
		const ProgramFunctions functions(std::as_bytes(std::span(text.data(), text.size())));
		for (const uint64_t offset : {uint64_t{0}, uint64_t{0x1010}, uint64_t{0x1090}, UINT64_MAX}) {
			(void)functions.name(offset);
			(void)functions.address(offset);
		}
	}
	return 0;
}
