// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/timer_functions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace icepath::capture {
namespace {

uint64_t address_of(const TimerFunctions &functions, std::string_view name)
{
	for (size_t i = 0; i < kTimerFunctions.size(); ++i)
		if (kTimerFunctions[i].name == name)
			return functions[i].address;
	return UINT64_MAX;
}

TEST(TimerFunctions, AreFoundByName)
{
	const TimerFunctions found = timer_functions("ffffffff81000010 t tick_nohz_handler\n"
												 "ffffffff81000020 t hrtimer_wakeup_other\n"
												 "ffffffff81000028 d hrtimer_wakeup\n"
												 "ffffffff81000030 t hrtimer_wakeup\n"
												 "ffffffff81000040 T tcp_pace_kick");
	EXPECT_EQ(found[0].address, 0xffffffff81000010u);
	EXPECT_EQ(found[0].timer, ICEPATH_TIMER_TICK);
	EXPECT_EQ(address_of(found, "hrtimer_wakeup"), 0xffffffff81000030u);
	EXPECT_EQ(address_of(found, "tcp_pace_kick"), 0xffffffff81000040u) << "a last line without an end";
	EXPECT_EQ(address_of(found, "posix_timer_fn"), 0u);
}

TEST(TimerFunctions, OfOneNameAreTheKernelsAndNotAModules)
{
	const TimerFunctions found = timer_functions("ffffffff81000010 t process_timeout\n"
												 "ffffffffc0000010 t process_timeout\t[other]\n"
												 "ffffffffc0000020 t it_real_fn\t[other]\n");
	EXPECT_EQ(address_of(found, "process_timeout"), 0xffffffff81000010u);
	EXPECT_EQ(address_of(found, "it_real_fn"), 0xffffffffc0000020u);
}

TEST(TimerFunctions, HaveTheTicksOlderName)
{
	EXPECT_EQ(timer_functions("ffffffff81000010 t tick_sched_timer\n")[0].address, 0xffffffff81000010u);
}

TEST(TimerFunctions, AreUnknownWhereAddressesAreHiddenOrTheTextIsNone)
{
	for (const char *text : {"", "\n", "x", "0000000000000000 t tick_nohz_handler\n", "ffffffff81000010 t",
							 "ffffffff8100zz10 t tick_nohz_handler\n", " t tick_nohz_handler\n"})
		EXPECT_EQ(timer_functions(text)[0].address, 0u) << text;
}

TEST(TimerFunctions, OfThisKernelHaveTheTick)
{
	std::ifstream file("/proc/kallsyms");
	const std::string text(std::istreambuf_iterator<char>(file), {});
	if (text.find("tick") == std::string::npos)
		GTEST_SKIP() << "no symbols can be read here";
	EXPECT_NE(timer_functions(text)[0].address, 0u);
}

} // namespace
} // namespace icepath::capture
