// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/program_functions.h"

#include <gtest/gtest.h>

#include "tests/symbols/small_program.h"

namespace icepath::symbols {
namespace {

ProgramFunctions functions_of(const std::string &file)
{
	return ProgramFunctions(std::as_bytes(std::span(file.data(), file.size())));
}

TEST(ProgramFunctions, NamesWhatASymbolsSizeCovers)
{
	const ProgramFunctions functions = functions_of(small_program());
	EXPECT_EQ(functions.name(kProgramOffset), "first");
	EXPECT_EQ(functions.name(kProgramOffset + 0x1f), "first");
	EXPECT_EQ(functions.name(kProgramOffset + 0x20), "") << "it is over";
	EXPECT_EQ(functions.name(kProgramOffset + 0x40), "second(int)");
	EXPECT_EQ(functions.name(kProgramOffset + 0x80), "") << "an object is no function";
	EXPECT_EQ(functions.name(0), "");
}

TEST(ProgramFunctions, WithoutASymbolTheUnwindingTableKnowsTheBegin)
{
	const ProgramFunctions functions = functions_of(small_program());
	EXPECT_EQ(functions.address(kProgramOffset + 0x9f), kProgramAddress + 0x80);
	EXPECT_EQ(functions.address(kProgramOffset + 0x30), kProgramAddress);
}

// The fuzzer of tests/fuzz/symbols.cc looks for more.
TEST(ProgramFunctions, AFileThatIsCutIsRead)
{
	const std::string whole = small_program();
	for (size_t bytes = 0; bytes <= whole.size(); bytes += 7) {
		const ProgramFunctions functions = functions_of(whole.substr(0, bytes));
		const std::string name = functions.name(kProgramOffset);
		EXPECT_TRUE(name.empty() || name == "first") << name;
	}
}

TEST(ProgramFunctions, AFileOfAnotherKindHasNone)
{
	for (const size_t place : {0u, 4u, 5u}) {
		std::string file = small_program();
		file[place] = '\0';
		EXPECT_EQ(functions_of(file).name(kProgramOffset), "") << place;
	}
}

} // namespace
} // namespace icepath::symbols
