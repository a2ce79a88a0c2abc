// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/analysis/cell_figures.h"
#include "profiler/analysis/rate_outcomes.h"
#include "profiler/analysis/worker_gaps.h"
#include "profiler/resolve/resolve.h"
#include "profiler/rundir/container.h"

namespace icepath::analysis {
namespace {

using model::Block;

// How many values of a quantity a cell keeps.
size_t most_values(size_t cells, const Wanted &wanted)
{
	constexpr size_t kLeast = 1u << 15; // a default run's cells have as many
	const size_t most = wanted.most_values / 4;
	return std::clamp(wanted.most_values / std::max<size_t>(cells, 1), std::min(kLeast, most), most);
}

class AddPaths : public resolve::Visitor {
public:
	// `places`: each block's index among its cell's blocks, in the order of the run.
	AddPaths(RunResult &result, const std::vector<size_t> &places, const Wanted &wanted)
		: result_(result), places_(places), wanted_(wanted)
	{}
	bool wants(const Block &block) override
	{
		const auto &search = result_.cells[block.cell].search;
		return !search || search->uses(block);
	}
	bool wants_sampled() const override { return true; }
	void visit(const resolve::ResolvedBlock &resolved) override
	{
		CellResult &cell = result_.cells[resolved.block.cell];
		add_paths(resolved, wanted_, cell, cell.capture.by_block.at(places_[resolved.number]));
		if (!resolved.block.window->is_sampled())
			interference_.add(resolved, cell.cell);
	}
	std::vector<model::CpuNoise> interference() const { return interference_.take(); }

private:
	WorkerGaps interference_;
	RunResult &result_;
	const std::vector<size_t> &places_;
	const Wanted &wanted_;
};

std::vector<CellResult> cells_of(const model::Head &head, std::vector<std::optional<rate::Outcome>> searches)
{
	std::vector<CellResult> cells;
	for (const model::Cell &cell : head.cells) {
		cells.emplace_back().cell = cell;
		cells.back().system_calls = SystemCalls(head);
		cells.back().search = std::move(searches.at(cells.size() - 1));
	}
	return cells;
}

std::vector<RankedGroup> ranking_of(const RunResult &result)
{
	std::vector<std::vector<stats::BlockValue>> blocks;
	for (const CellResult &cell : result.cells)
		blocks.push_back(cell.compared);
	return rank(result.head.cells, blocks, static_cast<double>(result.measured_ns));
}

// First pass. Returns each block's index among its cell's blocks.
std::vector<size_t> add_stamps(rundir::Reader &reader, const Wanted &wanted, RunResult &result)
{
	std::vector<size_t> places;
	std::vector<StampFigures> figures(result.cells.size(),
									  StampFigures(most_values(result.cells.size(), wanted), wanted.block_figures));
	result.measured_ns = 0;
	while (const auto window = reader.next())
		for (const Block &block : window->blocks) {
			result.measured_ns += block.window->finish.monotonic_ns - block.window->begin.monotonic_ns;
			CellResult &cell = result.cells[block.cell];
			places.push_back(cell.capture.by_block.size());
			cell.capture.add(block, window->blocks.size() - 1, window->records);
			figures[block.cell].add(block, cell);
		}
	for (size_t i = 0; i < figures.size(); ++i) // frees them before the next
		std::exchange(figures[i], StampFigures(0)).describe(result.cells[i], wanted);
	for (CellResult &cell : result.cells)
		leave_out_beyond(result.measured_ns, cell);
	return places;
}

} // namespace

RunResult analyse(const std::string &run, const Wanted &wanted)
{
	RunResult result;
	result.tail_from = wanted.tail.value_or(stats::kP99);
	std::vector<size_t> places;
	{
		rundir::Reader reader(run, rundir::Contents::WithoutRecords);
		result.head = reader.head();
		if (result.head.attached)
			return result;
		result.cells = cells_of(result.head, search_outcomes(run, result.head.cells));
		places = add_stamps(reader, wanted, result);
		result.tail = reader.tail();
		result.truncated = reader.truncated();
	}
	result.ranking = ranking_of(result);
	for (size_t i = 0; result.tail && i < std::min(result.cells.size(), result.tail->failed_openings.size()); ++i)
		result.cells[i].openings.failed = result.tail->failed_openings[i];
	AddPaths add_paths(result, places, wanted);
	resolve::resolve(run, add_paths,
					 {.blocks = places.size()}); // only what the first pass read: the run may still be active
	result.interference = add_paths.interference();
	return result;
}

} // namespace icepath::analysis
