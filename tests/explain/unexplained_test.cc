// SPDX-License-Identifier: Apache-2.0
// What would tell more about a tail that isn't explained.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

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

	cell.ranges.tail_culprits = culprits_of({{{kFirstTask, all_ns * 4 / 10},
											  {kSecondTask, all_ns * 3 / 10},
											  {{path::Culprit::Kind::Task, 20, 0}, all_ns * 2 / 10}}});
	tail = explain_tail(cell, head);
	ASSERT_TRUE(remedy_in(tail, RemedyId::ByChance));
	EXPECT_NE(text::advice(*remedy_in(tail, RemedyId::ByChance), cell.cell).find("(first, second and 1 more)"),
			  std::string::npos)
		<< "no one of them has all the time";

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

// Which of many takes the time is told once those are that have most of it.
TEST_F(Tail, SaysHowLongARunTellsWhatHasMostOfTheTime)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	const size_t blocks = cell.ranges.tail->layers.blocks().weights.size();
	const double all_ns = static_cast<double>(cell.ranges.tail->layers.mean_ns()) *
						  static_cast<double>(cell.ranges.tail->layers.deliveries());
	cell.ranges.typical_culprits = {};
	model::Head head = small_head();
	head.budget_s = 10;
	const auto needed_s = [&](double of_second) {
		// The first takes most of its time in one of many blocks, the second is in one.
		std::vector<std::vector<WaitFor>> of_tail(blocks, {{kFirstTask, 1000}});
		of_tail[0] = {{kFirstTask, static_cast<uint64_t>(0.3 * all_ns)},
					  {kSecondTask, static_cast<uint64_t>(of_second * all_ns)},
					  {{path::Culprit::Kind::Task, 20, 0}, static_cast<uint64_t>(of_second * all_ns)}};
		cell.ranges.tail_culprits = culprits_of(of_tail, "first", 1);
		const TailExplanation tail = explain_tail(cell, head);
		const Remedy *by_chance = remedy_in(tail, RemedyId::ByChance);
		EXPECT_TRUE(by_chance);
		return by_chance ? by_chance->needed_s : std::nullopt;
	};
	EXPECT_TRUE(needed_s(0.1));
	EXPECT_FALSE(needed_s(0.2)) << "the first one alone has less than half";
}

// A task for each block has the CPU in the tail. Typical messages meet tasks more often, and for no time.
TEST_F(Tail, IsExplainedByKindWhereItIsNotToldWhich)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	const size_t blocks = cell.ranges.tail->layers.blocks().weights.size();
	const double all_ns = static_cast<double>(explain_tail(cell, small_head()).growth.of.ns()) *
						  static_cast<double>(cell.ranges.tail->layers.deliveries());
	const auto explained = [&](double share, uint64_t typical_ns = 1) {
		std::vector<std::vector<WaitFor>> of_tail, of_typical(blocks * 100, {{kSecondTask, typical_ns}});
		for (uint32_t block = 0; block < blocks; ++block) {
			of_tail.push_back({{{path::Culprit::Kind::Task, 100 + block, 0},
								static_cast<uint64_t>(share * all_ns / static_cast<double>(blocks))}});
		}
		cell.ranges.tail_culprits = culprits_of(of_tail, "first", 1);
		cell.ranges.typical_culprits = culprits_of(of_typical, "first", 100);
		return explain_tail(cell, small_head());
	};
	const TailExplanation tail = explained(0.9);
	EXPECT_EQ(tail.verdict, TailVerdict::ByKind) << kTailVerdicts.at(static_cast<size_t>(tail.verdict));
	EXPECT_NEAR(tail.named, 0.9, 0.02);
	EXPECT_TRUE(
		std::ranges::none_of(tail.causes, [](const Cause &one) { return one.is_told() || one.is_of_told_kind; }));
	EXPECT_FALSE(remedy_in(tail, RemedyId::ByChance));
	text::Page page({false, true}, 500);
	text::add_tail(page, result, 0, tail);
	const std::string text = page.take();
	EXPECT_NE(text.find("verdict   explained by kind: 90"), std::string::npos) << text;
	EXPECT_NE(text.find("tasks of others 90.0 % (not told which)"), std::string::npos) << text;
	EXPECT_NE(text.find(fmt::format(" and {} more, and not told which)", blocks - 2)), std::string::npos) << text;
	EXPECT_EQ(explained(0.5).verdict, TailVerdict::Partly);
	EXPECT_EQ(explained(0.3).verdict, TailVerdict::Unexplained);
	const double growth_ns = static_cast<double>(explain_tail(cell, small_head()).growth.of.ns()) *
							 static_cast<double>(cell.ranges.typical->layers.deliveries()) /
							 static_cast<double>(blocks * 100); // of each of those messages
	EXPECT_EQ(explained(0.9, static_cast<uint64_t>(0.6 * growth_ns)).verdict, TailVerdict::Unexplained)
		<< "what tasks took from typical messages isn't the growth";
}

// What is told by itself is in the table and in the advice, however little it is.
TEST_F(Tail, ShowsWhatIsToldAmongWhatIsNot)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	const size_t blocks = cell.ranges.tail->layers.blocks().weights.size();
	const auto all_ns = static_cast<double>(explain_tail(cell, small_head()).growth.of.ns()) *
						static_cast<double>(cell.ranges.tail->layers.deliveries());
	std::vector<std::vector<WaitFor>> of_tail;
	for (uint32_t block = 0; block < blocks; ++block)
		of_tail.push_back({{{path::Culprit::Kind::Task, 100 + block, 0},
							static_cast<uint64_t>(0.8 * all_ns / static_cast<double>(blocks))},
						   {kSecondTask, static_cast<uint64_t>(0.05 * all_ns / static_cast<double>(blocks))}});
	cell.ranges.tail_culprits = culprits_of(of_tail, "first", 1);
	cell.ranges.typical_culprits = {};
	text::Page page({false, true}, 500);
	text::add_tail(page, result, 0, explain_tail(cell, small_head()));
	const std::string text = page.take();
	EXPECT_NE(text.find("\n  second "), std::string::npos) << text;
	EXPECT_NE(text.find(fmt::format("\n  {} more, ", blocks - 6)), std::string::npos) << text;
	EXPECT_NE(text.find("; only second told)"), std::string::npos) << text;
}

// A message of one block is much slower than all others of the tail, which are slower than typical ones.
TEST_F(Tail, OfOneBadMomentSaysThatItsGrowthIsNotNone)
{
	analysis::RunResult result = run_with(temporary, {});
	analysis::CellResult &cell = result.cells[0];
	cell.ranges.tail_culprits = cell.ranges.typical_culprits = {}; // which are of other blocks
	analysis::LatencyRange &of = *cell.ranges.tail;
	of.layers = {};
	of.messages = 40;
	for (uint32_t block = 0; block < 20; ++block) {
		for (uint64_t message = 0; message < 2; ++message) {
			path::Path path;
			path.recv_ns = block == 7 && message == 0 ? 100 * kTailSlowerBy : kTailSlowerBy;
			path.segments.push_back({model::Layer::SenderUser, model::Part::None, 0, 1, {}, {10'000, {}}, {}});
			path.segments.push_back(
				{model::Layer::Runqueue, model::Part::None, 1, 2, {10'000, {}}, {path.recv_ns, {}}, {}});
			of.layers.add(path, {});
		}
		of.layers.end_block(2, block);
	}
	of.from_ns = kTailSlowerBy;
	const TailExplanation tail = explain_tail(cell, small_head());
	EXPECT_EQ(tail.verdict, TailVerdict::NotTold);
	ASSERT_TRUE(tail.refusal);
	EXPECT_EQ(tail.refusal->id, FindingId::GrowthSizeUnknown);
	ASSERT_TRUE(tail.refusal->interval && tail.growth.of.interval);
	EXPECT_DOUBLE_EQ(tail.refusal->interval->low, static_cast<double>(kTailSlowerBy - tail.growth.of.b_ns));
	EXPECT_LT(tail.growth.of.interval->low, tail.refusal->interval->low) << "the table's ± is of both sides";
	text::Page page({false, true}, 500);
	text::add_tail(page, result, 0, tail);
	const std::string text = page.take();
	EXPECT_NE(text.find("verdict   not told: how large the growth is: "), std::string::npos) << text;
	EXPECT_TRUE(std::regex_search(text, std::regex("% ±[0-9]+ of it is waiting for a CPU\n"))) << text;
	of.from_ns = 0;
	EXPECT_EQ(explain_tail(cell, small_head()).refusal.value().id, FindingId::GrowthMayBeNone);
}

TEST_F(Tail, ExplainedNeedsNothingThatTellsMore)
{
	const TailExplanation tail = tail_of(run_with(temporary, {}));
	for (const RemedyId id : {RemedyId::ByChance, RemedyId::NoCause, RemedyId::Unknown})
		EXPECT_FALSE(remedy_in(tail, id)) << name_of(id);
}

} // namespace
} // namespace icepath::explain
