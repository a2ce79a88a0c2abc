// SPDX-License-Identifier: Apache-2.0
// Every transport under each of its waits, with each kind of probe forced in turn. A program of its own, which tests/vm runs on
// Debian's kernels: what differs between them is what these probes rest on.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "profiler/capture/probes.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

// What every transport carries: a signal carries no more.
constexpr int kBytes = 8;

// What starts thirty cells of emulated CPUs and visits each of them twice; then again for those that had too little of it.
constexpr const char *kSeconds = "12";
constexpr int kTries = 5;
constexpr double kFewest = 20; // messages of a cell

class EveryTier : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

std::set<std::string> targets_that_wait_by(const std::string &wait, const std::filesystem::path &folder)
{
	const Outcome list = run({icepath_program(), "list", "--json"}, folder);
	const auto json = nlohmann::json::parse(list.out);
	std::set<std::string> targets;
	for (const auto &target : json["targets"]) {
		EXPECT_EQ(target["why_not"], "") << target["name"];
		const auto waits = target["waits"].get<std::set<std::string>>();
		if (waits.count(wait))
			targets.insert(target["name"]);
	}
	return targets;
}

TEST_P(EveryTier, TellsWholePathsOfEveryTransport)
{
	const std::string tier = std::get<0>(GetParam()), wait = std::get<1>(GetParam());
	const Folder folder;
	std::string targets = "all";
	std::set<std::string> measured;
	for (int tried = 0; tried < kTries && !targets.empty(); tried++) {
		const std::string out = "out" + std::to_string(tried);
		const Outcome outcome = run({icepath_program(), "run", "--tier", tier, "-t", targets, "-w", wait, "--patterns",
									 "pingpong", "-s", std::to_string(kBytes), "-d", kSeconds, "-m", "100", "-o", out},
									folder.path(), 300s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		targets.clear();
		const nlohmann::json json = read_json(folder.path() / out / "run.json");
		for (const auto &cell : json["cells"]) {
			if (cell["wait"] != wait) // null, which only ever spins, is measured beside all others
				continue;
			const std::string target = cell["target"];
			SCOPED_TRACE(target);
			const auto &messages = cell["messages"];
			const double probed = messages["probed"];
			if (probed < kFewest) {
				targets += (targets.empty() ? "" : ",") + target;
				continue;
			}
			measured.insert(target);
			EXPECT_GE(messages["complete"].get<double>(), 0.99 * probed) << messages.dump();
			EXPECT_EQ(cell["capture"]["dropped"], 0);
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		}
	}
	EXPECT_EQ(targets, "") << "had too few messages each time";
	EXPECT_EQ(measured, targets_that_wait_by(wait, folder.path()));
}

INSTANTIATE_TEST_SUITE_P(All, EveryTier,
						 testing::Combine(testing::ValuesIn(capture::kTierNames),
										  testing::Values("block", "poll", "epoll", "spin")),
						 [](const auto &which) {
							 return std::string(std::get<0>(which.param)) + "_" + std::get<1>(which.param);
						 });

} // namespace
} // namespace icepath::end_to_end
