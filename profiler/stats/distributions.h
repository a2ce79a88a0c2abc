// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tails of distributions, which tests and intervals need.

namespace icepath::stats {

// The value that Student's t with `degrees` (> 0) of freedom exceeds with probability 2.5 %: half the width of a 95 %
// interval in standard errors.
double t_975(double degrees);

// The probability that it is further from 0, on either side, than `t` (>= 0).
double t_beyond(double t, double degrees);

// The probability that Fisher's F with these degrees of freedom (each > 0) exceeds `f` (>= 0).
double f_beyond(double f, double numerator, double denominator);

// The probability that a Poisson number of this mean (> 0) is at most, or at least, `count` (>= 0). Both are continuous
// between whole counts, as the gamma function is.
double poisson_at_most(double count, double mean);
double poisson_at_least(double count, double mean);

} // namespace icepath::stats
