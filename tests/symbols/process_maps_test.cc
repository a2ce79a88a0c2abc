// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/process_maps.h"

#include <gtest/gtest.h>

namespace icepath::symbols {
namespace {

TEST(ProcessMaps, HasTheExecutableOnes)
{
	const auto maps = executable_maps(
		"55d0c8a00000-55d0c8a02000 r--p 00000000 fd:01 1234                       /usr/bin/a program\n"
		"55d0c8a02000-55d0c8a05000 r-xp 00002000 fd:01 1234                       /usr/bin/a program\n"
		"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
		"7ffd1a5f9000-7ffd1a5fb000 r-xp 00000000 00:00 0                          [vdso]\n"
		"7f1000000000-7f1000001000 r-xp 00000000 fd:01 77                         /lib/l.so (deleted)\n");
	ASSERT_EQ(maps.size(), 4u);
	EXPECT_EQ(maps[0].begin, 0x55d0c8a02000u);
	EXPECT_EQ(maps[0].end, 0x55d0c8a05000u);
	EXPECT_EQ(maps[0].offset, 0x2000u);
	EXPECT_EQ(maps[0].major, 0xfdu);
	EXPECT_EQ(maps[0].minor, 1u);
	EXPECT_EQ(maps[0].inode, 1234u);
	EXPECT_EQ(maps[0].path, "/usr/bin/a program");
	EXPECT_EQ(maps[1].path, "");
	EXPECT_EQ(maps[2].path, "/lib/l.so (deleted)");
	EXPECT_EQ(maps[3].path, "[vdso]");
	EXPECT_EQ(map_around(maps, 0x55d0c8a01fff), nullptr);
	EXPECT_EQ(map_around(maps, 0x55d0c8a02000), &maps[0]);
	EXPECT_EQ(map_around(maps, 0x55d0c8a05000), nullptr);
}

TEST(ProcessMaps, LinesThatCannotBeReadAreLeftOut)
{
	for (const char *text : {"", "\n", "x", "10-20", "10-20 r-xp", "20-10 r-xp 0 0:0 0 /a", "10-20 r-xp zz 0:0 0 /a",
							 "10-20 r-xp 0 0:0", "10-20 r-x", "10-20 r-xp 0 0-0 0 /a"})
		EXPECT_TRUE(executable_maps(text).empty()) << text;
	EXPECT_EQ(executable_maps("10-20 r-xp 0 0:0 0").size(), 1u);
}

} // namespace
} // namespace icepath::symbols
