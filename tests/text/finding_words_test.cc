// SPDX-License-Identifier: Apache-2.0
// Every finding has words, and they say how long a run must be.
#include "profiler/text/finding_words.h"

#include <gtest/gtest.h>

#include <set>

#include "profiler/explain/leading_figure.h"
#include "profiler/explain/notices.h"
#include "profiler/text/wording.h"
#include "tests/report/one_screen.h"

namespace icepath::text {
namespace {

using explain::Fact;
using explain::Finding;
using explain::FindingId;

TEST(FindingWords, AreThereForEachIdOnce)
{
	std::multiset<FindingId> ids;
	for (const std::span<const Wording> rows : {words_to_read_by(), words_of_trust(), words_of_refusals()})
		for (const Wording &row : rows) {
			ids.insert(row.id);
			EXPECT_TRUE(row.words || *row.pattern) << row_of(row.id).name;
			EXPECT_TRUE(!row.is_brief || *row.kind) << row_of(row.id).name << ": cells may share it";
		}
	for (size_t i = 0; i < explain::kFindingIds; ++i)
		EXPECT_EQ(ids.count(static_cast<FindingId>(i)), 1u) << row_of(static_cast<FindingId>(i)).name;
}

TEST(FindingWords, SayHowLongARunTells)
{
	Finding finding{.id = FindingId::TailTooFewMessages,
					.value = 4,
					.limit = 10,
					.evidence = {{Fact::Blocks, 3.0}},
					.needed_s = 75};
	EXPECT_EQ(words({}, finding), "4 messages of the tail have a known path, in 3 blocks; 10 in 3 are needed: measure "
								  "longer (icepath run -d 75)");
	finding.needed_s = 150.5;
	EXPECT_TRUE(words({}, finding).ends_with("(icepath run -d 3m)"));
	finding.needed_s = 36'000;
	EXPECT_TRUE(words({}, finding).ends_with("(icepath run -d 10h)"));
	finding.needed_s = explain::longer_run_s(60, 10'000);
	EXPECT_TRUE(words({}, finding).ends_with("(icepath run -d)")) << "no run is a week long";
	EXPECT_FALSE(explain::longer_run_s(0, 3)) << "how long this one was isn't known";
	EXPECT_DOUBLE_EQ(explain::longer_run_s(60, 3).value(), 180);
}

// Two cells whose ranks are told apart by all messages, while their p50s have the other order.
TEST(LeadingFigure, IsSaidWhereP50sHaveAnotherOrder)
{
	const auto cell = [](const char *target, uint64_t ns) {
		return made_cell(target, {{model::Layer::Wakeup, model::Part::None, ns}});
	};
	analysis::RunResult result = made_run({cell("a", 1000), cell("b", 3000)});
	ASSERT_TRUE(result.ranking[0].pairs[0].told_apart());
	EXPECT_TRUE(explain::other_orders_by_p50(result).empty());
	const stats::RoundRatio ratio = *result.ranking[0].cells[1].to_fastest;
	EXPECT_FALSE(explain::other_ratio_by_p50(result, 1, 0, ratio));
	result.cells[0].times.latency.percentiles[0] = 3200;
	EXPECT_NEAR(explain::other_ratio_by_p50(result, 1, 0, ratio).value(), 3000.0 / 3200, 1e-9);
	const std::vector<Finding> found = explain::other_orders_by_p50(result);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(found[0].cell, 0u);
	const std::vector<std::string> brief = brief_notices(result);
	ASSERT_EQ(brief.size(), 1u);
	EXPECT_EQ(brief[0],
			  "a 64 B pingpong block: it ranks before b 64 B pingpong block, though its p50 is 3.20 µs and the "
			  "other's 3.00 µs: ranks are by all messages of a block but the fastest and slowest tenth, "
			  "within rounds");
	result.cells[0].times.latency.percentiles[0].reset();
	EXPECT_TRUE(explain::other_orders_by_p50(result).empty()) << "what has no p50 contradicts none";
}

} // namespace
} // namespace icepath::text
