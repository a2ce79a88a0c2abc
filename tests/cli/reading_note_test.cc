// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/reading_note.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace icepath::cli {
namespace {

using namespace std::chrono_literals;

TEST(ReadingNote, IsShownWhileARunIsReadAndErasedAtTheEnd)
{
	std::vector<std::string> shown;
	std::promise<void> first;
	{
		const ReadingNote note(
			[&](const std::string &text) {
				shown.push_back(text);
				if (shown.size() == 1)
					first.set_value();
			},
			0ms);
		first.get_future().wait();
	}
	ASSERT_GE(shown.size(), 2u);
	EXPECT_TRUE(shown.front().starts_with("reading the run · ")) << shown.front();
	EXPECT_EQ(shown.back(), "");
}

TEST(ReadingNote, SaysNothingOfARunThatIsReadSooner)
{
	std::vector<std::string> shown;
	{
		const ReadingNote note([&](const std::string &text) { shown.push_back(text); }, 24h);
	}
	EXPECT_TRUE(shown.empty());
}

} // namespace
} // namespace icepath::cli
