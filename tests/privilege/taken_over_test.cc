// SPDX-License-Identifier: Apache-2.0
// Each cell of the table in docs/privilege.md, tried from inside the real process.
#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/privilege/root_space.h"
#include "tests/privilege/inside.h"
#include "tests/privilege/raw_helper.h"
#include "tests/privilege/taken_over.h"

namespace icepath::privilege {
namespace {

class TakenOver : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (const std::string why_not = why_not_inside(); !why_not.empty())
			GTEST_SKIP() << why_not;
	}
};

Identity nobody()
{
	Identity user;
	user.uid = user.gid = 65534;
	user.groups = {65534};
	user.name = "nobody";
	user.was_root = true;
	return user;
}

TEST_F(TakenOver, HelperThatHasLoaded)
{
	RawHelper helper(nobody());
	const auto loaded = helper.ask(load_of(0));
	ASSERT_TRUE(loaded && loaded->exit_code == 0);
	expect_as_the_page_says("helper, measuring", helper.pid());
}

TEST_F(TakenOver, HelperThatSamples)
{
	RawHelper helper(nobody());
	const auto loaded = helper.ask(load_with_samples(0));
	ASSERT_TRUE(loaded && loaded->exit_code == 0);
	expect_as_the_page_says("helper, measuring", helper.pid());
}

TEST_F(TakenOver, HelperThatWatchesARunningProgram)
{
	const Child program;
	RawHelper helper(nobody());
	const auto taken = helper.ask(request_of(HelperRequestKind::Target), {program.pidfd()});
	ASSERT_TRUE(taken && taken->exit_code == 0);
	const auto loaded = helper.ask(load_of(0));
	ASSERT_TRUE(loaded && loaded->exit_code == 0) << sentence(*loaded);
	expect_as_the_page_says("helper, measuring", helper.pid());
}

TEST_F(TakenOver, SpaceThatHasMadeNamespaces)
{
	RootSpace space(nobody(), "/bin/sh", [] {});
	space.make({});
	expect_as_the_page_says("space, in use", space.pid());
}

TEST_F(TakenOver, SpaceBeforeItsRequest)
{
	const RootSpace space(nobody(), "/bin/sh", [] {});
	expect_as_the_page_says("space, before", space.pid());
}

TEST_F(TakenOver, HelperBeforeItHasLoaded)
{
	RawHelper helper(nobody());
	expect_as_the_page_says("helper, before", helper.pid());
}

} // namespace
} // namespace icepath::privilege
