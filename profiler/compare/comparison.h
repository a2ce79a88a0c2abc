// SPDX-License-Identifier: Apache-2.0
#pragma once
// B compared with A, cell by cell, as data: two arms of one run, or two runs. Lays nothing out, and has no sentence.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/compare/differing_conditions.h"
#include "profiler/compare/judged.h"
#include "profiler/explain/against.h"
#include "profiler/model/cell_key.h"

namespace icepath::compare {

inline constexpr double kUsualDelta = 0.03;

struct ComparedCell {
	model::CellKey key; // without an arm
	// Indices in the run of each side; nothing: it has no such cell.
	std::optional<size_t> a, b;
	std::optional<size_t> control; // of A once more
	std::optional<size_t> anchor_a, anchor_b; // of two runs: cells that don't depend on what is compared
	std::vector<Condition> conditions; // that differ
	JudgedFigures figures;
	// Where the time of typical messages differs, as `icepath explain --against` finds it. Nothing: the mean neither
	// differs nor leans, or the cells are of two runs.
	std::optional<explain::Against> against;
};

struct Comparison {
	std::string a, b; // names of arms, or of runs' directories
	bool is_of_one_run = true;
	bool is_whole = true; // the run, or both: otherwise nothing is the same or faster
	std::string control = {}; // arm that measured A once more; empty: none
	double delta = kUsualDelta;
	bool is_one_build = false; // arms of which another build was asked for, and both had loaded the same files
	std::vector<Condition> conditions = {}; // of the runs, that differ
	size_t repeats = 0; // runs of the same as A, by which two runs' drift is known
	std::vector<ComparedCell> cells = {}; // in the order of A's, then those that only B has

	// Whether any figure has been looked at: otherwise nothing was compared.
	bool has_compared() const;
};

} // namespace icepath::compare
