// SPDX-License-Identifier: Apache-2.0
// A search for the highest rate over a stream, a lossy socket and shared memory. On any machine: the rate itself isn't
// asserted, only that it answers the question, or that the report says that there is none. On a loaded machine that
// loses a CPU for longer than the limit in most blocks of a cell, no rate holds. At least one of three cells finds one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

TEST(MaxRate, LiesBetweenARateThatHeldAndOneThatFailed)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", "uds-stream,udp,shm-ring", "--patterns", "max-rate",
								 "--max-p99", "10ms", "--max-loss", "10%", "-d", "20", "-o", "out"},
								folder.path(), 60s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_NE(outcome.out.find("msg/s"), std::string::npos) << outcome.out;
	const auto json = read_json(folder.path() / "out/run.json");
	ASSERT_EQ(json["cells"].size(), 3u);
	size_t answers = 0;
	for (const auto &cell : json["cells"]) {
		const auto &search = cell["max_rate"];
		SCOPED_TRACE(cell["target"].get<std::string>() + " " + search.dump());
		if (search["rate_hz"].is_null()) {
			EXPECT_NE(json["notices"].dump().find(cell["target"].get<std::string>() + " 64 B max-rate"),
					  std::string::npos);
			continue;
		}
		answers++;
		const double rate_hz = search["rate_hz"];
		bool tried = false, some_held_so_fast = false, some_failed_above = false;
		for (const auto &attempt : search["attempts"]) {
			const double hz = attempt["rate_hz"];
			const bool held = attempt["held"];
			tried = tried || hz == rate_hz;
			some_held_so_fast = some_held_so_fast || (held && hz >= rate_hz);
			some_failed_above = some_failed_above || (!held && hz >= rate_hz);
			// Verdicts follow from the limits.
			const bool p99_kept = attempt["p99_ns"].is_number() && attempt["p99_ns"] <= 10'000'000;
			const bool loss_kept = attempt["lost"].get<double>() <= 0.1 * attempt["sent"].get<double>();
			if (held) {
				EXPECT_TRUE(p99_kept && loss_kept) << attempt.dump();
			}
			EXPECT_GT(attempt["sent"], 0);
		}
		EXPECT_TRUE(tried && some_held_so_fast);
		if (search["failed_hz"].is_number()) {
			EXPECT_GT(search["failed_hz"], rate_hz);
			EXPECT_TRUE(some_failed_above);
		}
		for (const size_t end : {0, 1})
			EXPECT_TRUE(search["rate_ci95_hz"][end].is_null() || search["rate_ci95_hz"][end].is_number());
		EXPECT_EQ(search["statistics_hz"], rate_hz);
		EXPECT_GT(cell["latency_ns"]["count"], 0);
		EXPECT_LT(cell["latency_ns"]["blocks"], search["attempts"].size()) << "not of every rate";
		EXPECT_TRUE(cell["rate_hz"].is_null());
	}
	EXPECT_GT(answers, 0u) << "not exercised";
	const Outcome again = run({icepath_program(), "report", "--json", "out"}, folder.path());
	EXPECT_EQ(nlohmann::json::parse(again.out)["cells"], json["cells"]) << "of the run directory alone";
}

} // namespace
} // namespace icepath::end_to_end
