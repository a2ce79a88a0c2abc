// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks from comparisons of pairs. With many pairs some differ by chance, so each probability is corrected for their
// number (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6,
// 1979): in 95 % of all runs, no pair of equals is told apart.
//
// A rank is then a range: from one more than the number of cells that are faster for certain, to the number of all less
// those that are slower for certain. In 95 % of all runs all ranges together contain the true ranks (Al Mohamad, Goeman
// and van Zwet, "Simultaneous Confidence Intervals for Ranks With Application to Ranking Institutions", Biometrics 78,
// 2022).
// Cells with one range are equal as far as the run shows. Cells with ranges that overlap needn't be: if A and B can't
// be told apart, nor B and C, A and C still may be.
#include <cstddef>
#include <vector>

namespace icepath::stats {

inline constexpr double kToldApart = 0.05; // a corrected probability below it: the pair differs

// Holm's corrected probabilities, in the order of `p` (each 0 to 1). At most 1, and never less than what they correct.
std::vector<double> corrected(const std::vector<double> &p);
// Likewise, in place.
void correct(const std::vector<double *> &p);

struct Rank {
	size_t first = 1, last = 1; // from 1; first <= last
	friend bool operator==(const Rank &, const Rank &) = default;
};

struct Order {
	size_t faster = 0, slower = 0; // indices
};

// Ranks of `count` cells, by index; `told`: the pairs that differ, each at most once.
std::vector<Rank> ranks_of(size_t count, const std::vector<Order> &told);

} // namespace icepath::stats
