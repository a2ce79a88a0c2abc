// SPDX-License-Identifier: Apache-2.0
#include "tests/path/truth_check.h"

#include <fmt/format.h>

#include <algorithm>

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

// What lies outside the bounds of boundaries that are only inferred.
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

} // namespace

std::string text(const Segments &segments, uint64_t zero)
{
	std::string line;
	for (const TrueSegment &one : segments)
		line += fmt::format("{}:{}{}{} [{},{}) | ", one.hop, name(one.layer), one.part == path::Part::None ? "" : "/",
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
	for (auto bound : bounds)
		if (std::ranges::none_of(truth.ready_ns, [&](uint64_t ready) { return within(ready, bound); }))
			return fmt::format("a bound [{},{}] holds nothing; truth {}", bound.first - truth.send_ns,
							   bound.second - truth.send_ns, text(truth.segments, truth.send_ns));
	Segments told = outside(of(walked), bounds), real = outside(truth.segments, bounds);
	if (told == real)
		return {};
	return fmt::format("walked {}\n  truth  {}", text(told, truth.send_ns), text(real, truth.send_ns));
}

} // namespace icepath::simulator
