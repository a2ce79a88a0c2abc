// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::stats {

// The probability that Fisher's F with these degrees of freedom (each > 0) exceeds `f` (>= 0).
double f_beyond(double f, double numerator, double denominator);

} // namespace icepath::stats
