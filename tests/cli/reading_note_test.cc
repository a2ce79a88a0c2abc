// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/reading_note.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <future>
#include <system_error>
#include <thread>
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
	EXPECT_TRUE(shown.front().starts_with("working on the run · ")) << shown.front();
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

TEST(ReadingNote, IsDoneWithoutWhereNoThreadCanBeMade)
{
	pthread_attr_t attributes;
	ASSERT_EQ(pthread_getattr_default_np(&attributes), 0);
	size_t before = 0;
	pthread_attr_getstacksize(&attributes, &before);
	pthread_attr_setstacksize(&attributes, size_t{1} << 55); // more than a process has
	ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
	EXPECT_THROW(std::thread([] {}).join(), std::system_error);
	std::vector<std::string> shown;
	{
		const ReadingNote note([&](const std::string &text) { shown.push_back(text); }, 0ms);
	}
	EXPECT_TRUE(shown.empty());
	pthread_attr_setstacksize(&attributes, before);
	EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
	pthread_attr_destroy(&attributes);
}

} // namespace
} // namespace icepath::cli
