// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/worst_message.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/model/cell_title.h"
#include "profiler/path/shares.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

using path::Segment;

constexpr size_t kMostRows = 60; // of a path: a thread that often yields its CPU makes thousands of segments

std::string layer_name(const Segment &segment)
{
	std::string text(model::name(segment.layer));
	if (segment.part != model::Part::None)
		text += fmt::format("/{}", model::name(segment.part));
	return text;
}

std::string thread_name(const WorstMessage &worst, uint32_t tid)
{
	const auto at = worst.task_names.find(tid);
	return at == worst.task_names.end() ? fmt::format("thread {}", tid) : at->second;
}

std::string certainty(const Segment &segment)
{
	std::string known(path::kProvenanceNames[static_cast<size_t>(segment.provenance())]);
	if (!path::is_inferred(segment.provenance()))
		return known;
	uint64_t spread = 0;
	for (const path::Boundary &end : {segment.begin, segment.end})
		if (path::is_inferred(end.provenance) && end.latest_ns > end.earliest_ns)
			spread = std::max(spread, end.latest_ns - end.earliest_ns);
	return spread == 0 ? known : fmt::format("{} within {}", known, duration(static_cast<double>(spread)));
}

} // namespace

std::string blame(const WorstMessage &worst, const Segment &segment)
{
	using Kind = path::Culprit::Kind;
	if (segment.culprit.kind == Kind::None)
		return "";
	const std::string name = culprit_name(segment.culprit, worst.task_names);
	const auto cpu = worst.cpus.find(segment.thread);
	const std::string its_cpu = cpu == worst.cpus.end() ? "its CPU" : fmt::format("CPU {}", cpu->second);
	switch (segment.culprit.kind) {
	case Kind::Interrupt:
		return segment.layer == model::Layer::Blocked ? "woken by " + name : name;
	case Kind::IdleCpu:
		return its_cpu + " was idle";
	case Kind::Throttled:
		return "throttled: the CPU was idle, and a control group of the cell had used up its quota in this block";
	default:
		break;
	}
	// Two threads may share a name; the tid distinguishes them. A thread without a name is named by its tid.
	const auto named = worst.task_names.find(segment.culprit.id);
	const bool has_name = named != worst.task_names.end() && !named->second.empty() && segment.culprit.id != 0;
	const std::string task = has_name ? fmt::format("{} ({})", name, segment.culprit.id) : name;
	if (segment.layer == model::Layer::Blocked || segment.part == model::Part::Blocked)
		return "woken by " + task;
	return fmt::format("{} ran {}", its_cpu, task);
}

namespace {

// The part of waits for a CPU that no record attributes, in all segments of a layer.
uint64_t unrecorded_ns(const WorstMessage &worst, const std::string &layer)
{
	uint64_t ns = 0;
	for (const path::Share &share : worst.path.shares)
		if (share.who.kind == path::Culprit::Kind::Unknown &&
			layer_name(worst.path.segments.at(share.segment)) == layer)
			ns += share.ns;
	return ns;
}

} // namespace

MostOfMessage most_of(const WorstMessage &worst)
{
	std::map<std::pair<std::string, std::string>, uint64_t> sums; // by layer and blame
	for (const Segment &segment : worst.path.segments)
		sums[{layer_name(segment), blame(worst, segment)}] += segment.duration_ns();
	const auto most = std::ranges::max_element(sums, {}, [](const auto &sum) { return sum.second; });
	if (most == sums.end() || worst.latency_ns() == 0)
		return {};
	const auto &[layer, who] = most->first;
	const bool is_unrecorded = who.empty() && 2 * unrecorded_ns(worst, layer) >= most->second && most->second > 0;
	return {layer, is_unrecorded ? "by unknown" : who,
			static_cast<double>(most->second) / static_cast<double>(worst.latency_ns())};
}

std::vector<std::string> explain(const WorstMessage &worst, const model::Cell &cell, const Look &look)
{
	const std::vector<Segment> &segments = worst.path.segments;
	std::vector<uint64_t> times;
	size_t layer_width = 5, thread_width = 6, time_width = 2;
	for (const Segment &segment : segments) {
		times.push_back(segment.duration_ns());
		layer_width = std::max(layer_width, columns(layer_name(segment)));
		thread_width = std::max(thread_width, columns(thread_name(worst, segment.thread)));
	}
	time_width = std::max(time_width, columns(exact_microseconds(worst.latency_ns())));
	const std::vector<uint64_t> shares = apportion(times, 1000);
	const auto row = [&](const std::string &symbol, const std::string &layer, const std::string &thread,
						 const std::string &time, const std::string &share, const std::string &rest) {
		std::string line =
			fmt::format("  {} {}  {}  {}  {}  {}", symbol, pad_right(layer, layer_width),
						pad_right(thread, thread_width), pad_left(time, time_width), pad_left(share, 7), rest);
		line.erase(line.find_last_not_of(' ') + 1);
		return line;
	};
	const auto tenths = [](uint64_t share) { return fmt::format("{}.{} %", share / 10, share % 10); };

	std::vector<std::string> lines;
	const char *way = worst.back ? "answer" : "message";
	lines.push_back(fmt::format("worst message with a complete path: {} {}, {} {} of round {}, {}", cell.target,
								model::payload_text(cell.payload_bytes), way, count(worst.seq), worst.round,
								duration(static_cast<double>(worst.latency_ns()))));
	lines.push_back(row(" ", "layer", "thread", "µs", "share", "known"));
	const size_t left_out = segments.size() > kMostRows ? segments.size() - kMostRows : 0;
	const size_t first_left_out = left_out > 0 ? kMostRows / 2 : segments.size();
	uint64_t between_ns = 0, between_share = 0;
	for (size_t i = 0; i < segments.size(); ++i) {
		const std::string who = blame(worst, segments[i]);
		if (i >= first_left_out && i < first_left_out + left_out) {
			between_ns += times[i];
			between_share += shares[i];
			if (i + 1 == first_left_out + left_out)
				lines.push_back(row(" ", "…", "", exact_microseconds(between_ns), tenths(between_share),
									count(left_out) + " pieces more"));
			continue;
		}
		const LayerKind kind = kind_of(segments[i].layer, segments[i].part, cell.kind == model::kAdapter);
		lines.push_back(row(kind_symbol(kind, 1, look), layer_name(segments[i]), thread_name(worst, segments[i].thread),
							exact_microseconds(times[i]), tenths(shares[i]),
							certainty(segments[i]) + (who.empty() ? "" : "  <- " + who)));
	}
	lines.push_back(row(" ", "sum", "", exact_microseconds(worst.latency_ns()), tenths(1000), "= recv - send"));
	if (const MostOfMessage most = most_of(worst); most.share > 0)
		lines.push_back(fmt::format("  mostly {}: {} of it{}", most.layer, percent(most.share),
									most.who.empty() ? "" : ", " + most.who));
	return lines;
}

} // namespace icepath::report
