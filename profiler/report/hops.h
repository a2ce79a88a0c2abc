// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threads that messages passed from sender to receiver, for cells of libraries that hand them on by threads of
// their own or by a daemon.
#include <string>
#include <vector>

#include "profiler/report/breakdown.h"

namespace icepath::report {

// One step of the way, which includes reaching its threads.
struct Hop {
	path::Role role = path::Role::Sender;
	std::string threads; // names, those with most time first: messages may pass different ones. See kRareHops
	double mean_ns = 0; // over all deliveries: 0 for those that didn't pass it
};

// Stands for all hops that only few deliveries passed: the last ones, before the receiver, of the longest ways.
inline constexpr const char *kRareHops = "…";

// From the sender to the receiver, whatever hop that was. Empty if no message passed another thread.
std::vector<Hop> hops(const Breakdown &layers);

} // namespace icepath::report
