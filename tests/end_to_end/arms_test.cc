// SPDX-License-Identifier: Apache-2.0
// Builds and configurations beside each other in one run: what differs is found in its layer, and each arm is what it
// says.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/end_to_end/middleware.h"
#include "tests/end_to_end/slowed_plugin.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// As a build in CI has it: below /tmp, where only root may write.
class Arms : public Middleware {
protected:
	void SetUp() override
	{
		Middleware::SetUp();
		if (IsSkipped())
			return;
		char name[] = "/tmp/icepath-arms-XXXXXX";
		ASSERT_NE(mkdtemp(name), nullptr);
		builds = name;
		chmod(name, 0755);
	}
	void TearDown() override
	{
		std::error_code ignored;
		if (!builds.empty())
			fs::remove_all(builds, ignored);
	}

	static fs::path plugin_of_build(const std::string &file)
	{
		return fs::path(icepath_program()).parent_path().parent_path() / "lib/icepath" / file;
	}

	// A folder with one plug-in.
	std::string build_of(const std::string &name, const fs::path &plugin, const std::string &file) const
	{
		fs::create_directory(builds / name);
		fs::copy_file(plugin, builds / name / file);
		return builds / name;
	}

	Outcome run_arms(const std::vector<std::string> &arms, const std::vector<std::string> &more) const
	{
		std::vector<std::string> words = {icepath_program(), "run",      "-q", "-s", "64",
										  "--patterns",      "pingpong", "-o", "out"};
		for (const std::string &arm : arms)
			words.insert(words.end(), {"--arm", arm});
		words.insert(words.end(), more.begin(), more.end());
		return run(words, folder.path(), 120s);
	}
	nlohmann::json results() const { return read_json(folder.path() / "out/run.json"); }

	fs::path builds;
};

const nlohmann::json &cell_of(const nlohmann::json &run, const std::string &arm)
{
	for (const nlohmann::json &cell : run["cells"])
		if (cell["arm"] == arm)
			return cell;
	throw std::runtime_error("no cell of arm " + arm);
}

double sender_user_ns(const nlohmann::json &cell)
{
	double sum = 0;
	for (const nlohmann::json &layer : cell["layers"])
		if (layer["layer"] == kSlowedLayer)
			sum += layer["mean_ns"].get<double>();
	return sum;
}

bool has_loaded(const nlohmann::json &arm, const std::string &path)
{
	for (const nlohmann::json &file : arm["loaded"])
		if (file["path"] == path)
			return file["build_id"].is_string() && !file["build_id"].get<std::string>().empty();
	return false;
}

TEST_F(Arms, OfTwoBuildsTheLayerHasTheDifference)
{
	const std::string plain = build_of("plain", plugin_of_build("icepath-pipe.so"), "icepath-pipe.so"),
					  slowed =
						  build_of("slowed", test::in_build("tests/end_to_end/icepath-slowed.so"), "icepath-pipe.so");
	const Outcome outcome =
		run_arms({"plain:plugins=" + plain, "slowed:plugins=" + slowed}, {"-t", "pipe", "-d", "10"});
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json run = results();
	ASSERT_EQ(run["arms"].size(), 3u);
	EXPECT_EQ(run["arms"][2]["name"], "plain-again");
	EXPECT_TRUE(has_loaded(run["arms"][0], plain + "/icepath-pipe.so")) << run["arms"][0];
	EXPECT_TRUE(has_loaded(run["arms"][1], slowed + "/icepath-pipe.so")) << run["arms"][1];
	EXPECT_TRUE(has_loaded(run["arms"][2], plain + "/icepath-pipe.so")) << run["arms"][2];
	const nlohmann::json &plain_cell = cell_of(run, "plain"), &slowed_cell = cell_of(run, "slowed"),
						 &again = cell_of(run, "plain-again");
	const double added = sender_user_ns(slowed_cell) - sender_user_ns(plain_cell);
	EXPECT_NEAR(added, kAddedNs, 0.2 * kAddedNs);
	EXPECT_LT(std::abs(sender_user_ns(again) - sender_user_ns(plain_cell)), 0.2 * added) << "nothing was added there";
	for (const char *arm : {"plain", "slowed", "plain-again"})
		EXPECT_NE(outcome.out.find(std::string("pipe ") + arm), std::string::npos) << outcome.out;
	for (const nlohmann::json &group : run["ranking"])
		EXPECT_EQ(group["cells"].size(), 1u) << "an arm's cells rank among themselves: " << group;
	expect_nothing_left();
}

TEST_F(Arms, ASingleOneIsBesideTheDefaultBuild)
{
	const std::string slowed =
		build_of("slowed", test::in_build("tests/end_to_end/icepath-slowed.so"), "icepath-pipe.so");
	const Outcome outcome = run_arms({"slowed:plugins=" + slowed}, {"-t", "pipe", "-d", "3", "--no-control"});
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json run = results();
	ASSERT_EQ(run["arms"].size(), 2u);
	EXPECT_EQ(run["arms"][0]["name"], "default");
	EXPECT_TRUE(has_loaded(run["arms"][0], fs::canonical(plugin_of_build("icepath-pipe.so")))) << run["arms"][0];
	EXPECT_TRUE(has_loaded(run["arms"][1], slowed + "/icepath-pipe.so")) << run["arms"][1];
}

// Both processes of a cell are of the arm's namespace, in which /tmp is empty but for the arm's folders.
TEST_F(Arms, OfMiddlewareHaveTheirOwnConfiguration)
{
	const fs::path plugin = plugin_of_build("icepath-cyclonedds.so");
	if (!fs::exists(plugin))
		GTEST_SKIP() << "Cyclone DDS isn't built";
	const auto config = [&](const std::string &name, const std::string &settings) {
		fs::create_directory(builds / name);
		std::ofstream(builds / name / "cyclone.xml") << "<CycloneDDS><Domain>" << settings << "</Domain></CycloneDDS>";
		return name + ":config=" + (builds / name / "cyclone.xml").string();
	};
	const Outcome outcome =
		run_arms({config("quiet", ""), config("tracing", "<Tracing><Verbosity>finest</Verbosity><OutputFile>/dev/null"
														 "</OutputFile></Tracing>")},
				 {"-t", "cyclonedds/udp", "-w", "epoll", "-d", "10"});
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json run = results();
	const double quiet = sender_user_ns(cell_of(run, "quiet"));
	EXPECT_GT(sender_user_ns(cell_of(run, "tracing")), 1.5 * quiet) << "it writes some lines for each message";
	EXPECT_LT(sender_user_ns(cell_of(run, "quiet-again")), 1.5 * quiet);
	expect_nothing_left();
}

// Sparse cells of all arms share a window, so arms need hardly more time than one.
TEST_F(Arms, TheTimeThatSparseMessagesNeedIsThatOfAllArmsTogether)
{
	const Outcome outcome = run({icepath_program(), "run", "-q", "--arm", "other:env=SOME=thing", "-t", "pipe", "-s",
								 "64", "--sparse-period", "50ms", "-d", "3", "-o", "out"},
								folder.path(), 60s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const std::string notices = results()["notices"].dump(), says = "with them a run takes ";
	const size_t at = notices.find(says);
	ASSERT_NE(at, std::string::npos) << notices;
	const double needed_s = std::stod(notices.substr(at + says.size()));
	EXPECT_GT(needed_s, 6 * 20 * 0.05) << "six blocks of twenty messages";
	EXPECT_LT(needed_s, 2 * 6 * 20 * 0.05) << notices;
}

TEST_F(Arms, AConfigurationThatNobodyReadsIsRefused)
{
	std::ofstream(builds / "some.xml") << "<x/>";
	const Outcome outcome = run_arms({"a:config=" + (builds / "some.xml").string()}, {"-t", "pipe", "-d", "3"});
	EXPECT_EQ(outcome.exit_code, 2);
	EXPECT_TRUE(mentions(outcome.err, "pipe reads no file of configuration from icepath")) << outcome.err;
	EXPECT_FALSE(fs::exists(folder.path() / "out"));
}

TEST_F(Arms, RootLoadsNothingThatOthersCanChange)
{
	const std::string plain = build_of("plain", plugin_of_build("icepath-pipe.so"), "icepath-pipe.so");
	fs::create_directory(builds / "lib");
	std::ofstream(builds / "lib/libsome.so") << "x";
	std::ofstream(builds / "lib/config.xml") << "<x/>";
	for (const char *what : {"libsome.so", "config.xml"})
		ASSERT_EQ(chown((builds / "lib" / what).c_str(), 65534, 65534), 0);
	for (const auto &[key, what] :
		 {std::pair{"lib=" + (builds / "lib").string(),
					"root loads no library from " + (builds / "lib").string() + ", since others"},
		  {"config=" + (builds / "lib/config.xml").string(), "root loads no configuration from"}}) {
		const Outcome outcome = run_arms({"a:plugins=" + plain + "," + key}, {"-t", "pipe", "-d", "3"});
		EXPECT_EQ(outcome.exit_code, 2) << key;
		EXPECT_TRUE(mentions(outcome.err, what)) << outcome.err;
	}
}

TEST_F(Arms, AnInterruptedRunKeepsWhatEachArmHas)
{
	const std::string slowed =
		build_of("slowed", test::in_build("tests/end_to_end/icepath-slowed.so"), "icepath-pipe.so");
	Running running({icepath_program(), "run", "--arm", "slowed:plugins=" + slowed, "-t", "pipe", "-s", "64",
					 "--patterns", "pingpong", "-d", "60", "-o", "out"},
					folder.path());
	for (int i = 0; i < 2000 && running.err_so_far().find("round 3") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	running.signal(SIGINT);
	const Outcome outcome = running.wait(30s);
	EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
	const nlohmann::json run = results();
	EXPECT_EQ(run["icepath"]["interrupted"], true);
	for (const char *arm : {"default", "slowed", "default-again"})
		EXPECT_GT(cell_of(run, arm)["messages"]["received"], 0) << arm;
	expect_nothing_left();
}

} // namespace
} // namespace icepath::end_to_end
