// SPDX-License-Identifier: Apache-2.0
// Resolving a run: which blocks, in which order, and independent of the number of threads.
#include "profiler/resolve/resolve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "profiler/failure.h"
#include "profiler/resolve/joined.h"
#include "profiler/rundir/container.h"
#include "profiler/rundir/limits.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::resolve {
namespace {

// Everything in a path, so that any difference shows.
std::string text_of(const path::Path &path)
{
	std::string text = fmt::format("{} {} {}", static_cast<int>(path.reason), path.send_ns, path.recv_ns);
	for (const path::Segment &segment : path.segments)
		text += fmt::format(" {}{}@{}", model::name(segment.layer), model::name(segment.part), segment.end.at_ns);
	return text;
}

struct Visited : Visitor {
	bool wants(const model::Block &block) override
	{
		asked.push_back(block.window->round);
		return !leaves_out || block.cell != *leaves_out;
	}
	void visit(const ResolvedBlock &resolved) override
	{
		numbers.push_back(resolved.number);
		EXPECT_EQ(resolved.paths.size(), resolved.seen.deliveries.size());
		for (const path::Path &path : resolved.paths)
			texts.push_back(text_of(path));
		if (numbers.size() == fails_at)
			throw std::runtime_error("enough");
	}
	std::optional<uint32_t> leaves_out;
	size_t fails_at = 0; // visits
	std::vector<uint32_t> asked; // rounds
	std::vector<uint64_t> numbers; // of blocks
	std::vector<std::string> texts;
};

class Resolve : public testing::Test {
protected:
	void SetUp() override
	{
		write_small_run(run);
		rundir::Reader reader(run);
		for (uint64_t number = 0; const auto window = reader.next();)
			for (const model::Block &block : window->blocks)
				if (const uint64_t its_number = number++; window->window->probed) {
					probed.push_back({its_number, block.cell});
					for (const model::BlockFlow &flow : block.flows)
						received += static_cast<size_t>(std::ranges::count(flow.recvs, 0u, &model::RecvStamp::flags));
				}
		ASSERT_GE(probed.size(), 8u);
	}
	std::vector<uint64_t> numbers_of(std::optional<uint32_t> cell = {}) const
	{
		std::vector<uint64_t> numbers;
		for (const auto &[number, of] : probed)
			if (!cell || of == *cell)
				numbers.push_back(number);
		return numbers;
	}
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	std::vector<std::pair<uint64_t, uint32_t>> probed; // number, cell
	size_t received = 0; // messages of these, without warm-up
};

TEST_F(Resolve, VisitsEachProbedBlockInOrderByAnyNumberOfThreads)
{
	Visited by_one;
	resolve(run, by_one, {.threads = 1});
	EXPECT_EQ(by_one.numbers, numbers_of());
	EXPECT_EQ(by_one.asked.size(), probed.size()) << "unprobed blocks aren't asked for";
	EXPECT_EQ(by_one.texts.size(), received);
	ASSERT_GE(received, 1000u);
	for (const unsigned threads : {0u, 2u, 3u, 64u}) {
		Visited visited;
		resolve(run, visited, {.threads = threads});
		EXPECT_EQ(visited.numbers, by_one.numbers) << threads;
		EXPECT_EQ(visited.texts, by_one.texts) << threads;
	}
}

TEST_F(Resolve, LeavesOutWhatIsNotWanted)
{
	Visited visited;
	visited.leaves_out = 0;
	resolve(run, visited);
	EXPECT_EQ(visited.numbers, numbers_of(1));
}

TEST_F(Resolve, GoesNoFurtherThanItIsTold)
{
	const uint64_t last = numbers_of()[2];
	for (const uint64_t blocks : {last, last + 1}) {
		Visited visited;
		resolve(run, visited, {.blocks = blocks});
		EXPECT_EQ(visited.numbers.size(), blocks - last + 2);
	}
}

TEST_F(Resolve, StopsWhereTheVisitorThrows)
{
	Visited visited;
	visited.fails_at = 2;
	EXPECT_THROW(resolve(run, visited, {.threads = 3}), std::runtime_error);
	EXPECT_EQ(visited.numbers.size(), 2u);
}

// A window is decoded once: what one of its blocks does with that changes nothing for another.
TEST_F(Resolve, FindsTheSamePathsInBlocksThatShareAWindow)
{
	rundir::Reader reader(run);
	auto window = reader.next();
	while (window && (!window->window->probed || window->blocks.front().cell != 0))
		window = reader.next();
	ASSERT_TRUE(window);
	const model::Block &block = window->blocks.front();
	std::vector<std::string> alone;
	for (const size_t copies : {1u, 5u}) {
		model::Head head = reader.head();
		head.cells.assign(copies, head.cells[0]);
		std::vector<model::Block> blocks(copies, block);
		for (uint32_t i = 0; i < copies; i++)
			blocks[i].cell = i;
		const std::string folder = temporary.path(fmt::format("of {}", copies));
		rundir::Writer writer(folder, head);
		writer.add(*window->window, blocks);
		writer.finish({});
		std::vector<unsigned> runs(40, 3); // in a single one, threads seldom meet in the window
		runs.front() = 1;
		for (const unsigned threads : runs) {
			Visited visited;
			resolve(folder, visited, {.threads = threads});
			ASSERT_EQ(visited.numbers.size(), copies);
			if (alone.empty())
				alone = visited.texts;
			ASSERT_GE(alone.size(), 100u);
			std::vector<std::string> expected;
			for (size_t i = 0; i < copies; i++)
				expected.insert(expected.end(), alone.begin(), alone.end());
			EXPECT_EQ(visited.texts, expected) << copies << " blocks by " << threads << " threads";
		}
	}
}

// What is kept of a continued capture doesn't grow with it.
TEST(Joined, KeepsTheLastNamesOfThreads)
{
	JoinWindows windows;
	constexpr uint32_t kEach = 5000, kWindows = 20;
	static_assert(kEach * kWindows > rundir::kMaxKeptThreads + 3 * kEach);
	std::vector<JoinedBlock> blocks;
	for (uint32_t n = 0; n < kWindows; ++n) {
		auto window = std::make_shared<model::Window>();
		window->begins_midway = n > 0;
		window->ends_midway = true;
		model::SlotCapture &slot = window->slots.emplace_back(model::SlotCapture{.cpu = 1, .records = {}});
		for (uint32_t i = 0; i < kEach; ++i) {
			icepath_record record{};
			record.type = ICEPATH_RECORD_THREAD;
			record.tid = n * kEach + i;
			slot.records.push_back(record);
		}
		blocks = windows.add({window, std::vector<model::Block>(1)});
	}
	const std::vector<icepath_record> &records = blocks.at(0).block.window->slots.at(0).records;
	EXPECT_EQ(records.size(), rundir::kMaxKeptThreads + 3 * kEach);
	EXPECT_EQ(records.back().tid, kWindows * kEach - 1);
	EXPECT_EQ(records.front().tid, kWindows * kEach - records.size());
}

TEST_F(Resolve, RefusesWhatIsNoRun)
{
	Visited visited;
	EXPECT_THROW(resolve(temporary.path("nowhere"), visited), Failure);
}

} // namespace
} // namespace icepath::resolve
