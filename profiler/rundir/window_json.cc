// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/window_json.h"

#include <stdexcept>

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const model::ClockPair &pair)
{
	return {{"monotonic_ns", pair.monotonic_ns}, {"realtime_ns", pair.realtime_ns}};
}

model::ClockPair clock_from_json(const Json &json)
{
	return {unsigned_field(json, "monotonic_ns"), unsigned_field(json, "realtime_ns")};
}

int32_t slot_cpu(const Json &json)
{
	const Json &cpu = field(json, "cpu");
	if (cpu.is_number_integer() && cpu == -1)
		return -1;
	return static_cast<int32_t>(unsigned_field(json, "cpu", 65535));
}

std::vector<model::SkippedPrograms> skipped_from_json(const Json &json)
{
	std::vector<model::SkippedPrograms> skipped;
	for (const Json &some : array_field(json, "skipped", kMaxSkipped)) {
		skipped.push_back(
			{unsigned_field(some, "begin_ns"), unsigned_field(some, "end_ns"), unsigned_field(some, "count")});
		if (skipped.back().begin_ns > skipped.back().end_ns)
			wrong("skipped", "ends before it begins");
	}
	return skipped;
}

Json or_null(const std::optional<uint64_t> &value) { return value ? Json(*value) : Json(nullptr); }

} // namespace

Json to_json(const model::Window &window, size_t blocks)
{
	Json threads = Json::array(), slots = Json::array(), skipped = Json::array();
	for (const model::WindowThread &thread : window.threads)
		threads.push_back({{"tid", thread.tid}, {"cpu", thread.cpu}, {"name", thread.name}});
	for (const model::SlotCapture &slot : window.slots)
		slots.push_back({{"cpu", slot.cpu},
						 {"first", slot.first},
						 {"position", slot.position},
						 {"capacity", slot.capacity},
						 {"records", slot.records.size()}});
	for (const model::SkippedPrograms &some : window.skipped)
		skipped.push_back({{"begin_ns", some.begin_ns}, {"end_ns", some.end_ns}, {"count", some.count}});
	return {{"round", window.round},
			{"probed", window.probed},
			{"begins_midway", window.begins_midway},
			{"ends_midway", window.ends_midway},
			{"begin", to_json(window.begin)},
			{"finish", to_json(window.finish)},
			{"threads", threads},
			{"slots", slots},
			{"skipped", skipped},
			{"steal_ns", or_null(window.steal_ns)},
			{"own_cpu_ns", or_null(window.own_cpu_ns)},
			{"times_throttled", or_null(window.times_throttled)},
			{"blocks", blocks}};
}

WindowShape window_from_json(const Json &json)
{
	WindowShape shape;
	model::Window &window = shape.window;
	window.round = u32_field(json, "round");
	window.probed = bool_field(json, "probed");
	window.begins_midway = bool_field(json, "begins_midway");
	window.ends_midway = bool_field(json, "ends_midway");
	window.begin = clock_from_json(object_field(json, "begin"));
	window.finish = clock_from_json(object_field(json, "finish"));
	for (const Json &one : array_field(json, "threads", kMaxWindowThreads))
		window.threads.push_back({u32_field(one, "tid"), u32_field(one, "cpu"), name_field(one, "name")});
	uint64_t records = 0;
	for (const Json &slot : array_field(json, "slots", kMaxSlots)) {
		model::SlotCapture capture;
		capture.cpu = slot_cpu(slot);
		capture.first = u32_field(slot, "first");
		capture.position = u32_field(slot, "position");
		capture.capacity = u32_field(slot, "capacity");
		if (capture.first > capture.position)
			wrong("first", "comes after position");
		shape.records.push_back(counted_field(slot, "records", records, kMaxRecords));
		if (shape.records.back() > capture.position - capture.first || shape.records.back() > capture.capacity)
			wrong("records", "is more than the slot can have held");
		window.slots.push_back(std::move(capture));
	}
	window.skipped = skipped_from_json(json);
	window.steal_ns = unsigned_or_null(json, "steal_ns");
	window.own_cpu_ns = unsigned_or_null(json, "own_cpu_ns");
	window.times_throttled = unsigned_or_null(json, "times_throttled");
	shape.blocks = unsigned_field(json, "blocks", kMaxBlocks);
	return shape;
}

} // namespace icepath::rundir
