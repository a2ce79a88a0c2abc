// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether two cells are the same but for a difference that doesn't matter, and how many openings it takes to say so.
//
// That a difference isn't told from 0 doesn't show that there is none: a short run tells nothing apart. So cells are
// the same if both "it is `limit` or more" and "it is -limit or less" are rejected at 5 % (two one-sided tests:
// Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), with the variance of another run, slow
// changes included (round_difference.h). Cells whose true difference is the limit are then called the same in 5 % of
// the runs or less.
//
// A mean that leaves out nothing can't tell what happens in so few rounds that none of them was met. If a share q of
// all rounds differs by `unseen`, the true mean differs by q · unseen, and n openings meet none of these rounds with
// probability exp(-q n) or less. So 3 / n · unseen is taken off the limit: a larger difference would have shown itself
// in 95 % of the runs (the rule of three: Hanley and Lippman-Hand, JAMA 249, 1983).
//
// How many openings are needed follows from the variance between those of this run: with so many, equals are called
// the same in 80 % of the runs or more, and a difference of the limit is told from 0 in 80 % or more. Where many
// differences are looked at, one is told only if its probability, corrected for their number (ranks.h), is small, and
// that takes more openings. Their number is where both probabilities, averaged over what this run leaves open, are
// kPower or more: over the true variance, over what the next run estimates of it, and over how alike its stretches
// happen to be (predictive power: Spiegelhalter, Freedman and Parmar, Journal of the Royal Statistical Society A 157,
// 1994).
#include <cstddef>
#include <optional>

#include "profiler/stats/round_difference.h"

namespace icepath::stats {

inline constexpr double kSame = 0.05; // a probability below it: both cells are the same
inline constexpr double kPower = 0.8;

// The difference that counts as none.
struct Margin {
	double limit = 0; // above 0, in the unit of RoundDifference::mean
	double unseen = 0; // what a round may differ by of which none was met; 0: such rounds are left out anyway
};

// The probability of such a mean, or of one nearer to 0, if the true one is at the margin's limit. Missing with fewer
// than kMinBlocks openings. 1 where `unseen` leaves nothing of the limit.
std::optional<double> p_of_margin(const RoundDifference &difference, const Margin &margin);

// How often equals are called the same by `openings`, by what `difference` shows of its variance.
double power_to_call_same(const RoundDifference &difference, const Margin &margin, size_t openings);

// Likewise how often a difference of the margin's limit is told from 0 by an uncorrected probability below
// `told_below`.
double power_to_tell(const RoundDifference &difference, const Margin &margin, size_t openings, double told_below);

// The least number of openings with which both are kPower or more. Nothing with fewer than kMinBlocks openings, or if
// more than kMostOpenings are needed.
inline constexpr size_t kMostOpenings = 1u << 20;
std::optional<size_t> openings_needed(const RoundDifference &difference, const Margin &margin, double told_below);

} // namespace icepath::stats
