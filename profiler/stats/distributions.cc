// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/distributions.h"

// No other file includes Boost.Math: it takes seconds to compile and causes warnings that this build treats as errors.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#pragma GCC diagnostic pop

namespace icepath::stats {

double t_within(double outside, double degrees)
{
	return boost::math::quantile(boost::math::students_t(degrees), 1 - outside / 2);
}

double t_beyond(double t, double degrees)
{
	return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

double f_beyond(double f, double numerator, double denominator)
{
	return boost::math::cdf(boost::math::complement(boost::math::fisher_f(numerator, denominator), f));
}

double chi_squared_below(double x, double degrees) { return boost::math::gamma_p(degrees / 2, x / 2); }

double chi_squared_at(double p, double degrees) { return 2 * boost::math::gamma_p_inv(degrees / 2, p); }

double poisson_at_most(double count, double mean) { return boost::math::gamma_q(count + 1, mean); }

double poisson_at_least(double count, double mean) { return count > 0 ? boost::math::gamma_p(count, mean) : 1; }

} // namespace icepath::stats
