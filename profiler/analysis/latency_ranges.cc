// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/latency_ranges.h"

#include "profiler/analysis/possible_bounds.h"
#include "profiler/stats/block_values.h"

namespace icepath::analysis {
namespace {

void add_to(LatencyRange &range, Culprits &culprits, const path::Path &path, const path::Observations &seen)
{
	if (!range.holds(path.recv_ns - path.send_ns))
		return;
	range.layers.add(path, seen);
	culprits.add(path, seen, range.layers.last_block());
}

} // namespace

TypicalAndTail TypicalAndTail::of(const TimesOf &values, const CellTimes &times, stats::ClusteredBy clustered,
								  std::optional<stats::Percentile> tail_from)
{
	TypicalAndTail ranges;
	if (tail_from) {
		ranges.tail_begin = stats::quantile(values.latency(), *tail_from, clustered, times.latency);
		ranges.tail_begin_probed =
			stats::quantile(values.latency_probed(), *tail_from, clustered, times.latency_probed);
	}
	const stats::PooledValues all(values.latency_probed());
	if (all.count() == 0)
		return ranges;
	const auto of = [&](stats::Percentile p) { return all.at_rank(stats::rank(all.count(), p)); };
	const auto between = [&](uint64_t from_ns, uint64_t to_ns) {
		return LatencyRange{from_ns, to_ns, all.count_within(from_ns, to_ns), {}};
	};
	constexpr stats::Percentile kP40{40000}, kP60{60000};
	static_assert(stats::kReported[2] == stats::kP99);
	if (stats::supported(all.count(), stats::kP50))
		ranges.typical = between(of(kP40).low, of(kP60).high);
	if (tail_from ? stats::supported(all.count(), *tail_from) : times.latency_probed.percentiles[2].has_value())
		ranges.tail = between(of(tail_from.value_or(stats::kP99)).low, UINT64_MAX);
	return ranges;
}

void TypicalAndTail::leave_out_beyond(uint64_t measured_ns)
{
	for (auto *begin : {&tail_begin, &tail_begin_probed})
		analysis::leave_out_beyond(measured_ns, *begin);
}

void TypicalAndTail::add(const BlockOfPaths &block)
{
	for (const path::Path &path : block.resolved.paths)
		if (is_known(path))
			add(path, block.resolved.seen);
	end_block(block.known, block.cluster);
}

void TypicalAndTail::add(const path::Path &path, const path::Observations &seen)
{
	if (typical)
		add_to(*typical, typical_culprits, path, seen);
	if (tail)
		add_to(*tail, tail_culprits, path, seen);
}

void TypicalAndTail::end_block(uint64_t known, uint32_t cluster)
{
	for (auto *range : {&typical, &tail})
		if (*range)
			(*range)->layers.end_block(known, cluster);
}

} // namespace icepath::analysis
