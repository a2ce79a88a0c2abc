// SPDX-License-Identifier: Apache-2.0
#pragma once
// What openings of a cell differ by: fresh processes that measured the same. What the luck of a process decides (addresses,
// page colours, hash seeds, which of two modes a pair of threads falls into) stays the same for all of its blocks, so blocks of
// one opening are more alike than those of two.
#include <cstdint>
#include <optional>
#include <vector>

namespace icepath::stats {

struct OpeningBlock {
	uint32_t opening = 0;
	bool treated = false; // probed
	double value = 0; // a percentile of the block, above 0; others are left out
};

// One way to fall out, of two.
struct Mode {
	double value = 0; // geometric mean of its openings
	size_t openings = 0;
};

struct Openings {
	// Of each opening the geometric mean of its untreated blocks, in the order of their numbers. Those without one are left out.
	std::vector<double> values;

	// Analysis of variance on the logarithms, treatment taken out. Missing where no opening has two blocks, or there is one
	// opening only, or no block differs from another of its opening.
	struct Difference {
		double f = 0; // variance of the openings' means over that of blocks within them, as if both were of blocks
		double p = 1; // that openings which are all alike give such a ratio or a larger one
		double between_sd =
			0; // of openings beside what their blocks explain, on the logarithms: about a share; 0: nothing is left
		double within_sd = 0; // of blocks of one opening, likewise
	};
	std::optional<Difference> difference;

	// Openings differ by more than blocks in them explain.
	bool differ() const { return difference && difference->p < kSure; }

	// Where they differ, and fall into two groups with little between them: the lower one first. Else empty. Of openings that are
	// spread evenly or normally less than 2 % are taken for two groups: see tests/stats/openings_test.cc.
	std::vector<Mode> modes;

	static constexpr double kSure = 0.001;
};

Openings look_at_openings(const std::vector<OpeningBlock> &blocks);

} // namespace icepath::stats
