// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/truth_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace icepath::simulator {
namespace {

using Segments = std::vector<TrueSegment>;

Segments merged(const Segments &segments)
{
	Segments all;
	for (const TrueSegment &one : segments) {
		bool more = !all.empty() && all.back().end_ns == one.begin_ns && all.back().layer == one.layer &&
					all.back().part == one.part && all.back().hop == one.hop && all.back().thread == one.thread;
		if (more)
			all.back().end_ns = one.end_ns;
		else
			all.push_back(one);
	}
	return all;
}

using Bounds = std::vector<std::pair<uint64_t, uint64_t>>;

// The parts outside the bounds of inferred boundaries.
Segments outside(const Segments &segments, const Bounds &bounds)
{
	Segments left = segments;
	for (auto [earliest, latest] : bounds) {
		Segments rest;
		for (const TrueSegment &one : left) {
			TrueSegment before = one, after = one;
			before.end_ns = std::min(one.end_ns, earliest);
			after.begin_ns = std::max(one.begin_ns, latest);
			if (before.begin_ns < before.end_ns)
				rest.push_back(before);
			if (after.begin_ns < after.end_ns)
				rest.push_back(after);
		}
		left = rest;
	}
	return merged(left);
}

Segments of(const path::Path &walked)
{
	Segments all;
	for (const path::Segment &one : walked.segments)
		all.push_back({one.layer, one.part, one.hop, one.thread, one.begin.at_ns, one.end.at_ns});
	return all;
}

using Shares = std::map<std::string, uint64_t>;

std::string name_of(const path::Culprit &who)
{
	switch (who.kind) {
	case path::Culprit::Kind::Task:
		return fmt::format("task {}", who.id);
	case path::Culprit::Kind::Interrupt:
		return fmt::format("interrupt {}.{}", who.interrupt, who.id);
	case path::Culprit::Kind::IdleCpu:
	case path::Culprit::Kind::Throttled:
		return "idle";
	default:
		return "unknown";
	}
}

std::string holder_of(const Turn &turn, const Machine &machine)
{
	// The capture omits short interrupts on an idle CPU.
	for (const Turn::On &one : turn.on)
		if (turn.tid != 0 || machine.interrupt_record.at(one.interrupt))
			return name_of({path::Culprit::Kind::Interrupt, one.vector, one.kind});
	return turn.tid != 0 ? name_of({path::Culprit::Kind::Task, turn.tid, 0}) : "idle";
}

void share(const Machine &machine, uint16_t cpu, uint64_t begin_ns, uint64_t end_ns, Shares &shares)
{
	const std::vector<Turn> &turns = machine.cpu(cpu).turns;
	for (size_t i = 0; i < turns.size(); ++i) {
		const Turn &turn = turns[i];
		const uint64_t from_ns = std::max(turn.begin_ns, begin_ns);
		const uint64_t until_ns = std::min(i + 1 < turns.size() ? turns[i + 1].begin_ns : end_ns, end_ns);
		if (from_ns >= until_ns)
			continue;
		shares[holder_of(turn, machine)] += until_ns - from_ns;
	}
}

Shares true_shares(const TrueCpu &cpu, uint64_t begin_ns, uint64_t end_ns)
{
	Shares shares;
	const auto &queues = cpu.thread->queued_on;
	for (size_t i = 0; i < queues.size(); ++i) {
		const uint64_t until_ns = i + 1 < queues.size() ? std::min(queues[i + 1].first, end_ns) : end_ns;
		share(*cpu.machine, queues[i].second, std::max(queues[i].first, begin_ns), until_ns, shares);
	}
	return shares;
}

// How long it was throttled during the segment.
uint64_t throttled_ns(const TrueCpu &cpu, const path::Segment &segment)
{
	uint64_t sum_ns = 0;
	for (const auto &[begin_ns, end_ns] : cpu.thread->throttled) {
		const uint64_t from_ns = std::max(begin_ns, segment.begin.at_ns);
		const uint64_t until_ns = std::min(end_ns == 0 ? UINT64_MAX : end_ns, segment.end.at_ns);
		sum_ns += from_ns < until_ns ? until_ns - from_ns : 0;
	}
	return sum_ns;
}

// Checks that no culprit gets more of a wait than it had, that each wait is shared out completely, and that a named
// culprit had half of it.
std::string wrong_shares(const path::Path &walked, const Truth &truth)
{
	std::vector<Shares> told(walked.segments.size());
	for (const path::Share &one : walked.shares)
		told.at(one.segment)[name_of(one.who)] += one.ns;
	for (size_t i = 0; i < told.size(); ++i) {
		const path::Segment &segment = walked.segments[i];
		if (!model::waits_for_cpu(segment.layer, segment.part))
			continue;
		const TrueCpu &cpu = truth.cpus.at(segment.thread);
		const Shares real = true_shares(cpu, segment.begin.at_ns, segment.end.at_ns);
		uint64_t sum_ns = 0;
		for (const auto &[who, ns] : told[i]) {
			sum_ns += ns;
			const auto had = real.find(who);
			if (who != "unknown" && ns > (had == real.end() ? 0 : had->second))
				return fmt::format("{} has {} of [{},{}), and had {}", who, ns, segment.begin.at_ns - truth.send_ns,
								   segment.end.at_ns - truth.send_ns, had == real.end() ? 0 : had->second);
		}
		if (sum_ns != segment.duration_ns())
			return fmt::format("{} of {} ns are shared out", sum_ns, segment.duration_ns());
		if (segment.culprit.kind != path::Culprit::Kind::None && told[i][name_of(segment.culprit)] * 2 < sum_ns)
			return fmt::format("{} is named for {} of {} ns", name_of(segment.culprit),
							   told[i][name_of(segment.culprit)], sum_ns);
		for (const path::Share &one : walked.shares)
			if (one.segment == i && one.who.kind == path::Culprit::Kind::Throttled &&
				one.ns > throttled_ns(cpu, segment))
				return fmt::format("a thread is said to have been throttled for {} ns, and was for {}", one.ns,
								   throttled_ns(cpu, segment));
	}
	return {};
}

} // namespace

std::string text(const Segments &segments, uint64_t zero)
{
	std::string line;
	for (const TrueSegment &one : segments)
		line += fmt::format("{}:{}{}{} [{},{}) | ", one.hop, name(one.layer), one.part == model::Part::None ? "" : "/",
							name(one.part), one.begin_ns - zero, one.end_ns - zero);
	return line;
}

std::string wrong(const path::Path &walked, const Truth &truth)
{
	if (!walked.complete())
		return {};
	if (!truth.tellable)
		return "told a path that no evidence tells: " + text(of(walked), truth.send_ns);
	Bounds bounds;
	for (const path::Segment &one : walked.segments)
		for (const path::Boundary &boundary : {one.begin, one.end})
			if (path::is_inferred(boundary.provenance))
				bounds.emplace_back(boundary.earliest_ns, boundary.latest_ns);
	auto within = [](uint64_t at_ns, auto bound) { return bound.first <= at_ns && at_ns <= bound.second; };
	for (uint64_t ready : truth.inferred_ns)
		if (std::ranges::none_of(bounds, [&](auto bound) { return within(ready, bound); }))
			return fmt::format("no bound holds {}: {}\n  truth {}", ready - truth.send_ns,
							   text(of(walked), truth.send_ns), text(truth.segments, truth.send_ns));
	// For a hand-over in memory the instant is chosen, within its bounds.
	for (auto bound : bounds)
		if (bound.first < bound.second &&
			std::ranges::none_of(truth.ready_ns, [&](uint64_t ready) { return within(ready, bound); }))
			return fmt::format("a bound [{},{}] holds nothing: {}\n  truth {}", bound.first - truth.send_ns,
							   bound.second - truth.send_ns, text(of(walked), truth.send_ns),
							   text(truth.segments, truth.send_ns));
	Segments told = outside(of(walked), bounds), real = outside(truth.segments, bounds);
	if (!truth.counts_hops)
		for (Segments *both : {&told, &real}) {
			for (TrueSegment &one : *both) {
				one.hop = 0;
				// A wake for a heartbeat delivered no message, but the thread took one nevertheless.
				if (one.part == model::Part::Spurious && !model::waits_for_cpu(one.layer, one.part))
					one.part = model::Part::None;
			}
			*both = merged(*both);
		}
	if (told == real)
		return wrong_shares(walked, truth);
	return fmt::format("walked {}\n  truth  {}", text(told, truth.send_ns), text(real, truth.send_ns));
}

} // namespace icepath::simulator
