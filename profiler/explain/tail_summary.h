// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tails of all cells together: what they are made of, by cause; which cells are unlike the rest; what to change.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/tail.h"

namespace icepath::explain {

// What takes time from tails.
struct CauseOfTails {
	// Of the task, interrupt or timer. Empty: several of the origin, and not told which; code of the message itself; or
	// no named cause.
	std::string name;
	std::optional<analysis::Origin> origin; // nothing: code of the message itself, or no named cause
	bool is_own_code = false;
	std::vector<size_t> cells; // in whose tails it takes a tenth of the growth or more, most of it first
	std::vector<double> shares; // of the growth of each of them, at most 1
};

// A remedy of several tails.
struct RemedyOfTails {
	Remedy remedy; // of the cell of which it is the largest share
	size_t cell = 0; // that one
	size_t cells = 0;
	double least_share = 1, largest_share = 0; // of the growth
};

struct TailSummary {
	std::array<size_t, kTailVerdicts.size()> verdicts{}; // cells by TailVerdict
	std::vector<CauseOfTails> causes; // those of most cells first
	// Cells whose tail is more times as long as a typical message than kUnlike times the median cell's, the longest
	// first, and how many times it is.
	std::vector<std::pair<size_t, double>> unlike;
	std::optional<double> median_times; // of all cells with a tail that is told
	std::vector<RemedyOfTails> remedies; // those of most cells first
};

inline constexpr double kUnlike = 3;

// `tails`: of `cells`, by index.
TailSummary summary_of(const std::vector<size_t> &cells, const std::vector<TailExplanation> &tails);

} // namespace icepath::explain
