// SPDX-License-Identifier: Apache-2.0
#pragma once
// Middleware as a user runs it, as root, with nothing left behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <string>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

// Whether a text has a sentence, however its lines are broken.
inline bool mentions(const std::string &text, const std::string &sentence)
{
	return std::regex_replace(text, std::regex("\\s+"), " ").find(sentence) != std::string::npos;
}

class Middleware : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		before = traces_before();
	}
	void expect_nothing_left() const { EXPECT_EQ(traces_after(before), before); }

	Folder folder;
	Traces before;
};

} // namespace icepath::end_to_end
