// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which threads messages went from their sender to their receiver: for cells of libraries that hand them on by threads of their
// own, or by a daemon.
#include <string>
#include <vector>

#include "profiler/report/breakdown.h"

namespace icepath::report {

// One step of the way. What it took to reach a thread counts to it.
struct Hop {
	path::Role role = path::Role::Sender;
	std::string threads; // their names, those with most time first: messages may go by different ones. See kRareHops
	double mean_ns = 0; // over all deliveries: those that didn't come by took no time there
};

// Stands for all hops by which but few deliveries came: the longest ways' last ones, before the receiver.
inline constexpr const char *kRareHops = "…";

// From the sender to the receiver, whichever hop that was; nothing where no message passed a thread between the two.
std::vector<Hop> hops(const Breakdown &layers);

} // namespace icepath::report
