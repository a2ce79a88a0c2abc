// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/poisson.h"

// In its own file for the same reason as student_t.cc.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/math/special_functions/gamma.hpp>
#pragma GCC diagnostic pop

namespace icepath::stats {

double poisson_at_most(double count, double mean) { return boost::math::gamma_q(count + 1, mean); }

double poisson_at_least(double count, double mean) { return count > 0 ? boost::math::gamma_p(count, mean) : 1; }

} // namespace icepath::stats
