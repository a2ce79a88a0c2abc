// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_figures.h"

#include "profiler/path/observations.h"

namespace icepath::analysis {
namespace {

// Adds what is a flaw at any rate. At a rate that the report doesn't describe, lost messages are none.
void add_what_may_never_be(const MessageCounts &more, MessageCounts &messages)
{
	messages.bad_payload += more.bad_payload;
	messages.inverted += more.inverted;
}

} // namespace

StampFigures::StampFigures(size_t most_values, bool by_block)
	: times_(most_values), whole_(2 * most_values), by_block_(by_block)
{}

void StampFigures::add(const model::Block &block, CellResult &cell)
{
	cell.blocks.add(block);
	if (cell.search && !cell.search->uses(block)) {
		add_what_may_never_be(look_at_messages(block, cell.cell).counts, cell.messages);
		return;
	}
	SeenBlock seen(block, cell.cell);
	cell.messages.add(seen.messages.counts);
	cell.sockets.add(block, cell.cell, seen.messages);
	if (!seen.is_probed() && !seen.failed())
		cell.counters.add(block, cell.cell.graph, seen.sent);
	if (!seen.is_counted() && !seen.is_sampled()) {
		if (const auto p50_ns = observed_.add(block, *seen.latencies))
			openings_.add_p50(block, *p50_ns);
		whole_.add(block, seen.latencies, seen.messages.latencies.by_flow);
		if (!seen.is_probed())
			add_unprobed(seen, cell);
	}
	times_.add(seen);
}

void StampFigures::add_unprobed(const SeenBlock &seen, CellResult &cell)
{
	throughput_.add(seen);
	if (!seen.latencies->empty())
		openings_.add_latencies(seen.block);
	const model::Window &window = *seen.block.window;
	cell.over_time.add(window.begin.monotonic_ns, window.finish.monotonic_ns, *seen.latencies);
	if (!seen.failed())
		resources_.add(seen);
	if (by_block_)
		block_figures_.add(seen);
}

void StampFigures::describe(CellResult &cell, const Wanted &wanted) const
{
	cell.openings = openings_.take();
	const bool by_opening = cell.openings.carry_intervals();
	const auto clustered = by_opening ? stats::ClusteredBy::Opening : stats::ClusteredBy::Block;
	cell.times = times_.take(cell.cell, clustered);
	cell.modes = CellModes::of(whole_, by_opening);
	cell.compared = observed_.compared();
	if (by_block_) {
		cell.block_figures = block_figures_;
		cell.block_figures.add_modes(whole_.of(false), cell.modes);
	}
	cell.observer_effect = observed_.effect(by_opening ? stats::Over::Openings : stats::Over::Pairs);
	cell.throughput = throughput_.take(clustered);
	cell.used = resources_.take(clustered);
	cell.paths.deliveries_ns = times_.latency_probed().sum();
	cell.ranges = TypicalAndTail::of(times_, cell.times, clustered, wanted.tail);
}

void leave_out_beyond(uint64_t measured_ns, CellResult &cell)
{
	cell.times.leave_out_beyond(measured_ns);
	cell.modes.leave_out_beyond(measured_ns);
	cell.ranges.leave_out_beyond(measured_ns);
}

void add_paths(const resolve::ResolvedBlock &resolved, const Wanted &wanted, CellResult &cell, BlockCapture &captured)
{
	if (wanted.message)
		cell.followed.add_asked(resolved, cell.cell, *wanted.message);
	if (wanted.threads)
		cell.threads.add(resolved);
	if (resolved.block.window->is_sampled()) {
		cell.functions.add(resolved);
		return;
	}
	captured.unreadable = path::unreadable_records(resolved.seen);
	if (cell.cell.mechanisms.has(model::Mechanism::LibraryCalls))
		cell.system_calls.add(resolved.block, cell.cell, resolved.seen);
	const BlockOfPaths block(resolved, cell.openings.carry_intervals() ? captured.opened_in : captured.round);
	cell.paths.add(block);
	cell.ranges.add(block);
	cell.modes.add(block);
	cell.followed.add_slow(resolved, cell.cell);
}

} // namespace icepath::analysis
