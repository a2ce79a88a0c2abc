// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <tuple>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/messages.h"
#include "profiler/exports/path_lines.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/stamps.h"

namespace icepath::exports {
namespace {

using protozero::pbf_writer;

// Field numbers of Perfetto's messages.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13,
				   kDefaults = 59, kTrackDescriptor = 60;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2; // flags
constexpr uint32_t kDefaultClock = 58; // of kDefaults
} // namespace packet
namespace clocks {
constexpr uint32_t kClock = 1, kPrimary = 2, kId = 1, kTime = 2;
constexpr uint32_t kRealtime = 1, kMonotonic = 3; // builtin clocks
} // namespace clocks
namespace descriptor {
constexpr uint32_t kUuid = 1, kName = 2, kParent = 5, kCounter = 8;
}
namespace event {
constexpr uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11, kCounterValue = 30, kFlow = 47,
				   kEndingFlow = 48;
constexpr int32_t kBegin = 1, kEnd = 2, kCount = 4; // types
} // namespace event
namespace annotation {
constexpr uint32_t kNumber = 3, kText = 6, kName = 10;
}
namespace interned {
constexpr uint32_t kEventName = 2, kId = 1, kName = 2;
}

constexpr uint32_t kOneSequence = 1;

std::string name_of(const path::Segment &segment)
{
	return segment.part == path::Part::None
			   ? std::string(model::name(segment.layer))
			   : fmt::format("{}/{}", model::name(segment.layer), model::name(segment.part));
}

// Whether the hop's thread has the message in that layer, or waits for its CPU.
bool is_of_the_thread(path::Layer layer)
{
	return layer != path::Layer::Queue && layer != path::Layer::Network && layer != path::Layer::Propagation;
}

std::string name_of_thread(const path::Observations &seen, uint32_t tid)
{
	const auto thread = seen.threads.find(tid);
	return thread == seen.threads.end() || thread->second.name.empty() ? fmt::format("{}", tid) : thread->second.name;
}

// Names of tracks. Threads that share a name, as a library's in two processes, are numbered in the order of their ids.
std::map<uint32_t, std::string> tracks_of_threads(const resolve::ResolvedBlock &resolved)
{
	std::map<std::string, std::set<uint32_t>> by_name;
	for (const path::Path &path : resolved.paths)
		for (const path::Segment &segment : path.segments)
			by_name[name_of_thread(resolved.seen, segment.thread)].insert(segment.thread);
	std::map<uint32_t, std::string> names;
	for (const auto &[name, threads] : by_name) {
		size_t number = 0;
		for (const uint32_t tid : threads)
			names[tid] = "thread " + name + (threads.size() > 1 ? fmt::format(" #{}", ++number) : "");
	}
	return names;
}

} // namespace

struct PerfettoTrace::Event {
	uint64_t at_ns = 0, track = 0;
	int32_t type = event::kBegin;
	std::string name = {}; // of a beginning slice
	std::vector<std::pair<std::string, std::string>> texts = {};
	std::vector<std::pair<std::string, uint64_t>> numbers = {};
	uint64_t flow = 0, ending_flow = 0, value = 0; // value: of a counter
};

PerfettoTrace::PerfettoTrace(const std::shared_ptr<Folder> &folder, const model::Head &head)
	: file_(folder, "paths.perfetto-trace"), head_(head)
{
	std::string bytes, defaults;
	pbf_writer(defaults).add_uint32(packet::kDefaultClock, clocks::kMonotonic);
	pbf_writer writer(bytes);
	writer.add_uint32(packet::kSequence, kOneSequence);
	writer.add_uint32(packet::kFlags, packet::kStateCleared);
	writer.add_message(packet::kDefaults, defaults);
	add_packet(bytes);
}

std::string PerfettoTrace::done()
{
	file_.done();
	return file_.path();
}

void PerfettoTrace::add_packet(const std::string &packet)
{
	std::string bytes;
	pbf_writer(bytes).add_message(trace::kPacket, packet);
	file_.add(bytes);
}

// The first one decides the clock of the trace.
void PerfettoTrace::add_clocks(const model::ClockPair &now)
{
	std::string bytes, snapshot;
	pbf_writer of_snapshot(snapshot);
	for (const auto &[id, ns] :
		 {std::pair{clocks::kMonotonic, now.monotonic_ns}, {clocks::kRealtime, now.realtime_ns}}) {
		std::string clock;
		pbf_writer of_clock(clock);
		of_clock.add_uint32(clocks::kId, id);
		of_clock.add_uint64(clocks::kTime, ns);
		of_snapshot.add_message(clocks::kClock, clock);
	}
	of_snapshot.add_uint32(clocks::kPrimary, clocks::kMonotonic);
	pbf_writer writer(bytes);
	writer.add_uint32(packet::kSequence, kOneSequence);
	writer.add_message(packet::kClockSnapshot, snapshot);
	add_packet(bytes);
}

uint64_t PerfettoTrace::track(uint32_t cell, const std::string &name, bool is_counter)
{
	const auto describe = [&](uint64_t uuid, uint64_t parent, const std::string &title, bool counts) {
		std::string bytes, track;
		pbf_writer of_track(track);
		of_track.add_uint64(descriptor::kUuid, uuid);
		of_track.add_string(descriptor::kName, title);
		if (parent != 0)
			of_track.add_uint64(descriptor::kParent, parent);
		if (counts)
			of_track.add_message(descriptor::kCounter, std::string());
		pbf_writer writer(bytes);
		writer.add_uint32(packet::kSequence, kOneSequence);
		writer.add_message(packet::kTrackDescriptor, track);
		add_packet(bytes);
	};
	const auto [of_cell, is_new_cell] = cells_.try_emplace(cell, last_track_ + 1);
	if (is_new_cell)
		describe(++last_track_, 0, model::title(head_.cells.at(cell)), false);
	const auto [found, is_new] = tracks_.try_emplace({cell, name}, last_track_ + 1);
	if (is_new)
		describe(++last_track_, of_cell->second, name, is_counter);
	return found->second;
}

// `interned`: gets the name's definition if it is new.
uint64_t PerfettoTrace::name_id(const std::string &name, std::string &interned)
{
	const auto [found, is_new] = names_.try_emplace(name, names_.size() + 1);
	if (is_new) {
		std::string definition;
		pbf_writer of_name(definition);
		of_name.add_uint64(interned::kId, found->second);
		of_name.add_string(interned::kName, name);
		pbf_writer(interned).add_message(interned::kEventName, definition);
	}
	return found->second;
}

void PerfettoTrace::add(const Event &one)
{
	std::string bytes, track_event, names;
	pbf_writer of_event(track_event);
	of_event.add_enum(event::kType, one.type);
	of_event.add_uint64(event::kTrack, one.track);
	if (!one.name.empty())
		of_event.add_uint64(event::kNameId, name_id(one.name, names));
	if (one.type == event::kCount)
		of_event.add_int64(event::kCounterValue, static_cast<int64_t>(one.value));
	const auto annotate = [&](const std::string &name, const auto &add_value) {
		std::string annotated;
		pbf_writer of_annotation(annotated);
		of_annotation.add_string(annotation::kName, name);
		add_value(of_annotation);
		of_event.add_message(event::kAnnotation, annotated);
	};
	for (const auto &[name, text] : one.texts)
		annotate(name, [&, &value = text](pbf_writer &to) { to.add_string(annotation::kText, value); });
	for (const auto &[name, number] : one.numbers)
		annotate(name, [&, &value = number](pbf_writer &to) { to.add_uint64(annotation::kNumber, value); });
	if (one.flow != 0)
		of_event.add_fixed64(event::kFlow, one.flow);
	if (one.ending_flow != 0)
		of_event.add_fixed64(event::kEndingFlow, one.ending_flow);
	pbf_writer writer(bytes);
	writer.add_uint64(packet::kTimestamp, one.at_ns);
	writer.add_uint32(packet::kSequence, kOneSequence);
	writer.add_uint32(packet::kFlags, packet::kNeedsState);
	if (!names.empty())
		writer.add_message(packet::kInterned, names);
	writer.add_message(packet::kTrackEvent, track_event);
	add_packet(bytes);
}

void PerfettoTrace::visit(const resolve::ResolvedBlock &resolved)
{
	const model::Cell &cell = head_.cells.at(resolved.block.cell);
	add_clocks(resolved.block.window->begin);
	add_block(resolved, cell);
	add_messages(resolved, cell);
	add_threads(resolved);
}

void PerfettoTrace::add_block(const resolve::ResolvedBlock &resolved, const model::Cell &cell)
{
	const model::Block &block = resolved.block;
	const uint64_t lost = analysis::look_at_messages(block, cell).counts.lost;
	const auto incomplete = static_cast<uint64_t>(
		std::ranges::count_if(resolved.paths, [](const path::Path &path) { return !path.complete(); }));
	const uint64_t track_of_blocks = track(block.cell, "blocks");
	const uint64_t begin_ns = block.window->begin.monotonic_ns, end_ns = block.window->finish.monotonic_ns;
	add({begin_ns,
		 track_of_blocks,
		 event::kBegin,
		 "block with probes",
		 {},
		 {{"round", block.window->round},
		  {"lost messages", lost},
		  {"incomplete paths", incomplete},
		  {"skipped probes", model::sum_of(block.window->skipped)}}});
	add({end_ns, track_of_blocks, event::kEnd});
	for (const auto &[name, value] : {std::pair{"lost messages", lost}, {"incomplete paths", incomplete}}) {
		Event count{begin_ns, track(block.cell, name, true), event::kCount};
		count.value = value;
		add(count);
	}
}

void PerfettoTrace::add_messages(const resolve::ResolvedBlock &resolved, const model::Cell &cell)
{
	std::vector<size_t> by_send(resolved.paths.size());
	for (size_t i = 0; i < by_send.size(); ++i)
		by_send[i] = i;
	std::ranges::stable_sort(by_send, {}, [&](size_t i) { return resolved.paths[i].send_ns; });
	std::vector<uint64_t> free_from_ns; // by lane
	for (const size_t i : by_send) {
		const path::Path &path = resolved.paths[i];
		if (path.recv_ns < path.send_ns)
			continue; // by stamps that contradict each other
		size_t lane = 0;
		while (lane < free_from_ns.size() && free_from_ns[lane] > path.send_ns)
			++lane;
		free_from_ns.resize(std::max(free_from_ns.size(), lane + 1));
		free_from_ns[lane] = path.recv_ns;
		const uint64_t on = track(resolved.block.cell, fmt::format("messages {}", lane + 1));
		const model::MessagePlace place = model::place_of(resolved.seen.deliveries[i].message);
		const model::Flow &flow = cell.graph.flows.at(place.flow);
		const std::string reason =
			path.complete() ? "" : std::string(path::kReasonNames[static_cast<size_t>(path.reason)]);
		add({path.send_ns,
			 on,
			 event::kBegin,
			 reason.empty() ? model::begins(cell, flow.from) ? "message" : "answer" : "incomplete: " + reason,
			 {},
			 {{"round", resolved.block.window->round},
			  {"seq", place.seq},
			  {"from side", flow.from},
			  {"to side", flow.to}}});
		for (const path::Segment &segment : path.segments) {
			Event begin{segment.begin.at_ns, on, event::kBegin, name_of(segment)};
			begin.texts.emplace_back("thread", name_of_thread(resolved.seen, segment.thread));
			begin.texts.emplace_back("known", path::kProvenanceNames[static_cast<size_t>(segment.provenance())]);
			if (segment.culprit.kind != path::Culprit::Kind::None)
				begin.texts.emplace_back("culprit", name_of(segment.culprit, resolved.seen));
			add(begin);
			add({segment.end.at_ns, on, event::kEnd});
		}
		add({path.recv_ns, on, event::kEnd});
	}
}

// Messages that one call sends to several receivers share the thread's time: the first of them shows it.
void PerfettoTrace::add_threads(const resolve::ResolvedBlock &resolved)
{
	struct Slice {
		const path::Segment *segment = nullptr;
		size_t message = 0;
		bool begins = false, ends = false; // the message's way
		auto key() const { return std::tuple(segment->thread, segment->begin.at_ns, segment->end.at_ns); }
	};
	std::vector<Slice> slices;
	for (size_t i = 0; i < resolved.paths.size(); ++i) {
		const auto &segments = resolved.paths[i].segments;
		const size_t first = slices.size();
		for (const path::Segment &segment : segments)
			if (is_of_the_thread(segment.layer) && segment.duration_ns() > 0)
				slices.push_back({&segment, i, false, false});
		if (slices.size() > first && slices[first].segment->hop == 0 &&
			slices.back().segment->hop == segments.back().hop && segments.back().hop > 0)
			slices[first].begins = slices.back().ends = true;
	}
	std::ranges::stable_sort(slices, {}, &Slice::key);
	std::vector<Slice> shown;
	for (const Slice &slice : slices)
		if (shown.empty() || shown.back().segment->thread != slice.segment->thread ||
			shown.back().segment->end.at_ns <= slice.segment->begin.at_ns)
			shown.push_back(slice);
	std::vector<int> ends(resolved.paths.size());
	for (const Slice &slice : shown)
		ends[slice.message] += slice.begins + slice.ends;
	std::map<size_t, uint64_t> flows; // by message
	const std::map<uint32_t, std::string> threads = tracks_of_threads(resolved);
	for (const Slice &slice : shown) {
		const uint64_t on = track(resolved.block.cell, threads.at(slice.segment->thread));
		Event begin{slice.segment->begin.at_ns, on, event::kBegin, name_of(*slice.segment)};
		if ((slice.begins || slice.ends) && ends[slice.message] == 2) {
			const auto flow = flows.try_emplace(slice.message, last_flow_ + 1);
			last_flow_ += flow.second ? 1 : 0;
			(slice.begins ? begin.flow : begin.ending_flow) = flow.first->second;
		}
		add(begin);
		add({slice.segment->end.at_ns, on, event::kEnd});
	}
}

} // namespace icepath::exports
