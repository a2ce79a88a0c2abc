// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/unknown_target.h"

#include <gtest/gtest.h>

#include "tests/plan/wishes_of_tests.h"

namespace icepath::plan {
namespace {

Wishes wish_for(const std::string &target)
{
	Wishes wishes;
	wishes.targets = {target};
	wishes.patterns = {model::Pattern::PingPong};
	return wishes;
}

TEST(UnknownTarget, CountsChanges)
{
	EXPECT_EQ(changes_between("", ""), 0u);
	EXPECT_EQ(changes_between("tcp", ""), 3u);
	EXPECT_EQ(changes_between("", "tcp"), 3u);
	EXPECT_EQ(changes_between("tpc", "tcp"), 2u);
	EXPECT_EQ(changes_between("upd", "udp"), 2u);
	EXPECT_EQ(changes_between("uds-datagram", "uds-dgram"), 3u);
}

// Of eighty names a reader wants the one that he meant.
TEST(UnknownTarget, NamesThoseThatMayBeMeant)
{
	const std::vector<Target> targets = {target("uds-stream"),    target("uds-dgram"), target("shm-ring"),
										 target("shm-ring/huge"), target("tcp"),       target("nng/ipc")};
	const auto of = [&](const std::string &wanted) { return unknown_target(wanted, targets, {}); };
	EXPECT_EQ(of("uds-datagram"), "unknown target \"uds-datagram\": is it uds-dgram? icepath list has all names");
	EXPECT_EQ(of("ring"), "unknown target \"ring\": is it shm-ring, shm-ring/huge? icepath list has all names");
	EXPECT_EQ(of("tcp6"), "unknown target \"tcp6\": is it tcp? icepath list has all names");
	EXPECT_EQ(of("pigeon"), "unknown target \"pigeon\"; icepath list has all names");
	EXPECT_EQ(of(""), "unknown target \"\"; icepath list has all names");
	expect_refused(wish_for("pigeon"), targets, ExitCode::Usage, {of("pigeon")});
	EXPECT_EQ(unknown_target("pigeon", {target("a"), target("b")}, {}), "unknown target \"pigeon\": there are a, b");
}

TEST(UnknownTarget, SaysWhichPluginCouldntBeLoaded)
{
	const std::string why = "icepath-mine.so cannot be loaded: libmine.so: cannot open shared object file";
	const std::vector<Target> targets = {target("mine-old"), target("tcp"), target("udp"), target("pipe"),
										 target("null")};
	EXPECT_EQ(unknown_target("mine", targets, {why}), "unknown target \"mine\": " + why);
	EXPECT_EQ(unknown_target("mine/fast", targets, {why}), "unknown target \"mine/fast\": " + why);
	EXPECT_EQ(unknown_target("other", targets, {why}),
			  "unknown target \"other\": " + why + "; icepath list has all names")
		<< "any file may have any target";
	EXPECT_EQ(unknown_target("tcp4", targets, {why}),
			  "unknown target \"tcp4\": " + why + "; is it tcp? icepath list has all names");
	Wishes wishes = wish_for("mine");
	wishes.not_loaded = {why};
	expect_refused(wishes, targets, ExitCode::Usage, {"unknown target \"mine\": " + why});
}

} // namespace
} // namespace icepath::plan
