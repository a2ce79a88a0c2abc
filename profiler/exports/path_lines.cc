// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/path_lines.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "profiler/analysis/breakdown.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/model/stamps.h"
#include "profiler/path/shares.h"

namespace icepath::exports {
namespace {

// Indexed by path::Culprit::Kind.
constexpr std::array<std::string_view, 6> kCulpritKinds = {"none",     "task",      "interrupt",
														   "idle_cpu", "throttled", "unknown"};

// Names come from threads and plug-ins, and may not be UTF-8.
std::string quoted(const std::string &text)
{
	return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string culprit_fields(const path::Culprit &culprit, const path::Observations &seen)
{
	return fmt::format(R"("kind":"{}","id":{},"name":{})", kCulpritKinds[static_cast<size_t>(culprit.kind)], culprit.id,
					   quoted(name_of(culprit, seen)));
}

std::string bounds(std::string_view which, const path::Boundary &boundary)
{
	return path::is_inferred(boundary.provenance)
			   ? fmt::format(R"(,"{}_bounds_ns":[{},{}])", which, boundary.earliest_ns, boundary.latest_ns)
			   : std::string();
}

std::string segment_text(const path::Path &path, size_t index, const path::Observations &seen)
{
	const path::Segment &segment = path.segments[index];
	const auto thread = seen.threads.find(segment.thread);
	std::string text =
		fmt::format(R"({{"layer":"{}","part":"{}","hop":{},"role":"{}","tid":{},"thread":{},)"
					R"("begin_ns":{},"end_ns":{},"known":"{}")",
					model::name(segment.layer), model::name(segment.part), segment.hop,
					path::kRoleNames[static_cast<size_t>(analysis::role_of(path, segment))], segment.thread,
					quoted(thread == seen.threads.end() ? "" : thread->second.name), segment.begin.at_ns,
					segment.end.at_ns, path::kProvenanceNames[static_cast<size_t>(segment.provenance())]);
	text += bounds("begin", segment.begin) + bounds("end", segment.end);
	if (segment.culprit.kind != path::Culprit::Kind::None)
		text += fmt::format(R"(,"culprit":{{{}}})", culprit_fields(segment.culprit, seen));
	std::string shares;
	for (const path::Share &share : path.shares)
		if (share.segment == index)
			shares += fmt::format(R"({}{{{},"ns":{}}})", shares.empty() ? "" : ",", culprit_fields(share.who, seen),
								  share.ns);
	if (!shares.empty())
		text += fmt::format(R"(,"shares":[{}])", shares);
	return text + "}";
}

} // namespace

std::string name_of(const path::Culprit &culprit, const path::Observations &seen)
{
	std::map<uint32_t, std::string> names;
	if (culprit.kind == path::Culprit::Kind::Task) {
		if (const auto task = seen.task_names.find(culprit.id); task != seen.task_names.end())
			names.insert(*task);
		else if (const auto thread = seen.threads.find(culprit.id); thread != seen.threads.end())
			names.emplace(culprit.id, thread->second.name);
	}
	return culprit_name(culprit, names);
}

std::string block_line(const model::Block &block, const model::Cell &cell, uint64_t number)
{
	std::string workers;
	for (size_t side = 0; side < block.sides.size(); ++side)
		workers += fmt::format(R"({}{{"side":{},"role":"{}","tid":{},"name":{},"cpu":{}}})", side == 0 ? "" : ",", side,
							   model::begins(cell, side) ? "sender" : "receiver", block.sides[side].tid,
							   quoted(model::side_name(cell, side)), cell.graph.sides[side].cpu);
	return fmt::format(R"({{"type":"block","block":{},"cell":{},"title":{},"target":{},"round":{},)"
					   R"("begin_ns":{},"end_ns":{},"workers":[{}]}})"
					   "\n",
					   number, block.cell, quoted(model::title(cell)), quoted(cell.target), block.window->round,
					   block.window->begin.monotonic_ns, block.window->finish.monotonic_ns, workers);
}

std::string segments_text(const path::Path &path, const path::Observations &seen)
{
	std::string segments;
	for (size_t i = 0; path.complete() && i < path.segments.size(); ++i)
		segments += (i == 0 ? "" : ",") + segment_text(path, i, seen);
	return "[" + segments + "]";
}

std::string path_line(const path::Path &path, const path::Delivery &delivery, const path::Observations &seen,
					  const model::Cell &cell, uint64_t block_number)
{
	const model::MessagePlace place = model::place_of(delivery.message);
	const bool back = !model::begins(cell, cell.graph.flows.at(place.flow).from);
	const bool complete = path.complete() && !path.segments.empty();
	const path::Reason reason = complete || !path.complete() ? path.reason : path::Reason::NoEvidence;
	return fmt::format(R"({{"type":"path","block":{},"flow":{},"seq":{},"back":{},)"
					   R"("send_ns":{},"recv_ns":{},"reason":"{}","segments":{}}})"
					   "\n",
					   block_number, place.flow, place.seq, back, path.send_ns, path.recv_ns,
					   path::kReasonNames[static_cast<size_t>(reason)], segments_text(path, seen));
}

} // namespace icepath::exports
