// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_record.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/rundir/limits.h"

namespace icepath::run {
namespace {

TEST(Notices, AreAsManyAsARunDirectoryTakes)
{
	Notices notices({"the first"});
	for (int i = 0; i < 5000; ++i)
		notices.add("round " + std::to_string(i));
	notices.add("the first");
	ASSERT_EQ(notices.all().size(), rundir::kMaxNotices - 1);
	EXPECT_EQ(notices.all().front(), "the first");
	const size_t shown = notices.all().size() - 1;
	EXPECT_EQ(notices.all().back(), "and " + std::to_string(5001 - shown) + " more notices that didn't fit");
}

} // namespace
} // namespace icepath::run
