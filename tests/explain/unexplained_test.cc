// SPDX-License-Identifier: Apache-2.0
// What would tell more about a tail that isn't explained.
#include <algorithm>

#include "profiler/explain/remedies.h"
#include "profiler/text/remedy_words.h"
#include "profiler/text/tail_lines.h"
#include "tests/explain/tails.h"

namespace icepath::explain {
namespace {

const Remedy *remedy_in(const TailExplanation &tail, RemedyId id)
{
	const auto found = std::ranges::find(tail.remedies, id, &Remedy::id);
	return found == tail.remedies.end() ? nullptr : &*found;
}

TEST_F(Tail, UnexplainedSaysWhatWouldTell)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	cell.ranges.typical_culprits = {};
	const stats::WeightedBlocks blocks = cell.ranges.tail->layers.blocks();
	const uint64_t all_ns =
		static_cast<uint64_t>(cell.ranges.tail->layers.mean_ns()) * cell.ranges.tail->layers.deliveries();

	cell.ranges.tail_culprits = culprits_of({{{kFirstTask, all_ns * 9 / 10}}});
	model::Head head = small_head();
	head.budget_s = 10;
	TailExplanation tail = explain_tail(cell, head);
	const Remedy *by_chance = remedy_in(tail, RemedyId::ByChance);
	ASSERT_TRUE(by_chance) << "all in one block";
	EXPECT_EQ(by_chance->of.names, (std::vector<std::string>{"first"}));
	EXPECT_EQ(by_chance->ways, (std::vector<Way>{Way::MeasureLonger}));
	EXPECT_FALSE(by_chance->needed_s) << "one block tells no interval, and so no duration";
	text::Page page({false, true}, 100);
	text::add_tail(page, result, 0, tail);
	const std::string text = page.take();
	EXPECT_NE(text.find("may be there by chance (first): measure longer"), std::string::npos) << text;
	Remedy longer = *by_chance;
	longer.needed_s = 90;
	EXPECT_TRUE(
		text::advice(longer, cell.cell).ends_with("(first): if blocks go on like these, icepath run -d 90 tells"))
		<< text::advice(longer, cell.cell);

	cell.ranges.tail_culprits = {};
	tail = explain_tail(cell, head);
	ASSERT_TRUE(remedy_in(tail, RemedyId::NoCause));
	EXPECT_NEAR(remedy_in(tail, RemedyId::NoCause)->share, 1, 1e-9);
	EXPECT_FALSE(remedy_in(tail, RemedyId::ByChance));

	const std::vector<std::vector<WaitFor>> unknown(
		blocks.weights.size(), {{{path::Culprit::Kind::Unknown, 0, 0}, all_ns / blocks.weights.size()}});
	cell.ranges.tail_culprits = culprits_of(unknown, "first", 1);
	head.host.hypervisor = true;
	tail = explain_tail(cell, head);
	ASSERT_TRUE(remedy_in(tail, RemedyId::Unknown));
	EXPECT_EQ(remedy_in(tail, RemedyId::Unknown)->ways, (std::vector<Way>{Way::OwnMachine}));
	EXPECT_FALSE(remedy_in(tail, RemedyId::NoCause));
	head.host.hypervisor = false;
	tail = explain_tail(cell, head);
	ASSERT_TRUE(remedy_in(tail, RemedyId::Unknown));
	EXPECT_TRUE(remedy_in(tail, RemedyId::Unknown)->ways.empty()) << "there is none to do without";
}

TEST_F(Tail, ExplainedNeedsNothingThatTellsMore)
{
	const TailExplanation tail = tail_of(run_with(temporary, {}));
	for (const RemedyId id : {RemedyId::ByChance, RemedyId::NoCause, RemedyId::Unknown})
		EXPECT_FALSE(remedy_in(tail, id)) << name_of(id);
}

} // namespace
} // namespace icepath::explain
