// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tails of distributions, which tests and intervals need.

namespace icepath::stats {

// The value that Student's t with `degrees` (> 0) of freedom exceeds with probability `outside` / 2: half the width of
// an interval in standard errors, that of 95 % with 0.05.
double t_within(double outside, double degrees);
inline double t_975(double degrees) { return t_within(0.05, degrees); }

// The probability that Student's t is further from 0, on either side, than `t` (>= 0).
double t_beyond(double t, double degrees);

// The probability that Fisher's F with these degrees of freedom (each > 0) exceeds `f` (>= 0).
double f_beyond(double f, double numerator, double denominator);

// The probability that a chi-squared number with `degrees` (> 0) of freedom is below `x` (>= 0), and the number that it
// is below with probability `p` (0 to 1, both excluded).
double chi_squared_below(double x, double degrees);
double chi_squared_at(double p, double degrees);

// The probability that a Poisson number of this mean (> 0) is at most, or at least, `count` (>= 0). Both are continuous
// between whole counts, as the gamma function is.
double poisson_at_most(double count, double mean);
double poisson_at_least(double count, double mean);

} // namespace icepath::stats
