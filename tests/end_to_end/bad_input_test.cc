// SPDX-License-Identifier: Apache-2.0
// Any invalid input: one clear sentence, the right exit code, no change to the host.
#include <gtest/gtest.h>
#include <sys/stat.h>
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
	const Traces before = traces_before();
	Arguments arguments = {icepath_program()};
	arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
	const Outcome outcome = run(arguments, folder.path());
	EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
	EXPECT_TRUE(std::regex_search(outcome.err, std::regex(GetParam().sentence))) << outcome.err;
	EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << "one sentence: " << outcome.err;
	EXPECT_EQ(outcome.out, "");
	EXPECT_EQ(traces_after(before), before);
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "results")) << "no run directory for a run that never began";
}

INSTANTIATE_TEST_SUITE_P(
	Cases, BadInput,
	testing::Values(
		Bad{"UnknownTransport", {"run", "-t", "pigeon"}, 2, "unknown target \"pigeon\".*icepath list"},
		Bad{"UnknownCommand", {"fly"}, 2, "fly"}, Bad{"UnknownOption", {"run", "--fast"}, 2, "fast"},
		Bad{"UnknownWait", {"run", "-w", "nap"}, 2, "--wait: \"nap\""},
		Bad{"UnknownPattern", {"run", "--patterns", "zigzag"}, 2, "--patterns: \"zigzag\""},
		Bad{"SizeIsNoSize", {"run", "-s", "64x"}, 2, "--sizes: \"64x\""},
		Bad{"SizeZero", {"run", "-s", "0"}, 2, "--sizes"},
		Bad{"TooLargeForMqueue",
			{"run", "-t", "mqueue", "-s", "65M"},
			2,
			"mqueue can't carry 68157440 bytes.*67108864"},
		Bad{"TooLargeForUdp", {"run", "-t", "udp", "-s", "1024M"}, 2, "udp can't carry 1073741824 bytes.*rmem_max"},
		Bad{"TooLargeForUdsDgram",
			{"run", "-t", "uds-dgram", "-s", "512M"},
			2,
			"uds-dgram can't carry 536870912 bytes"},
		Bad{"NoSuchCpu", {"run", "--cpus", "0,4711"}, 2, "4711"},
		Bad{"CpusAreNoCpus", {"run", "--cpus", "zero"}, 2, "zero"},
		Bad{"DaemonsOnAnIsolatedCpu",
			{"run", "--isolate", "full", "--cpus", "1,1", "--daemon-cpus", "0-1"},
			2,
			"--daemon-cpus 0-1: under --isolate full, CPU 1 is for the sides alone"},
		Bad{"DaemonsOnNoCpu", {"run", "--daemon-cpus", "0-"}, 2, "--daemon-cpus: \"0-\" isn't a list of CPUs"},
		Bad{"TuneNoLimit", {"run", "--tune", "kernel.panic=1"}, 2, "--tune: \"kernel.panic=1\" isn't LIMIT=VALUE"},
		Bad{"TooLargeForUdpAllTheSame",
			{"run", "-t", "udp", "-s", "1024M", "--tune", "net.core.rmem_max=1G"},
			2,
			"udp can't carry 1073741824 bytes"},
		Bad{"DurationOutOfRange", {"run", "-d", "0.1"}, 2, "--duration"},
		Bad{"DurationOutOfRangeInMilliseconds", {"run", "-d", "500ms"}, 2, "--duration: \"500ms\" isn't a duration"},
		Bad{"DurationIsNone", {"run", "-d", "soon"}, 2, "--duration: \"soon\".*90s, 5m"},
		Bad{"DurationIsNotANumber", {"run", "-d", "nan"}, 2, "--duration: \"nan\""},
		Bad{"DurationTooLongInHours", {"run", "-d", "25h"}, 2, "--duration: 25h is outside of 2 to 86400 s"},
		Bad{"DurationTooShortForTheRate",
			{"run", "-t", "pipe", "--patterns", "oneway", "--rate", "1", "-d", "10s"},
			2,
			"--duration: 10 s can't hold one block.*pipe 64 B oneway block.*--rate 1: give -d [56][0-9] or more"},
		Bad{"NoMessages", {"run", "-m", "0"}, 2, "--messages: 0 is outside of 1 to 1000000"},
		Bad{"FewerMessagesThanNone", {"run", "-m", "-5"}, 2, "--messages: -5 is outside"},
		Bad{"TimeWithoutUnit", {"run", "--inject-sender", "20"}, 2, "--inject-sender: \"20\".*unit.*20us"},
		Bad{"TimeIsNotANumber", {"run", "--inject-receiver", "nanus"}, 2, "--inject-receiver: \"nanus\""},
		Bad{"FolderWithForeignFiles", {"run", "-o", "."}, 2, "files that aren't a run's \\(\"foreign\"\\)"},
		Bad{"FolderIsAFile", {"run", "-o", "foreign"}, 2, "foreign is a file"},
		Bad{"FolderInNoFolder", {"run", "-o", "a/b"}, 2, "there is no folder a, make it first"},
		Bad{"WaitThatNoTargetHas", {"run", "-t", "mqueue", "-w", "epoll"}, 2, "mqueue can't wait by epoll"},
		Bad{"ArmInNoFolder", {"run", "--arm", "a:plugins=nowhere"}, 2, "--arm a: plugins=nowhere: No such file"},
		Bad{"ArmWithoutPlugins",
			{"run", "--arm", "a:plugins=/usr/share/base-files"},
			2,
			"--arm a: there is no plug-in.* in /usr"},
		Bad{"ArmWithATypo", {"run", "--arm", "a:plugin=."}, 2, "\"plugin=.\" isn't one of plugins=FOLDER, lib="},
		Bad{"ArmsOfOneName", {"run", "--arm", "a:lib=.", "--arm", "a:lib=.."}, 2, "--arm a: two arms of a run"},
		Bad{"ArmIsAFile", {"run", "--arm", "a:lib=foreign"}, 2, "--arm a: lib=foreign isn't a folder"},
		Bad{"ControlWithoutArms", {"run", "--no-control"}, 2, "--no-control: only runs with --arm"},
		Bad{"RateOutOfRange", {"run", "--rate", "0"}, 2, "--rate"},
		Bad{"NoSuchRun", {"report", "nowhere"}, 2, "nowhere"}, Bad{"ForeignRun", {"report", "foreign"}, 2, "foreign"},
		Bad{"ForeignFlamegraph", {"flamegraph", "foreign"}, 2, "foreign"}),
	[](const auto &which) { return std::string(which.param.name); });

TEST(NoPlugins, WhereWasLookedAndHowToLookElsewhereIsTold)
{
	const Folder folder;
	for (const char *command : {"list", "run"}) {
		const Outcome outcome = run({icepath_program(), command}, folder.path(), std::chrono::seconds(60),
									{{"ICEPATH_PLUGIN_PATH", folder.path()}});
		EXPECT_EQ(outcome.exit_code, 3) << command;
		EXPECT_NE(outcome.err.find("no icepath-<name>.so in " + folder.path().string()), std::string::npos)
			<< outcome.err;
		EXPECT_NE(outcome.err.find("ICEPATH_PLUGIN_PATH="), std::string::npos) << outcome.err;
		EXPECT_EQ(outcome.out, "");
	}
}

TEST(NoPlugins, AFolderThatIsNamedIsSearched)
{
	const Folder folder;
	const auto plugins = std::filesystem::path(icepath_program()).parent_path() / "../lib/icepath";
	std::filesystem::copy_file(plugins / "icepath-pipe.so", folder.path() / "icepath-pipe.so");
	// Root loads nothing that others can change.
	ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
	const Outcome outcome = run({icepath_program(), "list"}, folder.path(), std::chrono::seconds(60),
								{{"ICEPATH_PLUGIN_PATH", "/nowhere:" + folder.path().string()}});
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_NE(outcome.out.find("pipe"), std::string::npos) << outcome.out;
	EXPECT_EQ(outcome.out.find("mqueue"), std::string::npos) << outcome.out;
}

TEST(NotBuilt, IsNotUnknown)
{
	const Folder folder;
	const auto plugins = std::filesystem::path(icepath_program()).parent_path().parent_path() / "lib/icepath";
	for (const char *plugin : {"icepath-pipe.so", "icepath-zeromq.so"})
		std::filesystem::copy(plugins / plugin, folder.path());
	// Root loads nothing that others can change.
	ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
	std::ofstream(folder.path() / "not-built") << "fastdds package libfastrtps-dev\nzeromq package libzmq3-dev\n";
	const Outcome listed = run({icepath_program(), "list"}, folder.path(), std::chrono::seconds(60),
							   {{"ICEPATH_PLUGIN_PATH", folder.path()}});
	const size_t last = listed.out.rfind('\n', listed.out.size() - 2) + 1;
	EXPECT_EQ(listed.out.find("\npipe ", 0), listed.out.find('\n')) << "what is here comes first" << listed.out;
	EXPECT_TRUE(listed.out.substr(last).starts_with("not built")) << listed.out;
	EXPECT_NE(listed.out.find("fastdds (libfastrtps-dev), zeromq (libzmq3-dev): make middleware-deps all\n", last),
			  std::string::npos)
		<< listed.out;
	const auto run_of = [&](const std::string &targets) {
		return run({icepath_program(), "run", "-t", targets, "-s", "64", "--patterns", "pingpong", "-d", "2"},
				   folder.path(), std::chrono::seconds(60), {{"ICEPATH_PLUGIN_PATH", folder.path()}});
	};
	const Outcome missing = run_of("pipe,fastdds/udp");
	EXPECT_EQ(missing.exit_code, 2);
	EXPECT_NE(missing.err.find("fastdds/udp isn't built: Debian's package libfastrtps-dev was missing"),
			  std::string::npos)
		<< missing.err;
	EXPECT_EQ(run_of("zeromq").exit_code, 0) << "the list is of one folder, the plug-in of another";
}

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
