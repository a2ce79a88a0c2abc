// SPDX-License-Identifier: Apache-2.0
// Every transport with each of its waits, with each kind of probe forced in turn. A separate program, which tests/vm
// runs on Debian's kernels, because these probes rest on what differs between kernels.
#include <gtest/gtest.h>

#include <set>

#include "profiler/capture/probes.h"
#include "tests/end_to_end/measured_again.h"

namespace icepath::end_to_end {
namespace {

// What every transport carries: a signal carries no more.
constexpr int kPayloadBytes = 8;

// Enough for emulated CPUs to start thirty cells and visit each twice.
constexpr int kSeconds = 12;

class EveryTier : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

std::set<std::string> targets_that_wait_by(const std::string &wait, const std::filesystem::path &folder)
{
	const Outcome list = run({icepath_program(), "list", "--json"}, folder);
	const auto json = nlohmann::json::parse(list.out);
	std::set<std::string> targets;
	for (const auto &target : json["targets"]) {
		EXPECT_EQ(target["why_not"], "") << target["name"];
		const auto waits = target["waits"].get<std::set<std::string>>();
		if (waits.count(wait) && goes_by_two_threads(target))
			targets.insert(target["name"]);
	}
	return targets;
}

TEST_P(EveryTier, TellsWholePathsOfEveryTransport)
{
	const std::string tier = std::get<0>(GetParam()), wait = std::get<1>(GetParam());
	const Folder folder;
	const auto cells = measure_until_enough(
		kAllByTwoThreads, kSeconds,
		{"--tier", tier, "-w", wait, "--patterns", "pingpong", "-s", std::to_string(kPayloadBytes), "-m", "100"},
		folder.path(), [](const nlohmann::json &, const std::string &) {});
	std::set<std::string> measured;
	for (const auto &[cell, sum] : cells) {
		EXPECT_TRUE(sum.is_enough()) << cell.first << ": " << sum.complete << " of " << sum.probed;
		if (cell.second == wait) // null, which only spins, is measured beside all others
			measured.insert(cell.first);
	}
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
