// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/one_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "profiler/path/shares.h"

namespace icepath::explain {
namespace {

using TypicalPlace = std::tuple<model::Layer, model::Part, path::Role, uint16_t>;

TypicalPlace typical_place(model::Layer layer, model::Part part, path::Role role, uint16_t hop)
{
	return {layer, part, role, role == path::Role::Relay ? hop : uint16_t{0}};
}

std::map<TypicalPlace, double> typical_times(const analysis::LatencyRange *typical)
{
	std::map<TypicalPlace, double> times;
	if (typical)
		for (const analysis::LayerRow &row : typical->layers.rows())
			times[typical_place(row.layer, row.part, row.role, row.hop)] += row.mean_ns;
	return times;
}

Taken longest_first(const std::map<std::string, uint64_t> &by_name)
{
	Taken list(by_name.begin(), by_name.end());
	std::ranges::stable_sort(list, std::ranges::greater(), [](const auto &one) { return one.second; });
	return list;
}

// By segment, each name once. Tasks of one name are told apart by their tids.
std::map<uint32_t, Taken> taken_by(const analysis::WorstMessage &message)
{
	std::map<std::string, std::set<uint32_t>> tids;
	for (const path::Share &share : message.path.shares)
		if (share.who.kind == path::Culprit::Kind::Task)
			tids[culprit_name(share.who, message.task_names)].insert(share.who.id);
	std::map<uint32_t, std::map<std::string, uint64_t>> sums;
	for (const path::Share &share : message.path.shares) {
		std::string name = culprit_name(share.who, message.task_names);
		if (share.who.kind == path::Culprit::Kind::Task && tids[name].size() > 1)
			name += fmt::format(" ({})", share.who.id);
		sums[share.segment][std::move(name)] += share.ns;
	}
	std::map<uint32_t, Taken> taken;
	for (const auto &[segment, by_name] : sums)
		taken[segment] = longest_first(by_name);
	return taken;
}

} // namespace

uint64_t bound_of(const path::Segment &segment)
{
	uint64_t bound_ns = 0;
	for (const path::Boundary &end : {segment.begin, segment.end})
		if (path::is_inferred(end.provenance) && end.latest_ns > end.earliest_ns)
			bound_ns = std::max(bound_ns, end.latest_ns - end.earliest_ns);
	return bound_ns;
}

std::map<uint32_t, std::string> names_of_threads(const analysis::WorstMessage &message)
{
	std::map<uint32_t, std::string> names;
	for (const path::Segment &segment : message.path.segments)
		if (const auto at = message.task_names.find(segment.thread); at != message.task_names.end())
			names.emplace(segment.thread, at->second);
		else
			names.emplace(segment.thread, fmt::format("thread {}", segment.thread));
	std::map<std::string, size_t> threads; // by name
	for (const auto &[tid, name] : names)
		++threads[name];
	for (auto &[tid, name] : names)
		if (threads.at(name) > 1)
			name += fmt::format(" ({})", tid);
	return names;
}

std::vector<MessageStep> steps_of(const analysis::WorstMessage &message, const analysis::LatencyRange *typical)
{
	const std::map<TypicalPlace, double> times = typical_times(typical);
	const auto taken = taken_by(message);
	const std::map<uint32_t, std::string> names = names_of_threads(message);
	std::vector<MessageStep> steps;
	for (size_t i = 0; i < message.path.segments.size(); ++i) {
		const path::Segment &segment = message.path.segments[i];
		MessageStep &step = steps.emplace_back();
		step.layer = segment.layer;
		step.part = segment.part;
		step.offset_ns = segment.begin.at_ns - message.path.send_ns;
		step.ns = segment.duration_ns();
		step.thread = names.at(segment.thread);
		step.cpu = message.cpus.at(i);
		step.known = path::kProvenanceNames[static_cast<size_t>(segment.provenance())];
		step.bound_ns = bound_of(segment);
		step.blame = blame(message, i);
		if (const auto at = taken.find(static_cast<uint32_t>(i)); at != taken.end())
			step.taken = at->second;
		const auto mean = times.find(
			typical_place(segment.layer, segment.part, analysis::role_of(message.path, segment), segment.hop));
		if (mean != times.end() && mean->second > 0)
			step.of_typical = static_cast<double>(step.ns) / mean->second;
	}
	return steps;
}

std::vector<size_t> longest_of(const std::vector<uint64_t> &ns, size_t most)
{
	std::vector<size_t> steps(ns.size());
	std::iota(steps.begin(), steps.end(), size_t{0});
	if (steps.size() <= most)
		return steps;
	const auto shown_end = steps.begin() + static_cast<std::ptrdiff_t>(most);
	std::ranges::nth_element(steps, shown_end, std::ranges::greater(), [&](size_t step) { return ns[step]; });
	steps.resize(most);
	std::ranges::sort(steps);
	return steps;
}

std::string name_of(const analysis::WorstMessage &message)
{
	return fmt::format("{}:{}{}", message.round, message.seq, message.back ? ":back" : "");
}

Blame blame(const analysis::WorstMessage &worst, size_t index)
{
	using Kind = path::Culprit::Kind;
	const path::Segment &segment = worst.path.segments.at(index);
	const path::Culprit &culprit = segment.culprit;
	Blame who{.kind = culprit.kind};
	if (culprit.kind == Kind::None)
		return who;
	who.name = culprit_name(culprit, worst.task_names);
	who.cpu = worst.cpus.at(index);
	who.woke = segment.layer == model::Layer::Blocked || segment.part == model::Part::Blocked;
	who.is_own_timer = culprit.work == path::Culprit::Work::OwnTimer;
	// A task without a name is named by its tid.
	const auto named = worst.task_names.find(culprit.id);
	if (culprit.kind == Kind::Task && culprit.id != 0 && named != worst.task_names.end() && !named->second.empty())
		who.tid = culprit.id;
	return who;
}

namespace {

using LayerPart = std::pair<model::Layer, model::Part>;

// The part of waits for a CPU that no record attributes, in all segments of a layer.
uint64_t unrecorded_ns(const analysis::WorstMessage &worst, const LayerPart &layer)
{
	uint64_t ns = 0;
	for (const path::Share &share : worst.path.shares)
		if (share.who.kind == path::Culprit::Kind::Unknown) {
			const path::Segment &segment = worst.path.segments.at(share.segment);
			ns += LayerPart(segment.layer, segment.part) == layer ? share.ns : 0;
		}
	return ns;
}

} // namespace

MostOfMessage most_of(const analysis::WorstMessage &worst)
{
	using Kind = path::Culprit::Kind;
	struct Sum {
		uint64_t ns = 0, bound_ns = 0;
		std::map<std::string, uint64_t> taken;
	};
	std::map<std::pair<LayerPart, Blame>, Sum> sums;
	const auto taken = taken_by(worst);
	for (size_t i = 0; i < worst.path.segments.size(); ++i) {
		const path::Segment &segment = worst.path.segments[i];
		Sum &sum = sums[{{segment.layer, segment.part}, blame(worst, i)}];
		sum.ns += segment.duration_ns();
		sum.bound_ns = std::max(sum.bound_ns, bound_of(segment));
		if (const auto at = taken.find(static_cast<uint32_t>(i)); at != taken.end())
			for (const auto &[name, ns] : at->second)
				sum.taken[name] += ns;
	}
	const auto most = std::ranges::max_element(sums, {}, [](const auto &sum) { return sum.second.ns; });
	if (most == sums.end() || worst.latency_ns() == 0)
		return {};
	const auto &[layer, who] = most->first;
	const Sum &sum = most->second;
	const bool is_unrecorded = who.kind == Kind::None && 2 * unrecorded_ns(worst, layer) >= sum.ns && sum.ns > 0;
	return {.layer = layer.first,
			.part = layer.second,
			.who = is_unrecorded ? Blame{.kind = Kind::Unknown} : who,
			.share = static_cast<double>(sum.ns) / static_cast<double>(worst.latency_ns()),
			.ns = sum.ns,
			.taken = longest_first(sum.taken),
			.bound_ns = sum.bound_ns};
}

const analysis::WorstMessage *worst_message(const analysis::RunResult &result)
{
	const analysis::WorstMessage *worst = nullptr;
	for (const analysis::CellResult &cell : result.cells)
		if (!cell.cell.traits.has(model::Trait::NotIpc) && cell.followed.worst() &&
			(!worst || cell.followed.worst()->latency_ns() > worst->latency_ns()))
			worst = cell.followed.worst();
	return worst;
}

std::optional<SlowerMessage> slower_than(const analysis::WorstMessage &worst, const analysis::RunResult &result)
{
	SlowerMessage slowest{.ns = worst.latency_ns()};
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const analysis::CellResult &cell = result.cells[i];
		if (cell.cell.traits.has(model::Trait::NotIpc))
			continue;
		for (const auto &[ns, probed] :
			 {std::pair{cell.times.latency.max, false}, {cell.times.latency_probed.max, true}})
			if (ns > slowest.ns)
				slowest = {i, ns, probed};
	}
	return slowest.ns > worst.latency_ns() ? std::optional(slowest) : std::nullopt;
}

} // namespace icepath::explain
