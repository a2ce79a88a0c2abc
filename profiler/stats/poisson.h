// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::stats {

// The probability that a Poisson number of this mean (> 0) is at most, or at least, `count` (>= 0). Both are continuous
// between whole counts, as the gamma function is.
double poisson_at_most(double count, double mean);
double poisson_at_least(double count, double mean);

} // namespace icepath::stats
