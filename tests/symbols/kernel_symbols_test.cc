// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/kernel_symbols.h"

#include <gtest/gtest.h>

namespace icepath::symbols {
namespace {

std::string name_at(const KernelSymbols &symbols, uint64_t address)
{
	const auto number = symbols.find(address);
	return number ? std::string(symbols.name(*number)) : "-";
}

TEST(KernelSymbols, AFunctionLastsUntilTheNextSymbol)
{
	const KernelSymbols symbols("ffffffff81000200 t second\n"
								"ffffffff81000000 T first\n"
								"ffffffff81000300 D data\n"
								"ffffffffc0000000 t of_module\t[module]\n");
	EXPECT_EQ(name_at(symbols, 0xffffffff80ffffff), "-");
	EXPECT_EQ(name_at(symbols, 0xffffffff81000000), "first");
	EXPECT_EQ(name_at(symbols, 0xffffffff810001ff), "first");
	EXPECT_EQ(name_at(symbols, 0xffffffff81000200), "second");
	EXPECT_EQ(name_at(symbols, 0xffffffff81000300), "-") << "data is no function";
	EXPECT_EQ(name_at(symbols, 0xffffffffc000ffff), "of_module");
	EXPECT_EQ(name_at(symbols, 0xffffffffc0010000), "-") << "nothing is known to be there";
}

TEST(KernelSymbols, OfSeveralNamesAFunctionHasTheOneWithFewestUnderscores)
{
	const KernelSymbols symbols("ffffffff81000000 t __se_sys_getpid\n"
								"ffffffff81000000 T sys_getpid\n"
								"ffffffff81000000 T __x64_sys_getpid\n"
								"ffffffff81000100 D begin_of_something\n"
								"ffffffff81000100 t __function\n");
	EXPECT_EQ(symbols.size(), 2u);
	EXPECT_EQ(name_at(symbols, 0xffffffff81000050), "sys_getpid");
	EXPECT_EQ(name_at(symbols, 0xffffffff81000150), "__function");
}

TEST(KernelSymbols, AddressesThatTheKernelHidesAreNone)
{
	EXPECT_TRUE(KernelSymbols("0000000000000000 T first\n0000000000000000 t second\n").empty());
	EXPECT_TRUE(KernelSymbols("").empty());
}

TEST(KernelSymbols, LinesThatCannotBeReadAreLeftOut)
{
	const KernelSymbols symbols("\n\n \nxyz T name\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 TT name\n"
								"fffffffffffffffff T name\n10 T last");
	EXPECT_EQ(symbols.size(), 1u);
	EXPECT_EQ(name_at(symbols, 0x10), "last");
}

} // namespace
} // namespace icepath::symbols
