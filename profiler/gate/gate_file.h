// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gates: which cells, and what is expected of them. A file of them is TOML:
//
//     undecided = "fail"                   # or "warn"; of gates that say nothing themselves
//
//     [[gate]]
//     name = "TCP stays quick"             # may be left out
//     cells = ["tcp pingpong * 64B *"]     # patterns of keys, with * and ?
//     expect = ["p50 < 40us", "tail99(runqueue) < 30us", "lost == 0"]
//     undecided = "warn"
#include <string>
#include <string_view>
#include <vector>

#include "profiler/gate/expectation.h"
#include "profiler/model/arm.h"
#include "profiler/model/cell.h"

namespace icepath::gate {

enum class Undecided : uint8_t { Fails, Warns };
inline constexpr const char *kUndecidedNames[] = {"fail", "warn"};

// A cell that gates may be about.
struct GatedCell {
	std::string key;
	std::string control = {}; // its arm, if that is an arm measured once more; else empty
};
// In the order of `cells`, of a run with these arms.
std::vector<GatedCell> gated_cells(const std::vector<model::Cell> &cells, const std::vector<model::Arm> &arms);

struct Gate {
	std::string name;
	std::vector<std::string> cells; // patterns of model::CellKey's text
	std::vector<Expectation> expectations;
	Undecided undecided = Undecided::Fails;
	bool holds(const GatedCell &cell) const; // one of its patterns means the cell
};

// '*' stands for any characters, '?' for one. Takes time for the product of both lengths at most.
bool matches(std::string_view pattern, std::string_view text);

// Whether the pattern matches the cell's key. A control shows whether equals differ, and nothing is expected of it
// unless the pattern has its name.
bool means(std::string_view pattern, const GatedCell &cell);

// A gate of all cells.
Gate gate_of_all(const std::vector<std::string> &expectations, const std::string &place);

inline constexpr size_t kMostFileBytes = 1u << 18;

// `place` stands before what is wrong: the file's name. Throws Failure(Usage) with the line and what is wrong: bytes
// that aren't TOML, a name that isn't known, a gate without cells or without expectations, no gate at all.
std::vector<Gate> parse_gates(std::string_view text, const std::string &place);
// Likewise, and if the file can't be read.
std::vector<Gate> read_gates(const std::string &path);

} // namespace icepath::gate
