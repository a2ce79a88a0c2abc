// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages without a known path, which explanations leave out: how many they are, and how much of the time they take.
// Few messages can take much of it, since most of them overlapped on their way with others, and so waited.
#include <cstdint>
#include <string>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// Of the messages that are explained, at least so many have a known path: by number, and whatever time the others take,
// because an explanation says that the others aren't in it.
inline constexpr double kEnoughKnown = 0.5;

// Of a cell's messages with probes.
struct UnknownPaths {
	uint64_t messages = 0, of = 0;
	double total_ns = 0, of_ns = 0;
	double share_of_time() const { return of_ns > 0 ? total_ns / of_ns : 0; }
	double mean_ns() const { return messages > 0 ? total_ns / static_cast<double>(messages) : 0; }
};
UnknownPaths unknown_paths(const CellResult &cell);

// "31 of 16 000 messages with probes have no known path. They take 3.32 ms each, 24.5 % of the time". Empty where they
// are less than a hundredth of the messages and of their time.
std::string without_path_text(const CellResult &cell);

// Of the range's messages, those that are explained: "11 280", or "9 000 of 11 280" if they aren't nearly all.
std::string known_text(const LatencyRange &range);

} // namespace icepath::report
