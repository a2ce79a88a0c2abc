// SPDX-License-Identifier: Apache-2.0
#include "tests/report/one_screen.h"

#include <cmath>

namespace icepath {

using model::Layer;
using model::Part;
using model::Pattern;

analysis::CellResult made_cell(const std::string &target, const std::vector<Piece> &pieces)
{
	analysis::CellResult cell;
	cell.cell.target = target;
	cell.blocks.probed = cell.blocks.unprobed = 20;
	cell.openings.count = 20;
	path::Path path;
	path::Boundary at;
	for (const Piece &piece : pieces) {
		path::Segment segment{piece.layer, piece.part, 0, 1, at, at, {}};
		segment.end.at_ns += piece.ns;
		at = segment.end;
		path.segments.push_back(segment);
	}
	path.recv_ns = at.at_ns;
	path.reason = path::Reason::None;
	const path::Observations seen;
	cell.ranges.typical.emplace();
	for (analysis::Breakdown *layers : {&cell.paths.layers, &cell.ranges.typical->layers}) {
		for (int i = 0; i < 100; ++i)
			layers->add(path, seen);
		layers->end_block(100, 0);
	}
	cell.paths.deliveries = cell.ranges.typical->messages = 100;
	const auto p50 = static_cast<double>(at.at_ns);
	cell.times.latency.count = 10'000;
	cell.times.latency.percentiles = {at.at_ns, at.at_ns * 2, at.at_ns * 3, std::nullopt};
	cell.times.latency.intervals[0] = stats::Interval{p50 * 0.95, p50 * 1.05};
	cell.times.latency.intervals[2] = stats::Interval{p50 * 2.4, p50 * 3.6};
	cell.messages.sent = cell.messages.received = 10'000;
	cell.observer_effect.p50 = stats::Effect{0, 20, stats::Interval{0, 0}};
	cell.used.cpu_per_message = {analysis::CpuTime{1000, 2000}, analysis::CpuTime{1000, 2000}};
	return cell;
}

analysis::CellMode made_mode(Layer layer, uint64_t ns, uint64_t of_hundred)
{
	analysis::CellMode mode;
	mode.share = {of_hundred, 100, std::nullopt};
	mode.range.messages = analysis::CellMode::kLeastSeen;
	path::Path path;
	path::Boundary begin, end;
	end.at_ns = path.recv_ns = ns;
	path.segments = {{layer, Part::None, 0, 1, begin, end, {}}};
	path.reason = path::Reason::None;
	for (size_t block = 0; block < analysis::CellMode::kLeastBlocksSeen; ++block) {
		for (size_t i = 0; i < analysis::CellMode::kLeastSeen / analysis::CellMode::kLeastBlocksSeen; ++i)
			mode.range.layers.add(path, {});
		mode.range.layers.end_block(10, static_cast<uint32_t>(block));
	}
	mode.latency.percentiles[0] = ns;
	return mode;
}

analysis::RunResult made_run(std::vector<analysis::CellResult> cells, double wobble)
{
	analysis::RunResult result;
	result.head.icepath_version = "0.1.0";
	result.head.started_utc = "2026-01-02T03:04:05Z";
	result.head.command_line = "icepath run -d 40";
	result.head.budget_s = 40;
	result.head.isolation.why = "CPUs 0 and 1";
	result.head.isolation.items = {{.name = "clock", .quiet = true, .found = "", .effect = "", .remedy = ""}};
	result.tail.emplace();
	std::vector<std::vector<stats::BlockValue>> p50s;
	for (size_t i = 0; i < cells.size(); ++i) {
		result.head.cells.push_back(cells[i].cell);
		std::vector<stats::BlockValue> &blocks = p50s.emplace_back();
		const double p50 = static_cast<double>(*cells[i].times.latency.percentiles[0]);
		for (uint32_t round = 0; round < 20; ++round)
			blocks.push_back(
				{round, false, p50 * (1 + wobble * std::sin(1.7 * round + static_cast<double>(i))), round});
	}
	result.ranking = analysis::rank(result.head.cells, p50s);
	result.cells = std::move(cells);
	return result;
}

analysis::RunResult run_of_35_cells()
{
	std::vector<analysis::CellResult> cells;
	for (const auto &[pattern, bytes] : {std::pair<Pattern, uint64_t>{Pattern::PingPong, 64},
										 {Pattern::PingPong, 4096},
										 {Pattern::OneWay, 64},
										 {Pattern::Sparse, 64}}) {
		std::vector<std::string> targets = {"null",     "pipe", "uds-stream", "uds-seqpacket", "mqueue",
											"shm-ring", "tcp",  "udp",        "eventfd"};
		if (pattern == Pattern::Sparse)
			targets.erase(targets.begin());
		for (size_t i = 0; i < targets.size(); ++i) {
			const bool floor = targets[i] == "null";
			const uint64_t us = pattern == Pattern::Sparse ? 9000 : 1000;
			const std::vector<Piece> pieces = {
				{Layer::SenderUser, Part::None, 130},    {Layer::SenderKernel, Part::None, us + us / 2 * i},
				{Layer::Wakeup, Part::IdleExit, 2 * us}, {Layer::Runqueue, Part::None, us},
				{Layer::Queue, Part::Busy, us / 2},      {Layer::Interrupt, Part::None, us}};
			cells.push_back(
				made_cell(targets[i], floor ? std::vector<Piece>{{Layer::SenderUser, Part::None, 130}} : pieces));
			model::Cell &cell = cells.back().cell;
			cell.pattern = pattern;
			cell.payload_bytes = bytes;
			cell.idle_states = pattern == Pattern::Sparse ? model::IdleStates::Own : model::IdleStates::Held;
			if (floor)
				cell.traits = {model::Trait::NotIpc};
		}
	}
	for (const uint32_t hog : {6, 7, 8}) {
		path::Observations seen;
		seen.task_names[hog] = "hog " + std::to_string(hog);
		path::Boundary begin, end;
		end.at_ns = 1'000'000 * hog;
		path::Path path;
		path.recv_ns = end.at_ns;
		path.segments = {{Layer::Runqueue, Part::None, 0, 1, begin, end, {path::Culprit::Kind::Task, hog, 0}}};
		path.shares = {{0, path.segments[0].culprit, end.at_ns},
					   {0, {path::Culprit::Kind::IdleCpu, 0, 0}, 2 * end.at_ns}}; // which took nothing from anybody
		cells[hog].paths.culprits.add(path, seen);
		cells[hog].followed.slowest = {analysis::WorstMessage{path, hog, 3, 5, false, seen.task_names, {1}}};
	}
	return made_run(std::move(cells));
}

} // namespace icepath
