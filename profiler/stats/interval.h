// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::stats {

struct Interval {
	double low = 0, high = 0; // 95 %
};

} // namespace icepath::stats
