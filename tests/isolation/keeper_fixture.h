// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests whose keepers change this machine: it is as before after each of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "profiler/isolation/journalled_changes.h"
#include "tests/isolation/raw_keeper.h"

namespace icepath::isolation {

class KeeperTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (!last_cpu())
			GTEST_SKIP() << "there is no CPU for the rest of the machine";
		cpu = *last_cpu();
		put_back_leftovers(tree);
		before = knobs_of_this_machine();
	}
	// Whatever a test does.
	void TearDown() override
	{
		if (geteuid() == 0 && last_cpu()) {
			EXPECT_EQ(knobs_after(before), before);
			EXPECT_EQ(put_back_leftovers(tree), std::vector<std::string>());
		}
	}

	const Tree tree{""};
	uint32_t cpu = 0;
	std::map<std::string, std::string> before;
};

} // namespace icepath::isolation
