// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::stats {

// With what probability a Poisson number of that mean (> 0) is at most, or at least, `count` (>= 0). Between whole counts
// both go on smoothly, as the gamma function does.
double poisson_at_most(double count, double mean);
double poisson_at_least(double count, double mean);

} // namespace icepath::stats
