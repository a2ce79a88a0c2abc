// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/student_t.h"

// Its own file: Boost.Math takes seconds to compile and comes with warnings that the house treats as errors.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/math/distributions/students_t.hpp>
#pragma GCC diagnostic pop

namespace icepath::stats {

double t_975(double degrees) { return boost::math::quantile(boost::math::students_t(degrees), 0.975); }

double t_beyond(double t, double degrees)
{
	return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

} // namespace icepath::stats
