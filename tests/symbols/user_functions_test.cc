// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/user_functions.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace icepath::symbols {

// With a name for the linker, and long enough to have a middle.
int sampled_of_this_test(int number);
int sampled_of_this_test(int number)
{
	for (int i = 0; i < number; i++)
		number += i % 3 ? i : -number;
	return number;
}

namespace {

uint64_t address_of(const void *code) { return reinterpret_cast<uint64_t>(code); }
uint32_t own_process() { return static_cast<uint32_t>(getpid()); }

TEST(UserFunctions, NamesFunctionsOfThisProgramAndOfItsLibraries)
{
	UserFunctions functions;
	const auto own = address_of(reinterpret_cast<const void *>(&sampled_of_this_test));
	EXPECT_EQ(functions.name(own_process(), own + 2), "symbols_test!icepath::symbols::sampled_of_this_test(int)");
	EXPECT_GT(sampled_of_this_test(2), -100);
	const std::string of_libc = functions.name(own_process(), address_of(dlsym(RTLD_DEFAULT, "getpid")));
	EXPECT_TRUE(of_libc.starts_with("libc.so.6!")) << of_libc;
}

TEST(UserFunctions, NamesThePlaceOfWhatHasNoFile)
{
	UserFunctions functions;
	const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	ASSERT_NE(vdso, 0u);
	EXPECT_EQ(functions.name(own_process(), vdso + 16), "[vdso]");
	EXPECT_EQ(functions.name(own_process(), 1), "[unknown]");
	EXPECT_EQ(functions.name(UINT32_MAX, 1), "[unknown]") << "there is no such process";
}

TEST(UserFunctions, LooksAgainAtWhatAProcessHasMapped)
{
	UserFunctions functions;
	EXPECT_EQ(functions.name(own_process(), 1), "[unknown]"); // reads the maps
	const long page = sysconf(_SC_PAGESIZE);
	void *code = mmap(nullptr, static_cast<size_t>(page), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(code, MAP_FAILED);
	EXPECT_EQ(functions.name(own_process(), address_of(code)), "[unknown]");
	functions.look_again();
	EXPECT_EQ(functions.name(own_process(), address_of(code)), "[no file]");
	munmap(code, static_cast<size_t>(page));
}

} // namespace
} // namespace icepath::symbols
