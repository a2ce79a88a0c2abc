// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/named_cells.h"

#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"

namespace icepath::analysis {
namespace {

using model::Pattern;

model::Cell named_cell(const std::string &target, model::Wait wait, Pattern pattern = Pattern::PingPong,
					   uint64_t bytes = 64)
{
	model::Cell cell;
	cell.target = target;
	cell.wait = wait;
	cell.pattern = pattern;
	cell.payload_bytes = bytes;
	return cell;
}

class NamedCells : public testing::Test {
protected:
	const std::vector<model::Cell> cells = {named_cell("fastdds/udp", model::Wait::Callback), // 0
											named_cell("fastdds/udp", model::Wait::Epoll), // 1
											named_cell("udp", model::Wait::Block), // 2
											named_cell("udp", model::Wait::Epoll), // 3
											named_cell("cyclonedds/udp", model::Wait::Epoll)}; // 4
	std::vector<bool> measured = std::vector<bool>(5, true);

	using Places = std::vector<size_t>;
	using Pairs = std::vector<std::pair<size_t, size_t>>;
	Pairs pairs(const std::string &cell, const std::string &against) const
	{
		Pairs found;
		for (const PairOfCells &pair : pairs_named(cells, measured, {cell, against}))
			found.emplace_back(pair.cell, pair.against);
		return found;
	}
	std::string refusal(const std::string &cell, const std::string &against, ExitCode code = ExitCode::Usage) const
	{
		try {
			(void)pairs_named(cells, measured, {cell, against});
			return "";
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), code);
			return failure.what();
		}
	}
};

TEST_F(NamedCells, ATargetsNameMeansThatTargetsCells)
{
	EXPECT_EQ(cells_named(cells, "udp"), (Places{2, 3})) << "though the titles of all have it";
	EXPECT_EQ(cells_named(cells, "fastdds/udp"), (Places{0, 1}));
	EXPECT_EQ(cells_named(cells, "udp 64 B"), (Places{2, 3}));
}

TEST_F(NamedCells, AWholeTitleMeansThatCell)
{
	std::vector<model::Cell> longer = {named_cell("udp", model::Wait::Block), named_cell("udp", model::Wait::Block)};
	longer[0].levels.*model::kFactors[0].level = 7;
	ASSERT_TRUE(model::title(longer[0]).starts_with(model::title(longer[1]) + " ")) << model::title(longer[0]);
	EXPECT_EQ(cells_named(longer, model::title(longer[1])), Places{1});
}

TEST_F(NamedCells, OtherTextsMeanTheCellsThatHaveThem)
{
	EXPECT_EQ(cells_named(cells, "epoll"), (Places{1, 3, 4}));
	EXPECT_EQ(cells_named(cells, "ud"), (Places{0, 1, 2, 3, 4}));
	EXPECT_EQ(cells_named(cells, "cyclone"), Places{4});
	EXPECT_EQ(cells_named(cells, ""), (Places{0, 1, 2, 3, 4}));
	EXPECT_EQ(cells_named(cells, "tcp"), Places());
}

TEST_F(NamedCells, ComparesThoseThatAreMostAlike)
{
	EXPECT_EQ(pairs("fastdds/udp", "udp"), (Pairs{{1, 3}, {0, 2}})) << "by the same wait, before the first in the run";
	EXPECT_EQ(pairs("fastdds/udp 64 B pingpong callback", "udp"), (Pairs{{0, 2}})) << "udp has no callback";
	EXPECT_EQ(pairs("fastdds", "udp 64 B pingpong block").front(), (std::pair<size_t, size_t>(0, 2)));
	measured[3] = false;
	EXPECT_EQ(pairs("fastdds/udp", "udp"), (Pairs{{0, 2}, {1, 2}})) << "only with what was measured";
}

// The pattern and the size matter more than the wait.
TEST(CellsLikeAnother, HaveItsPatternAndSize)
{
	const std::vector<model::Cell> cells = {
		named_cell("tcp", model::Wait::Block), named_cell("udp", model::Wait::Block, Pattern::OneWay),
		named_cell("udp", model::Wait::Block, Pattern::PingPong, 4096), named_cell("udp", model::Wait::Epoll)};
	const auto found = pairs_named(cells, {true, true, true, true}, {"tcp", "udp"});
	EXPECT_EQ(found.front(), (PairOfCells{0, 3}));
	EXPECT_EQ(unlike(cells[0], cells[3]), std::vector<std::string>{"wait: block and epoll"});
	EXPECT_EQ(unlike(cells[0], cells[2]), std::vector<std::string>{"size: 64 B and 4 KiB"});
	EXPECT_EQ(unlike(cells[1], cells[3]),
			  (std::vector<std::string>{"pattern: oneway and pingpong", "wait: block and epoll"}));
}

TEST_F(NamedCells, OfOneTargetAreComparedWithEachOther)
{
	EXPECT_EQ(pairs("fastdds/udp", "fastdds/udp"), (Pairs{{0, 1}, {1, 0}}));
	EXPECT_EQ(pairs("cyclonedds/udp", "cyclonedds/udp"), (Pairs{{4, 4}})) << "for the caller to refuse";
}

TEST_F(NamedCells, OfSeveralTargetsAreRefusedWithTheirTitles)
{
	const std::string several = refusal("fastdds/udp", "epoll");
	EXPECT_NE(
		several.find("--against: cells of 3 targets have \"epoll\" in their titles: fastdds/udp 64 B pingpong epoll"),
		std::string::npos)
		<< several;
	EXPECT_NE(several.find("Name one target, as --against fastdds/udp"), std::string::npos) << several;
	EXPECT_NE(refusal("tcp", "udp").find("--cell: no cell has \"tcp\" in its title"), std::string::npos);
}

// What a text names doesn't depend on what was measured.
TEST_F(NamedCells, ThatWerentMeasuredAreNoOthers)
{
	measured[2] = measured[3] = false;
	EXPECT_NE(refusal("cyclonedds/udp", "udp", ExitCode::Invalid)
				  .find("--against: udp 64 B pingpong block was not measured: measure longer"),
			  std::string::npos)
		<< "fastdds/udp isn't meant";
}

TEST_F(NamedCells, OtherPairsAreNamedByTheirCommands)
{
	const std::pair<std::string, std::string> texts = {"fastdds/udp", "udp"};
	const auto others = other_pairs(cells, measured, texts).named;
	ASSERT_EQ(others.size(), 2u);
	EXPECT_EQ(others[0].options, "--cell 'fastdds/udp 64 B pingpong callback' --against 'udp 64 B pingpong block'");
	EXPECT_EQ(others[1].pair, (PairOfCells{1, 2})) << "another cell of udp, beside that of the first pair";
	EXPECT_TRUE(other_pairs(cells, measured, {"cyclonedds/udp", "fastdds/udp 64 B pingpong epoll"}).named.empty());
}

TEST_F(NamedCells, APairIsNotNamedOnceMoreTheOtherWayRound)
{
	ASSERT_EQ(pairs("fastdds/udp", "fastdds/udp").size(), 2u);
	const OtherPairs others = other_pairs(cells, measured, {"fastdds/udp", "fastdds/udp"});
	EXPECT_TRUE(others.named.empty());
	EXPECT_EQ(others.unnamed, 0u);
}

TEST_F(NamedCells, PairsThatNoTitleNamesAreCounted)
{
	std::vector<model::Cell> many = cells;
	many.push_back(cells[2]);
	const OtherPairs others = other_pairs(many, std::vector<bool>(many.size(), true), {"cyclonedds/udp", "udp"});
	EXPECT_TRUE(others.named.empty());
	EXPECT_EQ(others.unnamed, 2u);
}

// Each is compared with every other.
TEST(ManyCells, AreComparedInATimeThatAReaderWaits)
{
	std::vector<model::Cell> many;
	for (uint64_t i = 0; i < 2048; ++i)
		many.push_back(named_cell("udp", i % 2 ? model::Wait::Block : model::Wait::Epoll, Pattern::PingPong, i));
	EXPECT_EQ(other_pairs(many, std::vector<bool>(many.size(), true), {"udp", "udp"}).unnamed, 0u);
}

// Each command, parsed as a shell does, names its pair.
TEST_F(NamedCells, CommandsNameTheirPairs)
{
	std::vector<model::Cell> many = cells;
	many.push_back(named_cell("udp", model::Wait::Spin));
	const std::vector<bool> all(many.size(), true);
	const auto others = other_pairs(many, all, {"fastdds/udp", "udp"}).named;
	ASSERT_EQ(others.size(), 3u);
	EXPECT_EQ(others[2].pair, (PairOfCells{1, 5}));
	EXPECT_EQ(others[2].options, "--cell 'fastdds/udp 64 B pingpong epoll' --against 'udp 64 B pingpong spin'");
	EXPECT_EQ(pairs_named(many, all, {"fastdds/udp 64 B pingpong epoll", "udp 64 B pingpong spin"}).front(),
			  (PairOfCells{1, 5}));
}

TEST(ShellWord, IsQuotedWhereAShellWouldReadMoreInIt)
{
	EXPECT_EQ(shell_word("fastdds/udp"), "fastdds/udp");
	EXPECT_EQ(shell_word("udp 64 B"), "'udp 64 B'");
	EXPECT_EQ(shell_word("a'b;c"), "'a'\\''b;c'");
	EXPECT_EQ(shell_word(""), "''");
	EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
}

} // namespace
} // namespace icepath::analysis
