// SPDX-License-Identifier: Apache-2.0
#include "plugin_kit/parts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace icepath::plugin_kit {
namespace {

using Verdict = PartOrder::Verdict;

// The complete messages of `parts` parts each, as a receiver judges the parts that arrive.
std::vector<uint32_t> whole_messages(const std::vector<PartHead> &arrived, uint32_t parts)
{
	std::vector<uint32_t> whole;
	PartOrder order;
	uint32_t have = 0;
	for (const PartHead &head : arrived) {
		const Verdict verdict = order.judge(head);
		have = verdict == Verdict::Next ? have + 1 : verdict == Verdict::First ? 1 : 0;
		if (have == parts) {
			whole.push_back(head.message);
			have = 0;
		}
	}
	return whole;
}

TEST(PartOrder, AMessageWithAllItsPartsIsWhole)
{
	EXPECT_EQ(whole_messages({{7, 0}, {7, 1}, {7, 2}, {8, 0}, {8, 1}, {8, 2}}, 3), (std::vector<uint32_t>{7, 8}));
}

TEST(PartOrder, AMessageThatMissesOneIsLostAndTheNextIsNot)
{
	EXPECT_EQ(whole_messages({{7, 1}, {7, 2}, {8, 0}, {8, 1}, {8, 2}}, 3), (std::vector<uint32_t>{8}));
	EXPECT_EQ(whole_messages({{7, 0}, {7, 2}, {8, 0}, {8, 1}, {8, 2}}, 3), (std::vector<uint32_t>{8}));
	EXPECT_EQ(whole_messages({{7, 0}, {7, 1}, {8, 0}, {8, 1}, {8, 2}}, 3), (std::vector<uint32_t>{8}));
}

TEST(PartOrder, PartsOfDifferentMessagesMakeNoWhole)
{
	EXPECT_EQ(whole_messages({{7, 0}, {7, 1}, {8, 2}, {9, 0}, {8, 1}, {8, 2}}, 3), (std::vector<uint32_t>{}));
}

// Whatever is dropped, exactly the messages without loss are complete.
TEST(PartOrder, OfRandomLossKeepsExactlyTheWholeOnes)
{
	std::mt19937 random(1);
	for (int trial = 0; trial < 2000; trial++) {
		const auto parts = static_cast<uint32_t>(2 + random() % 5);
		std::vector<PartHead> arrived;
		std::vector<uint32_t> expected;
		for (uint32_t message = UINT32_MAX - 5; message != 20; message++) {
			uint32_t kept = 0;
			for (uint32_t part = 0; part < parts; part++)
				if (random() % 8 != 0) {
					arrived.push_back({message, part});
					kept++;
				}
			if (kept == parts)
				expected.push_back(message);
		}
		ASSERT_EQ(whole_messages(arrived, parts), expected) << "trial " << trial;
	}
}

} // namespace
} // namespace icepath::plugin_kit
