// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's latencies block by block, as a heat map shows them: drifts, and states that the machine changes between.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace icepath::analysis {

// Bins of latencies: an octave has eight, equally wide, so a bin's edges are 6 to 12 % apart. Bin 0 begins at 1 ns.
inline constexpr size_t kBinsPerOctave = 8;
size_t latency_bin(uint64_t ns);
double lower_edge_ns(size_t bin);

// Latencies of one block, or of several successive ones.
struct LatencyColumn {
	uint64_t begin_ns = 0, finish_ns = 0; // CLOCK_MONOTONIC
	size_t blocks = 1;
	uint64_t messages = 0;
	size_t first_bin = 0;
	std::vector<uint32_t> counts; // from first_bin on; the first and the last aren't 0
};

class LatencyOverTime {
public:
	// Adds a block, in the order of measuring. A block without latencies is left out.
	void add(uint64_t begin_ns, uint64_t finish_ns, const std::vector<uint64_t> &latencies);
	// The blocks, joined with their neighbours to `most` columns or fewer.
	std::vector<LatencyColumn> columns(size_t most) const;

private:
	struct Block {
		uint64_t begin_ns = 0, finish_ns = 0;
		uint64_t messages = 0;
		size_t first_bin = 0, bins = 0;
	};
	std::vector<Block> blocks_;
	std::vector<uint32_t> counts_; // of all blocks, one after another
};

} // namespace icepath::analysis
