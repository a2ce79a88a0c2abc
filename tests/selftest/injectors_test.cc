// SPDX-License-Identifier: Apache-2.0
// What injectors leave on the machine: nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/selftest/injections.h"
#include "profiler/selftest/injector_process.h"
#include "tests/end_to_end/command.h"

namespace icepath::selftest {
namespace {

TEST(InjectorProcess, TakesAwayWhatItPutIn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const auto before = end_to_end::traces_on_this_machine();
	{
		InjectorProcess process(privilege::invoking_user());
		for (const Injection &injection : injections())
			if (injection.from_outside)
				process.try_it(injection.name, {0, 1});
		EXPECT_NE(process.try_it("rm -rf", {0, 1}), "") << "it does what is listed and nothing else";
	}
	EXPECT_EQ(end_to_end::traces_on_this_machine(), before);
}

} // namespace
} // namespace icepath::selftest
