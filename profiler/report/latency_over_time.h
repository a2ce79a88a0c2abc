// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's latencies block by block, as a heat map shows them: drifts, and states that the machine changes between.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace icepath::report {

// Bins of latencies: an octave has eight, equally wide, so a bin's edges are 6 to 12 % apart. Bin 0 begins at 1 ns.
inline constexpr size_t kBinsPerOctave = 8;
size_t latency_bin(uint64_t ns);
double lower_edge_ns(size_t bin);

// Of the messages of one block, or of several that follow each other.
struct LatencyColumn {
	uint64_t begin_ns = 0, finish_ns = 0; // CLOCK_MONOTONIC
	size_t blocks = 1;
	uint64_t messages = 0;
	size_t first_bin = 0;
	std::vector<uint32_t> counts; // from first_bin on; the first and the last aren't 0
};

LatencyColumn latency_column(uint64_t begin_ns, uint64_t finish_ns, const std::vector<uint64_t> &latencies);

// `blocks` in the order of measuring, joined with their neighbours to `most` columns or fewer.
std::vector<LatencyColumn> joined_columns(const std::vector<LatencyColumn> &blocks, size_t most);

} // namespace icepath::report
