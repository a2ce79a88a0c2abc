// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/aggregate.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "icepath/plugin.h"
#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/worker_gaps.h"
#include "profiler/model/graph.h"
#include "profiler/model/stamps.h"
#include "profiler/path/observations.h"
#include "profiler/resolve/resolve.h"
#include "profiler/rundir/container.h"

namespace icepath::analysis {
namespace {

using model::Block;

// How many values of a quantity a cell keeps.
size_t most_values(size_t cells, const Wanted &wanted)
{
	constexpr size_t kLeast = 1u << 15; // a default run's cells have as many
	const size_t most = wanted.most_values / 4;
	return std::clamp(wanted.most_values / std::max<size_t>(cells, 1), std::min(kLeast, most), most);
}

// Values from a cell's blocks.
struct Samples {
	explicit Samples(size_t most_values) : most(most_values) {}

	size_t most;
	stats::BlockValues latency{most}, round_trip{most}, first_response{most}, pacing{most}, from_due{most},
		to_all{most}, send_call{most}, latency_probed{most}, latency_sampled{most};
	std::vector<stats::BlockValues> by_flow; // latency, of a cell with several flows
	WholeBlocks whole{2 * most}; // with probes and without
	OpeningsOf openings;
	ObservedBlocks observed;
	std::vector<double> sent_per_s, received_per_s; // by block
	Jitter jitter;
	UsageTotals usage;
	std::optional<double> daemon_ns;
};

uint64_t messages_sent(const Block &block)
{
	uint64_t messages = 0;
	for (const model::BlockFlow &flow : block.flows)
		messages += flow.sends.size();
	return messages;
}

void add_usage(const Block &block, const model::Cell &cell, Samples &samples)
{
	const uint64_t messages = messages_sent(block);
	if (messages == 0)
		return;
	samples.usage.messages += messages;
	if (block.daemon_cpu_ns)
		samples.daemon_ns = samples.daemon_ns.value_or(0) + static_cast<double>(*block.daemon_cpu_ns);
	for (size_t side = 0; side < block.sides.size(); ++side)
		for (const model::UsageField &field : model::kUsageFields) {
			uint64_t &sum = samples.usage.ends[model::begins(cell, side) ? 0 : 1].*field.value;
			const uint64_t more = block.sides[side].usage.*field.value;
			sum = field.value == &model::Usage::max_rss_kib ? std::max(sum, more) : sum + more;
		}
}

// Adds what is a flaw at any rate. At a rate that the report doesn't describe, lost messages are none.
void add_what_may_never_be(const MessageCounts &more, MessageCounts &messages)
{
	messages.bad_payload += more.bad_payload;
	messages.inverted += more.inverted;
}

// What a block without probes says of latencies, rates and calls.
void add_unprobed(const Block &block, BlockMessages &seen, const stats::SharedValues &all, CellResult &cell,
				  Samples &samples)
{
	BlockLatencies &times = seen.latencies;
	const uint32_t opening = block.opening;
	if (const auto rate = seen.sent.per_s())
		samples.sent_per_s.push_back(*rate);
	if (const auto rate = seen.received.per_s())
		samples.received_per_s.push_back(*rate);
	if (!all->empty())
		samples.openings.add_latencies(block);
	const model::Window &window = *block.window;
	cell.over_time.add(window.begin.monotonic_ns, window.finish.monotonic_ns, *all);
	samples.latency.add(all, *all, opening);
	for (const std::vector<uint64_t> &flow : times.by_flow)
		samples.jitter.add(flow);
	if (times.by_flow.size() > 1)
		samples.by_flow.resize(times.by_flow.size(), stats::BlockValues(samples.most));
	size_t before = 0; // flows lie one after another
	for (size_t flow = 0; flow < samples.by_flow.size(); before += times.by_flow[flow++].size())
		samples.by_flow[flow].add(all, std::span(*all).subspan(before, times.by_flow[flow].size()), opening);
	samples.to_all.add(std::move(times.to_all), opening);
	samples.first_response.add(std::move(times.first_response), opening);
	samples.round_trip.add(std::move(times.round_trip), opening);
	samples.pacing.add(std::move(times.pacing), opening);
	samples.from_due.add(std::move(times.from_due), opening);
	samples.send_call.add(std::move(times.send_call), opening);
	if (block.end != model::BlockEnd::Failed)
		add_usage(block, cell.cell, samples);
}

// First pass: everything that needs no path.
void add_stamps(const Block &block, CellResult &cell, Samples &samples)
{
	++(block.window->is_sampled() ? cell.blocks_sampled
	   : block.window->probed     ? cell.blocks_probed
	   : is_counted(block)        ? cell.blocks_counted
								  : cell.blocks_unprobed);
	cell.blocks_log_full += block.end == model::BlockEnd::LogFull;
	if (block.end == model::BlockEnd::Failed) {
		++cell.blocks_failed;
		cell.failure = block.failure;
	}
	if (cell.search && !cell.search->uses(block)) {
		add_what_may_never_be(look_at_messages(block, cell.cell).counts, cell.messages);
		return;
	}

	BlockMessages seen = look_at_messages(block, cell.cell);
	cell.messages.add(seen.counts);
	cell.sockets.add(block, cell.cell, seen);
	if (!block.window->probed && block.end != model::BlockEnd::Failed)
		cell.counters.add(block, cell.cell.graph, messages_sent(block));
	if (!block.window->probed && is_counted(block))
		return;
	BlockLatencies &times = seen.latencies;
	const auto all = std::make_shared<const std::vector<uint64_t>>(times.all());
	const uint32_t opening = block.opening;
	if (block.window->is_sampled()) {
		samples.latency_sampled.add(all, *all, opening);
		return;
	}
	if (const auto p50_ns = samples.observed.add(block, *all))
		samples.openings.add_p50(block, *p50_ns);
	samples.whole.add(block, all, times.by_flow);
	if (block.window->probed) {
		samples.latency_probed.add(all, *all, opening);
		return;
	}
	add_unprobed(block, seen, all, cell, samples);
}

// Sets the ranges of typical latencies and of the tail.
void set_ranges(CellResult &cell, const stats::BlockValues &probed, const Wanted &wanted)
{
	const stats::PooledValues all(probed);
	if (all.count() == 0)
		return;
	cell.probed_ns = probed.sum();
	const auto of = [&](stats::Percentile p) { return all.at_rank(stats::rank(all.count(), p)); };
	const auto between = [&](uint64_t from_ns, uint64_t to_ns) {
		return LatencyRange{from_ns, to_ns, all.count_within(from_ns, to_ns), {}};
	};
	constexpr stats::Percentile kP40{40000}, kP60{60000};
	static_assert(stats::kReported[0] == stats::kP50 && stats::kReported[2] == stats::kP99);
	if (stats::supported(all.count(), stats::kP50))
		cell.typical = between(of(kP40).low, of(kP60).high);
	if (wanted.tail) {
		if (stats::supported(all.count(), *wanted.tail))
			cell.tail = between(of(*wanted.tail).low, UINT64_MAX);
	} else if (cell.latency_probed.percentiles[2])
		cell.tail = between(of(stats::kP99).low, UINT64_MAX);
}

void describe(CellResult &cell, const Samples &samples, const Wanted &wanted)
{
	cell.openings = samples.openings.take();
	const bool by_opening = cell.openings.carry_intervals();
	const auto clustered = by_opening ? stats::ClusteredBy::Opening : stats::ClusteredBy::Block;
	const auto described = [&](const stats::BlockValues &values) { return stats::describe(values, clustered); };
	cell.latency = described(samples.latency);
	cell.latency_probed = described(samples.latency_probed);
	cell.latency_sampled = stats::describe(samples.latency_sampled, stats::ClusteredBy::Block);
	std::ranges::transform(samples.by_flow, std::back_inserter(cell.by_flow), described);
	if (model::is_answered(cell.cell.pattern))
		cell.round_trip = described(samples.round_trip);
	else if (model::is_paced(cell.cell)) {
		cell.pacing = described(samples.pacing);
		cell.from_due = described(samples.from_due);
	}
	cell.first_response = described(samples.first_response);
	cell.to_all = described(samples.to_all);
	cell.send_call = described(samples.send_call);
	if (samples.jitter.count > 0)
		cell.jitter_ns = samples.jitter.sum_ns / static_cast<double>(samples.jitter.count);
	if (!samples.sent_per_s.empty())
		cell.throughput.sent_per_s = stats::median(samples.sent_per_s);
	if (!samples.received_per_s.empty())
		cell.throughput.received_per_s = stats::median(samples.received_per_s);
	set_ranges(cell, samples.latency_probed, wanted);
	if (wanted.tail) {
		cell.tail_begin = stats::quantile(samples.latency, *wanted.tail, clustered, cell.latency);
		cell.tail_begin_probed = stats::quantile(samples.latency_probed, *wanted.tail, clustered, cell.latency_probed);
	}
	cell.modes = find_modes(samples.whole, by_opening);
	cell.modes_of_one_in = samples.whole.one_in();
	cell.compared = samples.observed.compared();
	cell.observer_effect = samples.observed.effect(by_opening ? stats::Over::Openings : stats::Over::Pairs);
	if (samples.usage.messages == 0)
		return;
	cell.usage = samples.usage;
	cell.cpu_per_message.emplace();
	const double messages = static_cast<double>(samples.usage.messages);
	if (samples.daemon_ns)
		cell.daemon_cpu_ns_per_message = *samples.daemon_ns / messages;
	for (size_t side = 0; side < 2; ++side) {
		const model::Usage &used = samples.usage.ends[side];
		(*cell.cpu_per_message)[side] = {static_cast<double>(used.user_ns) / messages,
										 static_cast<double>(used.system_ns) / messages};
	}
}

// No message takes longer than all that was measured. An interval of a percentile that ends beyond it shows that the
// blocks tell nothing of that percentile, which then is missing, as where there are too few blocks.
void leave_out_impossible_bounds(uint64_t measured_ns, CellResult &cell)
{
	const auto check = [&](stats::Distribution &of) {
		for (size_t i = 0; i < of.intervals.size(); ++i)
			if (of.intervals[i] && of.intervals[i]->high > static_cast<double>(measured_ns)) {
				of.intervals[i].reset();
				of.percentiles[i].reset();
			}
		for (auto *interval : {&of.standard_deviation_interval, &of.median_deviation_interval})
			if (*interval && (*interval)->high > static_cast<double>(measured_ns))
				interval->reset();
	};
	for (stats::Distribution *of : {&cell.latency, &cell.latency_probed, &cell.latency_sampled, &cell.round_trip,
									&cell.pacing, &cell.from_due, &cell.first_response, &cell.to_all, &cell.send_call})
		check(*of);
	std::ranges::for_each(cell.by_flow, check);
	for (CellMode &mode : cell.modes)
		check(mode.latency);
	for (auto *begin : {&cell.tail_begin, &cell.tail_begin_probed})
		if (*begin && (*begin)->interval && (*begin)->interval->high > static_cast<double>(measured_ns))
			(*begin)->interval.reset();
}

WorstMessage worst_message(const path::Path &path, const path::Delivery &delivery, const path::Observations &seen,
						   const Block &block, const model::Cell &cell)
{
	WorstMessage worst;
	worst.cell = block.cell;
	worst.round = block.window->round;
	const model::MessagePlace place = model::place_of(delivery.message);
	worst.back = !model::begins(cell, cell.graph.flows.at(place.flow).from);
	worst.seq = place.seq;
	const auto remember = [&](uint32_t tid) {
		if (const auto name = seen.task_names.find(tid); name != seen.task_names.end())
			worst.task_names.insert(*name);
		if (const auto thread = seen.threads.find(tid); thread != seen.threads.end()) {
			worst.task_names[tid] = thread->second.name;
			worst.cpus[tid] = thread->second.first_cpu;
		}
	};
	for (const path::Segment &segment : path.segments) {
		remember(segment.thread);
		if (segment.culprit.kind == path::Culprit::Kind::Task)
			remember(segment.culprit.id);
	}
	for (const auto *shares : {&path.shares, &path.late_wakers})
		for (const path::Share &share : *shares)
			if (share.who.kind == path::Culprit::Kind::Task)
				remember(share.who.id);
	worst.path = path;
	return worst;
}

// Of messages that take equally long, the earlier one comes first.
void add_slow(WorstMessage message, std::vector<WorstMessage> &slowest)
{
	const auto place = std::ranges::upper_bound(slowest, message.latency_ns(), std::ranges::greater(),
												[](const WorstMessage &one) { return one.latency_ns(); });
	slowest.insert(place, std::move(message));
	slowest.resize(std::min(slowest.size(), CellResult::kSlowest));
}

void add_paths(const resolve::ResolvedBlock &resolved, CellResult &cell, BlockCapture &captured)
{
	const auto &[number, block, seen, paths] = resolved;
	captured.unreadable = path::unreadable_records(seen);
	const uint64_t complete_before = cell.complete();
	if (cell.cell.mechanisms.has(model::Mechanism::LibraryCalls))
		cell.system_calls.add(block, cell.cell, seen);
	for (size_t i = 0; i < paths.size(); ++i) {
		const path::Path &path = paths[i];
		++cell.probed;
		if (cell.modes_of_one_in > 1 && path.recv_ns >= path.send_ns)
			for (CellMode &mode : cell.modes)
				mode.range.messages += mode.range.holds(path.recv_ns - path.send_ns);
		if (!path.complete() || path.segments.empty()) {
			++cell.incomplete[static_cast<size_t>(path.complete() ? path::Reason::NoEvidence : path.reason)];
			continue;
		}
		cell.layers.add(path, seen);
		cell.culprits.add(path, seen);
		const uint64_t latency = path.recv_ns - path.send_ns;
		if (cell.typical && cell.typical->holds(latency)) {
			cell.typical->layers.add(path, seen);
			cell.typical_culprits.add(path, seen, cell.typical->layers.last_block());
		}
		if (cell.tail && cell.tail->holds(latency)) {
			cell.tail->layers.add(path, seen);
			cell.tail_culprits.add(path, seen, cell.tail->layers.last_block());
		}
		for (CellMode &mode : cell.modes)
			if (mode.range.holds(latency))
				mode.range.layers.add(path, seen);
		if (cell.slowest.size() < CellResult::kSlowest || latency > cell.slowest.back().latency_ns())
			add_slow(worst_message(path, seen.deliveries[i], seen, block, cell.cell), cell.slowest);
	}
	const uint64_t complete = cell.complete() - complete_before;
	// Clusters as for percentiles: openings if there are enough of them, otherwise blocks. They are numbered by their
	// rounds, which other cells share.
	const uint32_t cluster = cell.openings.carry_intervals() ? captured.opened_in : captured.round;
	cell.layers.end_block(complete, cluster);
	for (auto *range : {&cell.typical, &cell.tail})
		if (*range)
			(*range)->layers.end_block(complete, cluster);
	for (CellMode &mode : cell.modes)
		mode.range.layers.end_block(complete, cluster);
}

// A message of fanout has a delivery for each receiver.
void add_asked(const resolve::ResolvedBlock &resolved, CellResult &cell, const MessageName &name)
{
	constexpr size_t kMost = 64;
	for (size_t i = 0; i < resolved.paths.size() && cell.asked.size() < kMost; ++i) {
		const path::Delivery &delivery = resolved.seen.deliveries[i];
		if (model::place_of(delivery.message).seq != name.seq)
			continue;
		WorstMessage message = worst_message(resolved.paths[i], delivery, resolved.seen, resolved.block, cell.cell);
		if (message.back == name.back)
			cell.asked.push_back(std::move(message));
	}
}

// Second pass: the paths.
class AddPaths : public resolve::Visitor {
public:
	// `places`: each block's index among its cell's blocks, in the order of the run.
	AddPaths(RunResult &result, const std::vector<size_t> &places, const Wanted &wanted)
		: result_(result), places_(places), wanted_(wanted)
	{}
	bool wants(const Block &block) override
	{
		const auto &search = result_.cells[block.cell].search;
		return !search || search->uses(block);
	}
	bool wants_sampled() const override { return true; }
	void visit(const resolve::ResolvedBlock &resolved) override
	{
		CellResult &cell = result_.cells[resolved.block.cell];
		if (wanted_.message && wanted_.message->round == resolved.block.window->round)
			add_asked(resolved, cell, *wanted_.message);
		if (wanted_.threads)
			cell.threads.add(resolved);
		if (resolved.block.window->is_sampled()) {
			cell.functions.add(resolved);
			return;
		}
		add_paths(resolved, cell, cell.capture.by_block.at(places_[resolved.number]));
		interference_.add(resolved, cell.cell);
	}
	std::vector<model::CpuNoise> interference() const { return interference_.take(); }

private:
	WorkerGaps interference_;
	RunResult &result_;
	const std::vector<size_t> &places_;
	const Wanted &wanted_;
};

double share_of(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 1; }

} // namespace

double CellResult::messages_known() const
{
	return share_of(static_cast<double>(complete()), static_cast<double>(probed));
}

double CellResult::time_known() const { return share_of(static_cast<double>(layers.total_ns()), probed_ns); }

bool cpu_split_is_exact(const model::Head &head)
{
	// cpuset::look_at_isolation: quiet if all chosen CPUs are in nohz_full.
	const auto &items = head.isolation.items;
	return items && std::ranges::any_of(
						*items, [](const model::Disturbance &item) { return item.name == "timer_tick" && item.quiet; });
}

RunResult analyse(const std::string &run, const Wanted &wanted)
{
	RunResult result;
	result.tail_from = wanted.tail.value_or(stats::kP99);
	auto searches = search_outcomes(run);
	std::vector<size_t> places; // each block's index among its cell's blocks
	{
		rundir::Reader reader(run, rundir::Contents::WithoutRecords);
		result.head = reader.head();
		for (const model::Cell &cell : result.head.cells) {
			result.cells.emplace_back().cell = cell;
			result.cells.back().system_calls = SystemCalls(result.head);
			result.cells.back().search = std::move(searches.at(result.cells.size() - 1));
		}
		std::vector<Samples> samples(result.cells.size(), Samples(most_values(result.cells.size(), wanted)));
		uint64_t measured_ns = 0; // in all blocks
		while (const auto window = reader.next())
			for (const Block &block : window->blocks) {
				measured_ns += block.window->finish.monotonic_ns - block.window->begin.monotonic_ns;
				CellResult &cell = result.cells[block.cell];
				places.push_back(cell.capture.by_block.size());
				cell.capture.add(block, window->blocks.size() - 1, window->records);
				add_stamps(block, cell, samples[block.cell]);
			}
		result.tail = reader.tail();
		result.truncated = reader.truncated();
		for (size_t i = 0; i < samples.size(); ++i)
			describe(result.cells[i], std::exchange(samples[i], Samples(0)), wanted); // frees them before the next
		for (CellResult &cell : result.cells)
			leave_out_impossible_bounds(measured_ns, cell);
		std::vector<std::vector<stats::BlockValue>> blocks;
		for (const CellResult &cell : result.cells)
			blocks.push_back(cell.compared);
		result.measured_ns = measured_ns;
		result.ranking = rank(result.head.cells, blocks, static_cast<double>(measured_ns));
		for (size_t i = 0; result.tail && i < std::min(result.cells.size(), result.tail->failed_openings.size()); ++i)
			result.cells[i].openings.failed = result.tail->failed_openings[i];
	}
	AddPaths add_paths(result, places, wanted);
	resolve::resolve(run, add_paths,
					 {.blocks = places.size()}); // only what the first pass read: the run may still be active
	result.interference = add_paths.interference();
	return result;
}

std::vector<std::optional<rate::Outcome>> search_outcomes(const std::string &run)
{
	rundir::Reader reader(run, rundir::Contents::WithoutRecords);
	const std::vector<model::Cell> &cells = reader.head().cells;
	std::vector<std::optional<rate::Outcome>> outcomes(cells.size());
	const auto searches = [](const model::Cell &cell) { return cell.limits.has_value(); };
	if (std::ranges::none_of(cells, searches))
		return outcomes;
	std::vector<rate::OutcomeOf> collected(cells.begin(), cells.end());
	while (const auto window = reader.next())
		for (const model::Block &block : window->blocks)
			collected[block.cell].add(block);
	for (size_t i = 0; i < cells.size(); ++i)
		if (searches(cells[i]))
			outcomes[i] = collected[i].take();
	return outcomes;
}

} // namespace icepath::analysis
