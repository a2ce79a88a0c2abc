// SPDX-License-Identifier: Apache-2.0
// Which cells are ranked among each other, and what the report says of them.
#include "profiler/analysis/ranking.h"
#include "profiler/exports/ranking_json.h"
#include "profiler/text/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <regex>

namespace icepath::analysis {
namespace {

using Blocks = std::vector<stats::BlockValue>;

model::Cell cell_of(const std::string &target, model::Wait wait = model::Wait::Block)
{
	model::Cell cell;
	cell.target = target;
	cell.pattern = model::Pattern::PingPong;
	cell.wait = wait;
	cell.payload_bytes = 64;
	return cell;
}

// Twenty rounds, each with an opening of its own, of a machine that is ten times slower in the last five. `wobble`:
// relative, from round to round.
Blocks blocks_of(double value, double wobble = 0.01, uint32_t phase = 0)
{
	Blocks blocks;
	for (uint32_t round = 0; round < 20; ++round)
		blocks.push_back(
			{round, false, value * (round < 15 ? 1 : 10) * (1 + wobble * std::sin(1.7 * round + phase)), round});
	return blocks;
}

TEST(Ranking, LeavesOutRatiosThatCouldBeAnything)
{
	const Blocks wild = {{0, false, 1e3, 0}, {1, false, 1e6, 1}, {2, false, 1e9, 2}};
	const auto groups_within = [&](double most_ns) {
		return rank({cell_of("wild"), cell_of("fast")}, {wild, blocks_of(1000)}, most_ns);
	};
	EXPECT_EQ(groups_within(1e30)[0].pairs.size(), 1u);
	EXPECT_TRUE(groups_within(2e10)[0].pairs.empty()) << "a message can't take longer than the run";
	EXPECT_EQ(groups_within(2e10)[0].uncompared, 1u);
	EXPECT_FALSE(groups_within(2e10)[0].cells[0].rank);
}

TEST(Ranking, CellsOfDifferentArmsHaveNoRanksAmongEachOther)
{
	std::vector<model::Cell> cells = {cell_of("a"), cell_of("a"), cell_of("b"), cell_of("b")};
	cells[0].arm = cells[2].arm = "old";
	cells[1].arm = cells[3].arm = "new";
	const auto groups = rank(cells, {blocks_of(30), blocks_of(10), blocks_of(20), blocks_of(40)});
	ASSERT_EQ(groups.size(), 2u);
	EXPECT_EQ(groups[0].cells[0].cell, 2u);
	EXPECT_EQ(groups[0].cells[1].cell, 0u);
	EXPECT_EQ(groups[1].cells[0].cell, 1u);
	EXPECT_EQ(groups[1].cells[1].cell, 3u);
	EXPECT_EQ(groups[0].pairs.size() + groups[1].pairs.size(), 2u);
}

TEST(Ranking, HasTheFastestFirstAndRatiosToIt)
{
	const auto groups =
		rank({cell_of("slow"), cell_of("fast"), cell_of("middle")}, {blocks_of(30), blocks_of(10), blocks_of(20)});
	ASSERT_EQ(groups.size(), 1u);
	const auto &cells = groups[0].cells;
	ASSERT_EQ(cells.size(), 3u);
	EXPECT_EQ(cells[0].cell, 1u);
	EXPECT_EQ(cells[1].cell, 2u);
	EXPECT_EQ(cells[2].cell, 0u);
	EXPECT_FALSE(cells[0].to_fastest);
	ASSERT_TRUE(cells[1].to_fastest && cells[2].to_fastest);
	EXPECT_NEAR(cells[1].to_fastest->ratio, 2, 0.01);
	EXPECT_NEAR(cells[2].to_fastest->ratio, 3, 0.01);
	for (size_t place = 0; place < 3; ++place)
		EXPECT_EQ(cells[place].rank, (stats::Rank{place + 1, place + 1}));
	for (const ComparedPair &pair : groups[0].pairs) {
		EXPECT_TRUE(pair.told_apart());
		EXPECT_GE(pair.ratio.ratio, 1);
	}
}

TEST(Ranking, EqualsShareARange)
{
	const auto groups = rank({cell_of("a"), cell_of("b"), cell_of("slow")},
							 {blocks_of(10, 0.1, 0), blocks_of(10, 0.1, 2), blocks_of(30)});
	ASSERT_EQ(groups.size(), 1u);
	EXPECT_EQ(groups[0].cells[0].rank, (stats::Rank{1, 2}));
	EXPECT_EQ(groups[0].cells[1].rank, (stats::Rank{1, 2}));
	EXPECT_EQ(groups[0].cells[2].rank, (stats::Rank{3, 3}));
}

TEST(Ranking, ComparesLikeWithLike)
{
	model::Cell large = cell_of("a");
	large.payload_bytes = 4096;
	model::Cell none = cell_of("null");
	none.traits = {model::Trait::NotIpc};
	model::Cell as_fast_as_it_can = cell_of("a");
	as_fast_as_it_can.pattern = model::Pattern::Throughput;
	const std::vector<model::Cell> cells = {
		cell_of("a"), cell_of("a", model::Wait::Poll), large, none, as_fast_as_it_can, cell_of("b")};
	const auto groups = rank(cells, std::vector<Blocks>(cells.size(), blocks_of(10)));
	std::vector<std::vector<size_t>> found;
	for (const RankedGroup &group : groups) {
		found.emplace_back();
		for (const RankedCell &cell : group.cells)
			found.back().push_back(cell.cell);
	}
	EXPECT_EQ(found, (std::vector<std::vector<size_t>>{{0, 5}, {1}, {2}}));
}

TEST(Ranking, LeavesOutWhatSharesNoRounds)
{
	Blocks others = blocks_of(20);
	for (stats::BlockValue &block : others)
		block.round += 100;
	const auto groups = rank({cell_of("a"), cell_of("b"), cell_of("without blocks")}, {blocks_of(10), others, {}});
	ASSERT_EQ(groups.size(), 1u);
	EXPECT_EQ(groups[0].cells.size(), 2u);
	EXPECT_TRUE(groups[0].pairs.empty());
	EXPECT_EQ(groups[0].uncompared, 1u);
	for (const RankedCell &cell : groups[0].cells)
		EXPECT_TRUE(!cell.rank && !cell.to_fastest);
}

// Twelve cells are 66 pairs.
TEST(Ranking, CorrectsForTheNumberOfPairs)
{
	std::vector<model::Cell> cells;
	std::vector<Blocks> blocks;
	for (uint32_t i = 0; i < 12; ++i) {
		cells.push_back(cell_of("cell " + std::to_string(i)));
		blocks.push_back(blocks_of(10, 0.1, i));
	}
	const auto groups = rank(cells, blocks);
	std::vector<double> p;
	for (const ComparedPair &pair : groups[0].pairs)
		p.push_back(pair.ratio.p.value());
	const std::vector<double> corrected = stats::corrected(p);
	ASSERT_EQ(corrected.size(), 66u);
	EXPECT_LT(std::ranges::min(p), std::ranges::min(corrected));
	for (size_t i = 0; i < corrected.size(); ++i)
		EXPECT_EQ(groups[0].pairs[i].p, corrected[i]);
}

class RankedRun : public testing::Test {
protected:
	RankedRun()
	{
		for (const char *target : {"slow", "fast", "other"}) {
			CellResult &cell = result.cells.emplace_back();
			cell.cell = cell_of(target);
			cell.blocks.unprobed = 20;
			cell.times.latency.percentiles[0] = 5000;
			cell.times.latency.intervals[0] = stats::Interval{4900, 5100};
			result.head.cells.push_back(cell.cell);
		}
		result.ranking = rank(result.head.cells, {blocks_of(30), blocks_of(10, 0.1, 0), blocks_of(10, 0.1, 2)});
	}
	RunResult result;
};

TEST_F(RankedRun, HasRankAndRatioInTheRowOfItsCell)
{
	const std::string text = text::terminal_report(result, {.unicode = true, .width = 200, .verbose = true});
	const auto row = [&](const std::string &target) {
		const size_t at = text.find("\n  " + target + "  ");
		return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
	};
	const size_t first = result.ranking[0].cells[0].cell, second = result.ranking[0].cells[1].cell;
	EXPECT_NE(row(result.cells[first].cell.target).find("  1–2           1  "), std::string::npos) << text;
	EXPECT_NE(row(result.cells[second].cell.target).find("  1–2  1.0"), std::string::npos) << text;
	const stats::RoundRatio ratio = *result.ranking[0].cells[2].to_fastest;
	EXPECT_NE(row("slow").find(
				  fmt::format("    3  {:.2f} ±{:.2f}  ", ratio.ratio, (ratio.interval.high - ratio.interval.low) / 2)),
			  std::string::npos)
		<< text;
	EXPECT_TRUE(std::regex_search(text, std::regex("2 of 3\\s+pairs\\s+are\\s+told"))) << text;
}

TEST_F(RankedRun, HasEveryPairInRunJson)
{
	const std::vector<std::string> keys = {"key 0", "key 1", "key 2"};
	const auto json = exports::ranking_json(result, keys);
	ASSERT_EQ(json.size(), 1u);
	ASSERT_EQ(json[0]["pairs"].size(), 3u);
	for (size_t i = 0; i < 3; ++i) {
		const ComparedPair &pair = result.ranking[0].pairs[i];
		const auto &told = json[0]["pairs"][i];
		EXPECT_EQ(told["faster"], keys[pair.faster]);
		EXPECT_EQ(told["slower"], keys[pair.slower]);
		EXPECT_EQ(told["ratio"], pair.ratio.ratio);
		EXPECT_EQ(told["ratio_ci95"], (nlohmann::ordered_json{pair.ratio.interval.low, pair.ratio.interval.high}));
		EXPECT_EQ(told["p_value"], *pair.ratio.p);
		EXPECT_EQ(told["corrected_p_value"], *pair.p);
		EXPECT_EQ(told["told_apart"], pair.slower == 0);
	}
	const auto &last = json[0]["cells"][2];
	EXPECT_EQ(last["cell"], "key 0");
	EXPECT_EQ(last["rank"], (nlohmann::ordered_json{3, 3}));
}

TEST(Ranking, APairWhoseIntervalContainsOneIsNotToldApart)
{
	ComparedPair pair;
	pair.p = 0.001;
	pair.ratio.interval = {0.99, 1.03};
	EXPECT_FALSE(pair.told_apart()) << "another run may find them equal";
	pair.ratio.interval = {1.01, 1.03};
	EXPECT_TRUE(pair.told_apart());
	pair.ratio.interval = {0.95, 0.99};
	EXPECT_TRUE(pair.told_apart());
	pair.p = 0.1;
	EXPECT_FALSE(pair.told_apart());
	pair.p.reset();
	EXPECT_FALSE(pair.told_apart());
}

} // namespace
} // namespace icepath::analysis
