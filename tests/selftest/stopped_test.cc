// SPDX-License-Identifier: Apache-2.0
// If the injecting process hangs, icepath ends it, as root or not, and reports it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "profiler/selftest/injector_process.h"
#include "tests/end_to_end/command.h"
#include "tests/selftest/raw_injector.h"

namespace icepath::selftest {
namespace {

using namespace std::chrono_literals;
using end_to_end::Folder;
using end_to_end::icepath_program;
using end_to_end::Outcome;
using end_to_end::Running;

TEST(StoppedInjector, IsEndedAndNamed)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running running({icepath_program(), "selftest", "-d", "60", "--only", "sender-busy,fifo-hog"}, folder.path(),
					{{"SUDO_UID", "65534"}});
	for (int i = 0; i < 3000 && running.err_so_far().find("round 3") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	const auto injectors = end_to_end::children_named(running.pid(), "icepath-inject");
	ASSERT_EQ(injectors.size(), 1u) << running.err_so_far();
	end_to_end::kill_process(injectors[0], SIGSTOP);
	running.signal(SIGINT);
	const Outcome outcome = running.wait(20s);
	EXPECT_EQ(kill(injectors[0], 0), -1) << "it is still there";
	EXPECT_TRUE(outcome.exit_code == 3 || outcome.exit_code == 130) << outcome.exit_code << outcome.err;
	EXPECT_NE(outcome.err.find("icepath-inject (process " + std::to_string(injectors[0]) + ")"), std::string::npos)
		<< outcome.err;
}

TEST(StoppedInjector, IsEndedByRoot)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	InjectorProcess injector(kSomebody);
	const pid_t pid = injector.pid();
	kill(pid, SIGSTOP);
	EXPECT_EQ(injector.finish(), "");
	EXPECT_EQ(kill(pid, 0), -1) << "it is still there";
}

} // namespace
} // namespace icepath::selftest
