// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_times.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "profiler/analysis/possible_bounds.h"
#include "profiler/model/graph.h"

namespace icepath::analysis {

void CellTimes::leave_out_beyond(uint64_t measured_ns)
{
	for (stats::Distribution *of : {&latency, &round_trip, &first_response, &to_all, &pacing, &from_due, &send_call,
									&latency_probed, &latency_sampled})
		analysis::leave_out_beyond(measured_ns, *of);
	for (stats::Distribution &of : by_flow)
		analysis::leave_out_beyond(measured_ns, of);
	if (mean_interval && mean_interval->high > static_cast<double>(measured_ns))
		mean_interval.reset();
}

TimesOf::TimesOf(size_t most)
	: most_(most), latency_(most), round_trip_(most), first_response_(most), to_all_(most), pacing_(most),
	  from_due_(most), send_call_(most), latency_probed_(most), latency_sampled_(most)
{}

void TimesOf::add(SeenBlock &seen)
{
	if (seen.is_sampled())
		latency_sampled_.add(seen.latencies, *seen.latencies, seen.block.opening);
	else if (seen.is_probed())
		latency_probed_.add(seen.latencies, *seen.latencies, seen.block.opening);
	else if (!seen.is_counted())
		add_unprobed(seen);
}

void TimesOf::add_unprobed(SeenBlock &seen)
{
	const uint32_t opening = seen.block.opening;
	const stats::SharedValues &all = seen.latencies;
	BlockLatencies &times = seen.messages.latencies;
	latency_.add(all, *all, opening);
	for (const std::vector<uint64_t> &flow : times.by_flow)
		jitter_.add(flow);
	if (times.by_flow.size() > 1)
		by_flow_.resize(times.by_flow.size(), stats::BlockValues(most_));
	size_t before = 0; // flows lie one after another
	for (size_t flow = 0; flow < by_flow_.size(); before += times.by_flow[flow++].size())
		by_flow_[flow].add(all, std::span(*all).subspan(before, times.by_flow[flow].size()), opening);
	to_all_.add(std::move(times.to_all), opening);
	first_response_.add(std::move(times.first_response), opening);
	round_trip_.add(std::move(times.round_trip), opening);
	pacing_.add(std::move(times.pacing), opening);
	from_due_.add(std::move(times.from_due), opening);
	send_call_.add(std::move(times.send_call), opening);
}

CellTimes TimesOf::take(const model::Cell &cell, stats::ClusteredBy clustered) const
{
	const auto described = [&](const stats::BlockValues &values) { return stats::describe(values, clustered); };
	CellTimes times;
	times.latency = described(latency_);
	times.mean_interval = stats::mean_interval(latency_, clustered);
	times.latency_probed = described(latency_probed_);
	times.latency_sampled = stats::describe(latency_sampled_, stats::ClusteredBy::Block);
	std::ranges::transform(by_flow_, std::back_inserter(times.by_flow), described);
	if (model::is_answered(cell.pattern))
		times.round_trip = described(round_trip_);
	else if (model::is_paced(cell)) {
		times.pacing = described(pacing_);
		times.from_due = described(from_due_);
	}
	times.first_response = described(first_response_);
	times.to_all = described(to_all_);
	times.send_call = described(send_call_);
	if (jitter_.count > 0)
		times.jitter_ns = jitter_.sum_ns / static_cast<double>(jitter_.count);
	return times;
}

} // namespace icepath::analysis
