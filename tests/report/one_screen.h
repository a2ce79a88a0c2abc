// SPDX-License-Identifier: Apache-2.0
#pragma once
// Made results, without a file: what a report of many cells looks like.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/run_result.h"
#include "profiler/model/layers.h"

namespace icepath {

struct Piece {
	model::Layer layer = model::Layer::SenderKernel;
	model::Part part = model::Part::None;
	uint64_t ns = 0;
};

// A cell under pingpong of 64 B, whose typical messages all have these pieces. Its p50 is their sum; half of the
// interval is a twentieth of it.
analysis::CellResult made_cell(const std::string &target, const std::vector<Piece> &pieces);

// All of whose messages with probes are in `layer`; `of_hundred` of a hundred of those without them.
analysis::CellMode made_mode(model::Layer layer, uint64_t ns, uint64_t of_hundred);

// With the cells as they are, compared in 20 rounds that all of them share. The p50 wobbles by `wobble` from round to
// round.
analysis::RunResult made_run(std::vector<analysis::CellResult> cells, double wobble = 0.01);

// 35 cells: stamps alone and eight targets under pingpong of 64 B and 4 KiB and oneway, eight targets sparsely.
analysis::RunResult run_of_35_cells();

} // namespace icepath
