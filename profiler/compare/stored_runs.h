// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two stored runs. They share no round, so neither's times can be compared with the other's: the machine's state may be
// another. What can be compared is how a cell's time stands to that of a cell that doesn't depend on what has changed,
// the anchor, in the same rounds of either run:
//
//     log(B / A) = log(cell / anchor) in run B - log(cell / anchor) in run A
//
// with the sum of both variances. Such ratios differ from run to run by more than that, since the machine slows one
// cell more than another. How far they lie apart is known from runs of the same as A on the same machine (`repeats`),
// and a verdict is given only beyond the margin and that drift together. Two runs are never the same by this: nothing
// shows that what the repeats didn't meet isn't there. To tell more, measure both as arms of one run.
#include <optional>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"

namespace icepath::compare {

struct StoredRun {
	std::string name; // its directory
	const analysis::RunResult *run = nullptr; // analysed with Wanted::block_figures
};

struct HowToCompare {
	double delta = kUsualDelta;
	// A part of the anchor's title, as named_cells.h takes it; empty: a transport of the kernel's of the same load.
	std::string anchor = {};
	std::vector<StoredRun> repeats = {}; // of the same as A; kLeastRepeats or more tell the drift
};

inline constexpr size_t kLeastRepeats = 2;

// `repeats` are of A's machine and settings. The runs outlive the result.
Comparison compare_runs(const StoredRun &a, const StoredRun &b, const HowToCompare &how);

} // namespace icepath::compare
