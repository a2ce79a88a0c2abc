// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/fisher_f.h"

// In its own file for the same reason as student_t.cc.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/math/distributions/fisher_f.hpp>
#pragma GCC diagnostic pop

namespace icepath::stats {

double f_beyond(double f, double numerator, double denominator)
{
	return boost::math::cdf(boost::math::complement(boost::math::fisher_f(numerator, denominator), f));
}

} // namespace icepath::stats
