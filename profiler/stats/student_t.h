// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::stats {

// The value that Student's t with `degrees` (> 0) of freedom exceeds with probability 2.5 %: half the width of a 95 %
// interval in standard errors.
double t_975(double degrees);

// The probability that it is further from 0, on either side, than `t` (>= 0).
double t_beyond(double t, double degrees);

} // namespace icepath::stats
