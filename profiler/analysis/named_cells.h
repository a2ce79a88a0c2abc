// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cells of a run a text of the command line names: one definition for all outputs.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/model/cell.h"

namespace icepath::analysis {

// The cells whose title is `text`; if there are none, those whose title begins with it up to the end of a word, as with
// a target's name; if there are none either, those whose title contains it. All of them if it is empty.
std::vector<size_t> cells_named(const std::vector<model::Cell> &cells, const std::string &text);
std::vector<size_t> cells_named(const RunResult &result, const std::string &text);

// Of the cells that `text` of `option` names, those that were measured (by cell). `how`: "" or " with probes".
// Throws Failure(Usage) if it names none, and Failure(Invalid) if none of these was measured.
std::vector<size_t> measured_cells_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
										 const std::string &text, const std::string &option, const std::string &how);

// The keys of all cells: `key` in run.json, and what patterns of gates match.
std::vector<std::string> keys_of(const std::vector<model::Cell> &cells);
std::vector<std::string> keys_of(const RunResult &result);

// What differs besides the target: "wait: epoll and block". The aspect by which cells are least alike comes first.
std::vector<std::string> unlike(const model::Cell &a, const model::Cell &b);

struct PairOfCells {
	size_t cell = 0, against = 0;
	friend bool operator==(const PairOfCells &, const PairOfCells &) = default;
};

// The pairs that two texts name: each cell of the first with the cell of the second that is most like it. The pair that
// is most alike comes first, of those that are equally so the one that comes first in the run. `measured`: by cell.
// Throws as measured_cells_named() does, and Failure(Usage) if a text names cells of several targets.
std::vector<PairOfCells> pairs_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
									 const std::pair<std::string, std::string> &texts);

// The pairs that the texts name besides the first one, including those of its cell with others of the second text. Two
// cells make one pair, whichever comes first. With the options that name each: "--cell 'tcp 64 B pingpong block'
// --against 'udp 64 B pingpong epoll'".
struct OtherPair {
	PairOfCells pair;
	std::string options;
};
struct OtherPairs {
	std::vector<OtherPair> named;
	size_t unnamed = 0; // pairs of a cell whose title another cell has as well
};
OtherPairs other_pairs(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
					   const std::pair<std::string, std::string> &texts);

// The text as a word of a shell command, quoted if need be.
std::string shell_word(const std::string &text);

} // namespace icepath::analysis
