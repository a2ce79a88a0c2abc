// SPDX-License-Identifier: Apache-2.0
// Sparse messages over every transport: all cells at the same time, each message alone, each with a known path.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/resolved_run.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kPeriodNs = 50'000'000;

TEST(Sparse, CellsTakeTurnsOverEveryTransport)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", kAllByTwoThreads, "--patterns", "sparse",
								 "--sparse-period", "50ms", "-s", "64", "-d", "20", "-o", "out"},
								folder.path(), 120s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json json = read_json(folder.path() / "out/run.json");
	ASSERT_FALSE(json["cells"].empty());
	double probed = 0, complete = 0;
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		const auto &messages = cell["messages"];
		EXPECT_EQ(cell["rate_hz"], 20);
		EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
		EXPECT_EQ(messages["sent"].get<uint64_t>() % 20, 0u) << "blocks of 20 counted messages";
		EXPECT_EQ(messages["bad_payload"], 0);
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		EXPECT_EQ(cell["capture"]["dropped"], 0);
		probed += messages["probed"].get<double>();
		complete += messages["complete"].get<double>();
	}
	EXPECT_GT(probed, 0);
	EXPECT_GE(complete, 0.99 * probed);

	// By schedule, whatever the machine made of it: one message per cell and period, and no two at once.
	std::map<uint64_t, std::vector<uint64_t>> due_in_visit;
	for (const resolve::ResolvedBlock &resolved : read_resolved(folder.path() / "out").blocks) {
		const model::Block &block = resolved.block;
		const auto &sends = block.flows[0].sends;
		for (size_t i = 0; i < sends.size(); i++) {
			if (i > 0) {
				EXPECT_NEAR(static_cast<double>(sends[i].intended_ns - sends[i - 1].intended_ns), kPeriodNs, 2);
			}
			if (block.window->threads.size() > 2)
				due_in_visit[block.window->begin.monotonic_ns].push_back(sends[i].intended_ns);
		}
	}
	EXPECT_FALSE(due_in_visit.empty());
	for (auto &[begin, due] : due_in_visit) {
		std::ranges::sort(due);
		for (size_t i = 1; i < due.size(); i++)
			EXPECT_GE(due[i] - due[i - 1], 5'000'000u) << "at " << due[i];
	}
}

} // namespace
} // namespace icepath::end_to_end
