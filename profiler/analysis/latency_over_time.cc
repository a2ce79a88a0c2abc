// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/latency_over_time.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace icepath::analysis {
namespace {

void add_column(LatencyColumn &sum, const LatencyColumn &more)
{
	const size_t first = std::min(sum.first_bin, more.first_bin);
	const size_t end = std::max(sum.first_bin + sum.counts.size(), more.first_bin + more.counts.size());
	sum.counts.insert(sum.counts.begin(), sum.first_bin - first, 0);
	sum.counts.resize(end - first);
	sum.first_bin = first;
	for (size_t i = 0; i < more.counts.size(); ++i)
		sum.counts[more.first_bin - first + i] += more.counts[i];
	sum.messages += more.messages;
	sum.blocks += more.blocks;
	sum.finish_ns = more.finish_ns;
}

} // namespace

size_t latency_bin(uint64_t ns)
{
	const uint64_t value = std::max<uint64_t>(ns, 1);
	const size_t octave = static_cast<size_t>(std::bit_width(value)) - 1;
	const uint64_t eighths = octave >= 3 ? value >> (octave - 3) : value << (3 - octave); // 8 to 15
	return octave * kBinsPerOctave + static_cast<size_t>(eighths - kBinsPerOctave);
}

double lower_edge_ns(size_t bin)
{
	const double eighths = static_cast<double>(kBinsPerOctave + bin % kBinsPerOctave);
	return std::ldexp(eighths / kBinsPerOctave, static_cast<int>(bin / kBinsPerOctave));
}

void LatencyOverTime::add(uint64_t begin_ns, uint64_t finish_ns, const std::vector<uint64_t> &latencies)
{
	if (latencies.empty())
		return;
	const auto [least, most] = std::ranges::minmax(latencies);
	const size_t first_bin = latency_bin(least), bins = latency_bin(most) - first_bin + 1, first = counts_.size();
	blocks_.push_back({begin_ns, finish_ns, latencies.size(), first_bin, bins});
	counts_.resize(first + bins);
	for (const uint64_t ns : latencies)
		++counts_[first + latency_bin(ns) - first_bin];
}

std::vector<LatencyColumn> LatencyOverTime::columns(size_t most) const
{
	const size_t together = (blocks_.size() + most - 1) / std::max<size_t>(most, 1);
	std::vector<LatencyColumn> columns;
	auto counts = counts_.begin();
	for (size_t i = 0; i < blocks_.size(); ++i) {
		const Block &block = blocks_[i];
		const auto end = counts + static_cast<ptrdiff_t>(block.bins);
		LatencyColumn column{block.begin_ns, block.finish_ns, 1, block.messages, block.first_bin, {counts, end}};
		counts = end;
		if (i % together == 0)
			columns.push_back(std::move(column));
		else
			add_column(columns.back(), column);
	}
	return columns;
}

} // namespace icepath::analysis
