// SPDX-License-Identifier: Apache-2.0
// The user's time budget: used, kept, and reported honestly; and no cell ends without data.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Budget : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}

	nlohmann::json measure(std::vector<std::string> options)
	{
		std::filesystem::remove_all(folder.path() / "out");
		options.insert(options.begin(), {icepath_program(), "run", "-o", "out"});
		outcome = run(options, folder.path(), 100s);
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		return outcome.exit_code == 0 ? read_json(folder.path() / "out/run.json") : nlohmann::json();
	}

	static bool has_data(const nlohmann::json &cell)
	{
		const auto count_of = [&](const char *latency) {
			return cell[latency].is_object() ? cell[latency]["count"].get<uint64_t>() : 0;
		};
		return cell["messages"]["probed"] > 0 && count_of("latency_ns") > 0 && count_of("latency_probed_ns") > 0;
	}

	// A sound program misses data only where others have a CPU for most of the run. Such a time passes, a fault
	// doesn't: where one run in ten is disturbed so much, four in a row are once in 10,000 times.
	nlohmann::json measure_until_all_have_data(const std::vector<std::string> &options)
	{
		constexpr int kTries = 4;
		nlohmann::json json;
		for (int tries = 0; tries < kTries; tries++) {
			json = measure(options);
			if (std::ranges::all_of(json["cells"], has_data))
				break;
		}
		for (const auto &cell : json["cells"])
			EXPECT_TRUE(has_data(cell)) << cell["key"] << cell["messages"];
		return json;
	}

	Folder folder;
	Outcome outcome;
};

TEST_F(Budget, EveryCellOfAVeryShortRunHasMessagesWithAndWithoutProbes)
{
	const auto json = measure_until_all_have_data({"-d", "4"});
	ASSERT_GE(json["cells"].size(), 20u);
}

TEST_F(Budget, ADelayThatIsPutInLeavesNoCellWithoutMessages)
{
	const auto json = measure_until_all_have_data({"-t", "pipe", "--inject-sender", "20us", "-d", "4"});
	EXPECT_EQ(json["cells"].size(), 6u);
}

TEST_F(Budget, SlowMessagesGetBlocksThatAreLongEnough)
{
	const auto json = measure_until_all_have_data({"-t", "pipe", "-s", "64", "--inject-receiver", "10ms", "-d", "7"});
	EXPECT_EQ(json["cells"].size(), 4u);
}

// Asserted although it is a time, like KeepsItsBudget of the default plan: a promise to the user, not a measurement. A
// sound program misses it where others have the CPUs for two seconds while it starts or reports: four runs are tried,
// as above.
TEST_F(Budget, IsUsedAndKeptAndProgressNeverPassesWhatItExpects)
{
	constexpr int kTries = 4;
	constexpr double kBudget = 10, kLeast = 0.8 * kBudget, kMost = 1.2 * kBudget;
	for (int tries = 0; tries < kTries && (outcome.seconds < kLeast || outcome.seconds > kMost); tries++)
		measure({"-t", "uds-stream,tcp,pipe", "-d", "10s"});
	EXPECT_GE(outcome.seconds, kLeast);
	EXPECT_LE(outcome.seconds, kMost);
	const std::regex line("round (\\d+) of about (\\d+) ");
	int lines = 0;
	for (std::sregex_iterator at(outcome.err.begin(), outcome.err.end(), line), end; at != end; ++at, lines++)
		EXPECT_LE(std::stoi((*at)[1]), std::stoi((*at)[2])) << at->str();
	EXPECT_GE(lines, 4) << outcome.err;
}

} // namespace
} // namespace icepath::end_to_end
