// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/latency_over_time.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace icepath::report {
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

LatencyColumn latency_column(uint64_t begin_ns, uint64_t finish_ns, const std::vector<uint64_t> &latencies)
{
	LatencyColumn column{begin_ns, finish_ns, 1, latencies.size(), 0, {}};
	if (latencies.empty())
		return column;
	const auto [least, most] = std::ranges::minmax(latencies);
	column.first_bin = latency_bin(least);
	column.counts.resize(latency_bin(most) - column.first_bin + 1);
	for (const uint64_t ns : latencies)
		++column.counts[latency_bin(ns) - column.first_bin];
	return column;
}

std::vector<LatencyColumn> joined_columns(const std::vector<LatencyColumn> &blocks, size_t most)
{
	std::vector<LatencyColumn> with_messages;
	std::ranges::copy_if(blocks, std::back_inserter(with_messages),
						 [](const auto &block) { return block.messages > 0; });
	const size_t together = (with_messages.size() + most - 1) / std::max<size_t>(most, 1);
	std::vector<LatencyColumn> columns;
	for (size_t i = 0; i < with_messages.size(); ++i)
		if (i % together == 0)
			columns.push_back(std::move(with_messages[i]));
		else
			add_column(columns.back(), with_messages[i]);
	return columns;
}

} // namespace icepath::report
