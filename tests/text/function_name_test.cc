// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/columns.h"
#include "profiler/text/function_name.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

TEST(ShortenedFunction, LosesWhatSaysLeastFirst)
{
	const std::string full =
		"lib.so!alpha::beta::Writer<int, x::y>::send(alpha::beta::Change*, std::vector<int> const&) const";
	const auto in = [&](size_t room) { return shortened_function(full, room); };
	EXPECT_EQ(in(full.size()), full);
	EXPECT_EQ(in(full.size() - 1), "lib.so!alpha::beta::Writer<int, x::y>::send");
	EXPECT_EQ(in(42), "lib.so!…::beta::Writer<int, x::y>::send");
	EXPECT_EQ(in(38), "lib.so!…::Writer<int, x::y>::send");
	EXPECT_EQ(in(32), "lib.so!…::beta::Writer<…>::send");
	EXPECT_EQ(in(30), "lib.so!…::Writer<…>::send");
	EXPECT_EQ(in(24), "lib.so!…::send");
	EXPECT_EQ(in(13), "…::send");
	EXPECT_EQ(in(1), "…::send") << "the function's own name is left";
}

TEST(ShortenedFunction, KeepsThatItIsInlined)
{
	EXPECT_EQ(shortened_function("app!one::two::push(std::string const&) (inlined)", 30),
			  "app!one::two::push (inlined)");
}

struct LongName {
	const char *full, *shorter;
};

class ShortenedNames : public testing::TestWithParam<LongName> {};

TEST_P(ShortenedNames, HaveNoParameters)
{
	const std::string full = GetParam().full;
	EXPECT_EQ(shortened_function(full, columns(full) - 1), GetParam().shorter);
}

INSTANTIATE_TEST_SUITE_P(
	Each, ShortenedNames,
	testing::Values(LongName{"void a::send<int>(int)", "a::send<int>"},
					LongName{"a::(anonymous namespace)::send(int)", "a::(anonymous namespace)::send"},
					LongName{"bool (anonymous namespace)::send(int)", "(anonymous namespace)::send"},
					LongName{"a::B::operator()(int) const", "a::B::operator()"},
					LongName{"a::operator<<(x&, int)", "a::operator<<"},
					LongName{"a::B::operator bool() const", "a::B::operator bool"},
					LongName{"a::B::operator->() const", "a::B::operator->"},
					LongName{"a::my_operator(int)", "a::my_operator"},
					LongName{"a::f(int)::{lambda(long)#1}::operator()(long) const",
							 "a::f::{lambda(long)#1}::operator()"},
					LongName{"a::f [clone .cold]", "a::f"}, LongName{"a::f(int) [clone .part.0]", "a::f"},
					LongName{"std::map<int, std::less<int> >::at(int const&)", "std::map<int, std::less<int> >::at"}),
	[](const auto &each) { return std::to_string(each.index); });

TEST(ShortenedFunction, LeavesNamesWithoutParametersAsTheyAre)
{
	for (const char *name : {"__pv_queued_spin_lock_slowpath", "[probes]", "lib.so.1+0x171020", "[vdso]", "a::b", "!",
							 "", "::", "(", ")", "<", "operator", "a!b!c"})
		EXPECT_EQ(shortened_function(name, 1000), name);
	EXPECT_EQ(shortened_function("__pv_queued_spin_lock_slowpath", 5), "__pv_queued_spin_lock_slowpath");
	EXPECT_EQ(shortened_function("[not sampled]", 5), "[not sampled]");
	EXPECT_EQ(shortened_function("finish_task_switch.isra.0", 5), "finish_task_switch.isra.0");
}

// Names come from other programs' files.
TEST(ShortenedFunction, TakesAnyText)
{
	const std::string alphabet = "a:<>()[]{}! ,operator…~";
	uint32_t random = 1;
	for (int i = 0; i < 20'000; ++i) {
		std::string name;
		for (int length = 0; length < i % 40; ++length)
			name += alphabet[(random = random * 1664525 + 1013904223) / 65536 % alphabet.size()];
		const std::string shorter = shortened_function(name, i % 7);
		EXPECT_LE(columns(shorter), columns(name) + 8) << name;
	}
}

} // namespace
} // namespace icepath::text
