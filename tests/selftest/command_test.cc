// SPDX-License-Identifier: Apache-2.0
// The command as a user calls it. How much of each delay lands where is for a quiet machine to show (results/): here
// the greater part of the quick ones must be found.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end_to_end/command.h"

namespace icepath::selftest {
namespace {

using namespace std::chrono_literals;
using end_to_end::Folder;
using end_to_end::icepath_program;
using end_to_end::Outcome;
using end_to_end::run;

TEST(SelftestCommand, FindsWhatItPutIn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const auto before = end_to_end::traces_before();
	const Outcome outcome = run({icepath_program(), "selftest", "-q", "-d", "30", "--only",
								 "sender-busy,receiver-busy,hog,fifo-hog,relay", "--json", "matrix.json", "-o", "out"},
								folder.path(), 120s);
	ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << outcome.err;
	const auto json = end_to_end::read_json(folder.path() / "matrix.json");
	EXPECT_EQ(json["passed"], outcome.exit_code == 0);
	ASSERT_EQ(json["injections"].size(), 5u);
	for (const auto &row : json["injections"]) {
		SCOPED_TRACE(row.dump());
		EXPECT_GE(row["pairs"].get<int>(), 6);
		EXPECT_GE(row["in_place"]["median"].get<double>(), 0.8);
		EXPECT_GT(row["added_ns"]["ci95"][0].get<double>(), 0);
		EXPECT_NE(outcome.out.find(row["name"].get<std::string>()), std::string::npos);
	}
	for (const int hog : {2, 3})
		EXPECT_GE(json["injections"][hog]["named"].get<double>(), 0.8) << "who took the CPU";
	EXPECT_EQ(json["injections"][3]["name"], "fifo-hog");
	EXPECT_EQ(json["injections"][4]["name"], "relay");
	EXPECT_EQ(json["injections"][4]["contradicted_by_relay"], 0);
	const Outcome report = run({icepath_program(), "report", "out"}, folder.path(), 60s);
	EXPECT_EQ(report.exit_code, 0) << report.err;
	EXPECT_NE(report.out.find("selftest-fifo"), std::string::npos) << "the report names it, too";
	EXPECT_EQ(end_to_end::traces_after(before), before);
}

TEST(SelftestCommand, StretchesWhatItPutsIn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "selftest", "-q", "-d", "20", "--stretch", "4", "--only",
								 "sender-busy,device-delay,full-queue,relay", "--json", "matrix.json"},
								folder.path(), 120s);
	ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << outcome.err;
	const auto json = end_to_end::read_json(folder.path() / "matrix.json");
	EXPECT_EQ(json["stretch"], 4);
	ASSERT_EQ(json["injections"].size(), 4u);
	for (const auto &row : json["injections"]) // unstretched ones add at most 1000 us
		EXPECT_GT(row["added_ns"]["median"].get<double>(), 1'100'000) << row.dump();
}

TEST(SelftestCommand, RefusesWhatItDoesntKnow)
{
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "selftest", "--only", "nothing"}, folder.path(), 20s);
	EXPECT_EQ(outcome.exit_code, 2);
	EXPECT_NE(outcome.err.find("interrupt-storm"), std::string::npos) << outcome.err;
}

} // namespace
} // namespace icepath::selftest
