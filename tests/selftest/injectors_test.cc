// SPDX-License-Identifier: Apache-2.0
// Injectors leave nothing on the machine.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "profiler/selftest/child.h"
#include "profiler/selftest/injections.h"
#include "profiler/selftest/injector_process.h"
#include "tests/end_to_end/command.h"
#include "tests/selftest/raw_injector.h"

namespace icepath::selftest {
namespace {

TEST(InjectorProcess, TakesAwayWhatItPutIn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const auto before = end_to_end::traces_before();
	const auto groups = groups_of_selftests();
	{
		InjectorProcess process(privilege::invoking_user());
		for (const Injection &injection : injections())
			if (injection.from_outside)
				process.try_it(injection.name, {0, 1});
		EXPECT_NE(process.try_it("rm -rf", {0, 1}), "") << "it does what is listed and nothing else";
	}
	EXPECT_EQ(groups_of_selftests(), groups);
	EXPECT_EQ(end_to_end::traces_after(before), before);
}

// What the injecting process holds open, such as the request to stay awake, ends with it, not with its children.
TEST(Child, KeepsNoDescriptor)
{
	const Fd held(memfd_create("icepath-held", MFD_CLOEXEC));
	const auto holds = [](pid_t process) {
		return std::ranges::any_of(
			std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd"), [](const auto &entry) {
				return std::filesystem::read_symlink(entry).string().find("icepath-held") != std::string::npos;
			});
	};
	const Child child("selftest-child", 0, [] { return true; }, [] { pause(); });
	EXPECT_TRUE(holds(getpid()));
	EXPECT_FALSE(holds(child.pid()));
}

} // namespace
} // namespace icepath::selftest
