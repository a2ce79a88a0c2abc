// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of runs with what comparisons look at: figures of each block, of cells and arms as a test wants them.
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/model/arm.h"

namespace icepath::compare {

// What a cell has in each block beside noise: times over 10 µs, and a share of lost messages.
struct MadeCell {
	std::string target = "lib";
	std::string arm = {};
	double times = 1;
	double lost = 0; // in one block of four
	uint32_t rounds = 120, rounds_of_opening = 2;
	std::string kind = model::kAdapter;
};

inline analysis::BlockFigures made_figures(const MadeCell &made, std::mt19937_64 &random, double noise)
{
	std::normal_distribution<double> normal(0, noise);
	analysis::BlockFigures figures;
	for (uint32_t round = 0; round < made.rounds; ++round) {
		const uint32_t opening = round / made.rounds_of_opening;
		const double state = 1 + 0.3 * std::sin(round / 5.0); // of the machine
		const auto add = [&](std::vector<stats::BlockValue> &blocks, double value) {
			blocks.push_back({round, false, value, opening});
		};
		const double ns = 10'000 * state * made.times;
		add(figures.mean_ns, ns * std::exp(normal(random)));
		add(figures.p50_ns, ns * std::exp(normal(random)));
		add(figures.p99_ns, 3 * ns * std::exp(normal(random)));
		add(figures.cpu_ns, ns * std::exp(normal(random)));
		add(figures.lost, round % 4 == 0 ? made.lost : 0);
	}
	return figures;
}

// Of the cells, in the order given. Arms are those that they name, "base-again" the control.
inline analysis::RunResult made_run(const std::vector<MadeCell> &cells, uint64_t seed = 1, double noise = 0.01)
{
	std::mt19937_64 random(seed);
	analysis::RunResult run;
	run.head.budget_s = 60;
	run.head.host.hostname = "here";
	run.head.host.kernel = "6.1";
	run.tail.emplace();
	for (const MadeCell &made : cells) {
		analysis::CellResult &cell = run.cells.emplace_back();
		cell.cell.target = made.target;
		cell.cell.arm = made.arm;
		cell.cell.kind = made.kind;
		cell.block_figures = made_figures(made, random, noise);
		cell.compared = cell.block_figures.mean_ns;
		run.head.cells.push_back(cell.cell);
		if (!made.arm.empty() && !model::find_arm(run.head.arms, made.arm)) {
			model::Arm &arm = run.head.arms.emplace_back();
			arm.name = made.arm;
			arm.is_control = made.arm == model::control_name("base");
		}
	}
	return run;
}

} // namespace icepath::compare
