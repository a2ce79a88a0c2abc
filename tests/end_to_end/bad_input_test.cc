// SPDX-License-Identifier: Apache-2.0
// Whatever is wrong with what the user asked: one clear sentence, the right exit code, nothing changed on the host.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using Arguments = std::vector<std::string>;

struct Bad {
	const char *name;
	Arguments arguments;
	int exit_code;
	const char *sentence; // regular expression that the error must match
};

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, OneSentenceAndTheRightExitCode)
{
	const Folder folder;
	std::ofstream(folder.path() / "foreign") << "something else entirely";
	const Traces before = traces_on_this_machine();
	Arguments arguments = {icepath_program()};
	arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
	const Outcome outcome = run(arguments, folder.path());
	EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
	EXPECT_TRUE(std::regex_search(outcome.err, std::regex(GetParam().sentence))) << outcome.err;
	EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << "one sentence: " << outcome.err;
	EXPECT_EQ(outcome.out, "");
	EXPECT_EQ(traces_on_this_machine(), before);
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "results")) << "no run directory for a run that never began";
}

INSTANTIATE_TEST_SUITE_P(
	Cases, BadInput,
	testing::Values(
		Bad{"UnknownTransport", {"run", "-t", "pigeon"}, 2, "unknown transport \"pigeon\".*uds-stream"},
		Bad{"UnknownCommand", {"fly"}, 2, "fly"}, Bad{"UnknownOption", {"run", "--fast"}, 2, "fast"},
		Bad{"UnknownWait", {"run", "-w", "nap"}, 2, "--wait: \"nap\""},
		Bad{"UnknownPattern", {"run", "--patterns", "zigzag"}, 2, "--patterns: \"zigzag\""},
		Bad{"SizeIsNoSize", {"run", "-s", "64x"}, 2, "--sizes: \"64x\""},
		Bad{"SizeZero", {"run", "-s", "0"}, 2, "--sizes"},
		Bad{"TooLargeForMqueue", {"run", "-t", "mqueue", "-s", "65M"}, 2, "mqueue can't carry 68157440 bytes.*67108864"},
		Bad{"TooLargeForUdp", {"run", "-t", "udp", "-s", "1024M"}, 2, "udp can't carry 1073741824 bytes.*rmem_max"},
		Bad{"TooLargeForUdsDgram",
			{"run", "-t", "uds-dgram", "-s", "512M"},
			2,
			"uds-dgram can't carry 536870912 bytes"},
		Bad{"NoSuchCpu", {"run", "--cpus", "0,4711"}, 2, "4711"},
		Bad{"CpusAreNoCpus", {"run", "--cpus", "zero"}, 2, "zero"},
		Bad{"DurationOutOfRange", {"run", "-d", "0.1"}, 2, "--duration"},
		Bad{"RateOutOfRange", {"run", "--rate", "0"}, 2, "--rate"},
		Bad{"NoSuchRun", {"report", "nowhere"}, 2, "nowhere"}, Bad{"ForeignRun", {"report", "foreign"}, 2, "foreign"},
		Bad{"ForeignFlamegraph", {"flamegraph", "foreign"}, 2, "foreign"}),
	[](const auto &which) { return std::string(which.param.name); });

TEST(NoPrivilege, RunSaysHowToGetIt)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "already without privilege: the other tests show it";
	const Folder folder;
	const Outcome outcome =
		run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", icepath_program(), "run", "-d", "5"},
			folder.path());
	EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
	EXPECT_NE(outcome.err.find("sudo icepath run"), std::string::npos) << outcome.err;
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "results"));
}

} // namespace
} // namespace icepath::end_to_end
