// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/columns.h"

#include <gtest/gtest.h>

namespace icepath::text {
namespace {

TEST(Columns, CountCharacters)
{
	EXPECT_EQ(columns("a±µ█"), 4u);
	EXPECT_EQ(pad_left("±1", 4), "  ±1");
	EXPECT_EQ(pad_right("±1", 4), "±1  ");
	EXPECT_EQ(pad_left("12345", 3), "12345");
}

TEST(Ascii, SpellsWhatItKnows)
{
	EXPECT_EQ(to_ascii("8.4 µs ±0.1 · a → b – ≥ é"), "8.4 us +/-0.1 - a -> b - >= ?");
	for (const char c : to_ascii("█▒\xff"))
		EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

} // namespace
} // namespace icepath::text
