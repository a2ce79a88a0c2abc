// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/aggregate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "icepath/plugin.h"
#include "profiler/model/graph.h"
#include "profiler/model/stamps.h"
#include "profiler/path/observations.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/noise.h"
#include "profiler/resolve/resolve.h"
#include "profiler/rundir/container.h"

namespace icepath::report {
namespace {

using model::Block;

// A cell's latencies by block.
struct Samples {
	using Blocks = std::vector<std::vector<uint64_t>>;
	Blocks latency, round_trip, first_response, pacing, from_due, to_all, send_call, latency_probed, latency_sampled;
	std::vector<std::vector<size_t>>
		of_flow; // how many latencies of a block are of each flow: they lie one after another
	// In the order of latency's and of latency_probed's blocks.
	std::vector<uint32_t> opening, opening_probed, round, round_probed;
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

// At a rate that the report doesn't describe, lost messages are no flaw. These are flaws at any rate.
void add_what_may_never_be(const MessageCounts &more, MessageCounts &messages)
{
	messages.bad_payload += more.bad_payload;
	messages.inverted += more.inverted;
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
	if (!block.window->probed && block.end != model::BlockEnd::Failed)
		cell.counters.add(block, messages_sent(block), model::senders_of(cell.cell));
	if (!block.window->probed && is_counted(block))
		return;
	BlockLatencies &times = seen.latencies;
	std::vector<uint64_t> all = times.all();
	if (block.window->is_sampled()) {
		samples.latency_sampled.push_back(std::move(all));
		return;
	}
	if (const auto p50_ns = samples.observed.add(block, all))
		samples.openings.add_p50(block, *p50_ns);
	if (block.window->probed) {
		samples.latency_probed.push_back(std::move(all));
		samples.opening_probed.push_back(block.opening);
		samples.round_probed.push_back(block.window->round);
		return;
	}
	if (const auto rate = seen.sent.per_s())
		samples.sent_per_s.push_back(*rate);
	if (const auto rate = seen.received.per_s())
		samples.received_per_s.push_back(*rate);
	if (!all.empty())
		samples.openings.add_latencies(block);
	const model::Window &window = *block.window;
	cell.over_time.push_back(latency_column(window.begin.monotonic_ns, window.finish.monotonic_ns, all));
	samples.latency.push_back(std::move(all));
	samples.opening.push_back(block.opening);
	samples.round.push_back(block.window->round);
	std::vector<size_t> &of_flow = samples.of_flow.emplace_back();
	for (const std::vector<uint64_t> &flow : times.by_flow) {
		samples.jitter.add(flow);
		of_flow.push_back(flow.size());
	}
	samples.to_all.push_back(std::move(times.to_all));
	samples.first_response.push_back(std::move(times.first_response));
	samples.round_trip.push_back(std::move(times.round_trip));
	samples.pacing.push_back(std::move(times.pacing));
	samples.from_due.push_back(std::move(times.from_due));
	samples.send_call.push_back(std::move(times.send_call));
	if (block.end != model::BlockEnd::Failed)
		add_usage(block, cell.cell, samples);
}

// Sets the ranges of typical latencies and of the tail.
void set_ranges(CellResult &cell, const Samples::Blocks &probed, const Wanted &wanted)
{
	std::vector<uint64_t> all;
	all.reserve(cell.latency_probed.count);
	for (const auto &block : probed)
		all.insert(all.end(), block.begin(), block.end());
	if (all.empty())
		return;
	std::ranges::sort(all);
	cell.probed_ns = std::accumulate(all.begin(), all.end(), 0.0);
	const auto between = [&](uint64_t from_ns, uint64_t to_ns) {
		LatencyRange range{from_ns, to_ns, 0, {}};
		range.messages =
			static_cast<uint64_t>(std::ranges::upper_bound(all, to_ns) - std::ranges::lower_bound(all, from_ns));
		return range;
	};
	constexpr stats::Percentile kP40{40000}, kP60{60000};
	static_assert(stats::kReported[0] == stats::kP50 && stats::kReported[2] == stats::kP99);
	if (stats::supported(all.size(), stats::kP50))
		cell.typical = between(stats::percentile(all, kP40), stats::percentile(all, kP60));
	if (wanted.tail) {
		if (stats::supported(all.size(), *wanted.tail))
			cell.tail = between(stats::percentile(all, *wanted.tail), UINT64_MAX);
	} else if (const auto &p99 = cell.latency_probed.percentiles[2])
		cell.tail = between(*p99, UINT64_MAX);
}

// The latencies of each block and flow, flow by flow.
std::vector<stats::BlockFlowValues> by_flow(const Samples &samples)
{
	std::vector<stats::BlockFlowValues> all;
	const size_t flows = samples.of_flow.empty() ? 0 : samples.of_flow.front().size();
	for (size_t flow = 0; flow < flows; ++flow)
		for (size_t block = 0; block < samples.latency.size(); ++block) {
			const std::vector<size_t> &sizes = samples.of_flow[block];
			const size_t before = std::accumulate(sizes.data(), sizes.data() + flow, size_t{0});
			all.push_back({std::span(samples.latency[block]).subspan(before, sizes[flow]), block});
		}
	return all;
}

std::vector<stats::Distribution> describe_flows(const std::vector<stats::BlockFlowValues> &by_flow, size_t blocks,
												const std::vector<uint32_t> &opening)
{
	std::vector<stats::Distribution> flows;
	for (size_t first = 0; by_flow.size() > blocks && first < by_flow.size(); first += blocks) {
		Samples::Blocks flow;
		for (size_t block = 0; block < blocks; ++block) {
			const auto &values = by_flow[first + block].values;
			flow.emplace_back(values.begin(), values.end());
		}
		flows.push_back(stats::describe(flow, opening));
	}
	return flows;
}

void describe(CellResult &cell, const Samples &samples, const Wanted &wanted)
{
	cell.openings = samples.openings.take();
	const bool by_opening = cell.openings.carry_intervals();
	const std::vector<uint32_t> opening = by_opening ? samples.opening : std::vector<uint32_t>();
	cell.latency = stats::describe(samples.latency, opening);
	cell.latency_probed =
		stats::describe(samples.latency_probed, by_opening ? samples.opening_probed : std::vector<uint32_t>());
	cell.latency_sampled = stats::describe(samples.latency_sampled, {});
	const std::vector<stats::BlockFlowValues> flows = by_flow(samples);
	cell.by_flow = describe_flows(flows, samples.latency.size(), opening);
	if (model::is_answered(cell.cell.pattern))
		cell.round_trip = stats::describe(samples.round_trip, opening);
	else if (model::is_paced(cell.cell)) {
		cell.pacing = stats::describe(samples.pacing, opening);
		cell.from_due = stats::describe(samples.from_due, opening);
	}
	cell.first_response = stats::describe(samples.first_response, opening);
	cell.to_all = stats::describe(samples.to_all, opening);
	cell.send_call = stats::describe(samples.send_call, opening);
	if (samples.jitter.count > 0)
		cell.jitter_ns = samples.jitter.sum_ns / static_cast<double>(samples.jitter.count);
	if (!samples.sent_per_s.empty())
		cell.throughput.sent_per_s = stats::median(samples.sent_per_s);
	if (!samples.received_per_s.empty())
		cell.throughput.received_per_s = stats::median(samples.received_per_s);
	set_ranges(cell, samples.latency_probed, wanted);
	if (wanted.tail) {
		cell.tail_begin = stats::quantile(samples.latency, *wanted.tail, opening);
		cell.tail_begin_probed = stats::quantile(samples.latency_probed, *wanted.tail,
												 by_opening ? samples.opening_probed : std::vector<uint32_t>());
	}
	cell.modes = find_modes(flows, {samples.latency, samples.opening, samples.round},
							{samples.latency_probed, samples.opening_probed, samples.round_probed}, by_opening);
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
	for (const path::Share &share : path.shares)
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
		if (!path.complete() || path.segments.empty()) {
			++cell.incomplete[static_cast<size_t>(path.complete() ? path::Reason::NoEvidence : path.reason)];
			continue;
		}
		cell.layers.add(path, seen);
		cell.culprits.add(path, seen);
		const uint64_t latency = path.recv_ns - path.send_ns;
		if (cell.typical && cell.typical->holds(latency)) {
			cell.typical->layers.add(path, seen);
			cell.typical_culprits.add(path, seen);
		}
		if (cell.tail && cell.tail->holds(latency)) {
			cell.tail->layers.add(path, seen);
			cell.tail_culprits.add(path, seen);
		}
		for (CellMode &mode : cell.modes)
			if (mode.range.holds(latency))
				mode.range.layers.add(path, seen);
		if (cell.slowest.size() < CellResult::kSlowest || latency > cell.slowest.back().latency_ns())
			add_slow(worst_message(path, seen.deliveries[i], seen, block, cell.cell), cell.slowest);
	}
	const uint64_t complete = cell.complete() - complete_before;
	// Clusters as for percentiles: openings if there are enough of them, otherwise blocks.
	// By their rounds, which other cells have, too.
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
		if (resolved.block.window->is_sampled()) {
			cell.functions.add(resolved);
			return;
		}
		add_paths(resolved, cell, cell.capture.by_block.at(places_[resolved.number]));
		interference_.add(resolved, cell.cell);
	}
	std::vector<model::CpuNoise> interference() const { return interference_.take(); }

private:
	Interference interference_;
	RunResult &result_;
	const std::vector<size_t> &places_;
	const Wanted &wanted_;
};

} // namespace

double CellResult::share_known() const
{
	const auto share = [](double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 1; };
	return std::min(share(static_cast<double>(complete()), static_cast<double>(probed)),
					share(static_cast<double>(layers.total_ns()), probed_ns));
}

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
		std::vector<Samples> samples(result.cells.size());
		while (const auto window = reader.next())
			for (const Block &block : window->blocks) {
				CellResult &cell = result.cells[block.cell];
				places.push_back(cell.capture.by_block.size());
				cell.capture.add(block, window->blocks.size() - 1, window->records);
				add_stamps(block, cell, samples[block.cell]);
			}
		result.tail = reader.tail();
		result.truncated = reader.truncated();
		for (size_t i = 0; i < samples.size(); ++i)
			describe(result.cells[i], std::exchange(samples[i], {}), wanted); // frees them before the next cell's
		std::vector<std::vector<stats::BlockValue>> blocks;
		for (const CellResult &cell : result.cells)
			blocks.push_back(cell.compared);
		result.ranking = rank(result.head.cells, blocks);
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

} // namespace icepath::report
