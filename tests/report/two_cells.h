// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run of two pingpong cells in the same rounds.
#include <cstdint>
#include <functional>
#include <string>

#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"

namespace icepath {

struct TwoCells {
	std::string first, second; // targets
	// Of a message: see BlockPlan.
	std::function<uint64_t(uint32_t cell, uint32_t round, uint64_t seq)> delay_ns;
	bool probed = true; // every second round
	uint32_t rounds_of_opening = 2;
	uint64_t messages = 100;
	model::Wait wait = model::Wait::Block; // of the first cell
};

inline void write_two_cells(const std::string &path, const TwoCells &cells)
{
	model::Head head = small_head();
	head.cells = {socket_cell(model::Pattern::PingPong), socket_cell(model::Pattern::PingPong)};
	head.cells[0].target = cells.first;
	head.cells[0].wait = cells.wait;
	head.cells[1].target = cells.second;
	rundir::Writer writer(path, head);
	for (uint32_t round = 0; round < 24; ++round)
		for (uint32_t cell = 0; cell < 2; ++cell) {
			BlockPlan plan;
			plan.cell = cell;
			plan.round = round;
			plan.probed = cells.probed && (round % 4 == 1 || round % 4 == 2);
			plan.messages = cells.messages;
			plan.delay_ns = [&](uint64_t seq, size_t) { return cells.delay_ns(cell, round, seq); };
			model::Block block = make_block(head.cells[cell], plan);
			block.opening = round / cells.rounds_of_opening;
			writer.add(block);
		}
	writer.finish({});
}

} // namespace icepath
