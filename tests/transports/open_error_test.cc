// SPDX-License-Identifier: Apache-2.0
// Two threads of one process open endpoints at the same time: each gets the reason for its own failure.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <string>
#include <thread>

#include "plugin_kit/plugin_table.h"

namespace icepath::plugin_kit {
namespace {

TEST(OpenError, IsOfTheThreadThatOpened)
{
	std::barrier both_failed(2);
	std::array<std::string, 2> told;
	const auto fail = [&](size_t which, const char *name) {
		icepath_target target{};
		target.name = name;
		icepath_open how{}; // with a wrong `size`
		EXPECT_EQ(check_open(how, target), ICEPATH_UNSUPPORTED);
		both_failed.arrive_and_wait();
		told[which] = open_error().text();
	};
	std::thread one(fail, 0, "first"), other(fail, 1, "second");
	one.join();
	other.join();
	EXPECT_TRUE(told[0].starts_with("first: ")) << told[0];
	EXPECT_TRUE(told[1].starts_with("second: ")) << told[1];
}

} // namespace
} // namespace icepath::plugin_kit
