// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a cell's openings differ: fresh processes that measured the same. What chance fixes for a process (addresses,
// page colours, hash seeds, which of two modes a pair of threads falls into) is the same in all of its blocks, so
// blocks of one opening are more alike than those of two.
#include <cstdint>
#include <optional>
#include <vector>

namespace icepath::stats {

struct OpeningBlock {
	uint32_t opening = 0;
	bool treated = false; // probed
	double value = 0; // a percentile of the block, above 0; other values are left out
};

// One of two groups of openings.
struct Mode {
	double value = 0; // geometric mean of its openings
	size_t openings = 0;
};

struct Openings {
	// The geometric mean of each opening's untreated blocks, by opening number. Omits openings without one.
	std::vector<double> values;

	// Analysis of variance on the logarithms, with the treatment's effect removed. Missing if no opening has two
	// blocks, there is only one opening, or no block differs from others of its opening.
	struct Difference {
		double f = 0; // variance of the openings' means over that of blocks within them, both scaled to blocks
		double p = 1; // probability of such a ratio or a larger one if all openings are alike
		// Spread of openings beyond what their blocks explain, on the logarithms, so roughly a relative spread; 0:
		// nothing is left.
		double between_sd = 0;
		double within_sd = 0; // of blocks within an opening, on the same scale
	};
	std::optional<Difference> difference;

	// Whether openings differ by more than blocks within them explain.
	bool differ() const { return difference && difference->p < kSure; }

	// Two groups with a clear gap, the lower one first, if openings differ and have such groups; otherwise empty. Of
	// openings with an even or normal spread, less than 2 % are taken for two groups: see tests/stats/openings_test.cc.
	std::vector<Mode> modes;

	static constexpr double kSure = 0.001;
};

Openings look_at_openings(const std::vector<OpeningBlock> &blocks);

} // namespace icepath::stats
