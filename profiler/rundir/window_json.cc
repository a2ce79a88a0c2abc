// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/window_json.h"

#include <algorithm>
#include <stdexcept>

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/sockets_json.h"

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

void add_samples(const model::Window &window, Json &json)
{
	if (window.is_sampled())
		json["samples"] = {
			{"period_ns", window.sample_period_ns}, {"functions", window.functions}, {"stacks", window.stacks}};
}

void samples_from_json(const Json &json, model::Window &window)
{
	if (!json.contains("samples")) // most windows aren't sampled
		return;
	const Json &samples = object_field(json, "samples");
	window.sample_period_ns = unsigned_field(samples, "period_ns", kMaxSamplePeriodNs);
	if (!window.is_sampled() || !window.probed)
		wrong("samples", "is there in a window that can't have samples");
	for (const Json &function : array_field(samples, "functions", kMaxFunctions)) {
		if (!function.is_string())
			wrong("functions", "has an item that isn't a text");
		window.functions.push_back(model::printable(function.get_ref<const std::string &>(), model::kLongestName));
	}
	for (const Json &stack : array_field(samples, "stacks", kMaxStacks)) {
		if (!stack.is_array() || stack.empty() || stack.size() > kMaxStackDepth)
			wrong("stacks", "has an item that isn't a list of functions");
		std::vector<uint32_t> &functions = window.stacks.emplace_back();
		for (const Json &function : stack) {
			if (!function.is_number_unsigned() || function.get<uint64_t>() >= window.functions.size())
				wrong("stacks", "names a function that isn't there");
			functions.push_back(function.get<uint32_t>());
		}
	}
}

void add_others(const model::Window &window, Json &json)
{
	for (const model::WindowOther &other : window.others)
		json["others"].push_back({{"tid", other.tid}, {"name", other.whose}, {"cells", other.cells}});
}

void others_from_json(const Json &json, model::Window &window)
{
	if (!json.contains("others")) // in most windows nothing of other cells runs
		return;
	for (const Json &one : array_field(json, "others", kMaxOthers)) {
		model::WindowOther &other = window.others.emplace_back();
		other.tid = u32_field(one, "tid");
		other.whose = name_field(one, "name");
		for (const Json &cell : array_field(one, "cells", kMaxCells)) {
			if (!cell.is_number_unsigned() || cell.get<uint64_t>() >= kMaxCells)
				wrong("cells", "names a cell that no run can have");
			other.cells.push_back(cell.get<uint32_t>());
		}
	}
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
	Json json = {{"round", window.round},
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
	add_others(window, json);
	add_samples(window, json);
	return json;
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
	others_from_json(json, window);
	samples_from_json(json, window);
	shape.blocks = unsigned_field(json, "blocks", kMaxBlocks);
	return shape;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kEnds[] = {"count", "deadline", "log_full", "failed", "interrupted"};

Json to_json(const model::Usage &usage)
{
	Json json;
	for (const model::UsageField &field : model::kUsageFields)
		json[field.key] = usage.*field.value;
	return json;
}

model::Usage usage_from_json(const Json &json)
{
	model::Usage usage;
	for (const model::UsageField &field : model::kUsageFields)
		usage.*field.value = unsigned_field(json, field.key);
	return usage;
}

// A counter is its errno, or [counted, enabled_ns, running_ns]. Counters that weren't asked for are left out.
Json to_json(const model::Counters &counters)
{
	Json json = Json::object();
	for (const model::CounterField &field : model::kCounterFields) {
		const model::Count &count = counters.*field.count;
		if (count.error > 0)
			json[field.key] = static_cast<uint32_t>(count.error);
		else if (count.error == 0)
			json[field.key] = {count.counted, count.enabled_ns, count.running_ns};
	}
	if (hardware_was_on(counters))
		json["user_only"] = counters.user_only != 0;
	return json;
}

model::Count count_from_json(const Json &json, const model::CounterField &field)
{
	const Json &value = icepath::rundir::field(json, field.key);
	model::Count count{.error = 0};
	if (value.is_array()) {
		if (value.size() != 3 || !std::ranges::all_of(value, &Json::is_number_unsigned))
			wrong(field.key, "isn't a list of three whole numbers");
		count = {0, value[0].get<uint64_t>(), value[1].get<uint64_t>(), value[2].get<uint64_t>()};
	} else {
		count.error = static_cast<int32_t>(unsigned_field(json, field.key, INT32_MAX));
	}
	if (!can_be_true(count, field) || (count.error == 0 && !value.is_array()))
		wrong(field.key, "can't be true");
	return count;
}

// Counters that weren't asked for are absent.
model::Counters counters_from_json(const Json &json)
{
	model::Counters counters;
	for (const model::CounterField &field : model::kCounterFields)
		if (json.contains(field.key))
			counters.*field.count = count_from_json(json, field);
	if (hardware_was_on(counters))
		counters.user_only = bool_field(json, "user_only");
	return counters;
}

Json to_json(const model::BlockSide &side)
{
	return {{"tid", side.tid},
			{"usage", to_json(side.usage)},
			{"counters", to_json(side.counters)},
			{"marker_begin_ns", side.marker_begin_ns},
			{"marker_end_ns", side.marker_end_ns}};
}

model::BlockSide side_from_json(const Json &json)
{
	model::BlockSide side;
	side.tid = u32_field(json, "tid");
	side.usage = usage_from_json(object_field(json, "usage"));
	side.counters = counters_from_json(object_field(json, "counters"));
	side.marker_begin_ns = unsigned_field(json, "marker_begin_ns");
	side.marker_end_ns = unsigned_field(json, "marker_end_ns");
	return side;
}

Json to_json(const model::BlockFlow &flow)
{
	return {{"sender_key", flow.sender_key},
			{"receiver_key", flow.receiver_key},
			{"send_stamps", flow.sends.size()},
			{"recv_stamps", flow.recvs.size()}};
}

} // namespace

Json to_json(const model::Block &block)
{
	Json sides = Json::array(), flows = Json::array();
	for (const model::BlockSide &side : block.sides)
		sides.push_back(to_json(side));
	for (const model::BlockFlow &flow : block.flows)
		flows.push_back(to_json(flow));
	Json json = {{"cell", block.cell},
				 {"opening", block.opening},
				 {"confirms", block.confirms},
				 {"rate_hz", block.rate_hz ? Json(*block.rate_hz) : Json(nullptr)},
				 {"end", kEnds[static_cast<size_t>(block.end)]},
				 {"failure", block.failure},
				 {"sides", sides},
				 {"flows", flows},
				 {"daemon_cpu_ns", block.daemon_cpu_ns ? Json(*block.daemon_cpu_ns) : Json(nullptr)}};
	if (block.sockets)
		json["sockets"] = to_json(*block.sockets);
	return json;
}

BlockShape block_from_json(const Json &json, const std::vector<model::Cell> &cells)
{
	BlockShape shape;
	model::Block &block = shape.block;
	block.cell = u32_field(json, "cell");
	if (block.cell >= cells.size())
		wrong("cell", "names a cell that the run doesn't have");
	const model::Graph &graph = cells[block.cell].graph;
	block.opening = u32_field(json, "opening");
	block.confirms = bool_field(json, "confirms");
	if (!field(json, "rate_hz").is_null()) {
		block.rate_hz = number_field(json, "rate_hz");
		if (!(*block.rate_hz >= 1 && *block.rate_hz <= 1e9))
			wrong("rate_hz", "isn't within 1 to 1000000000");
	}
	block.end = enum_field<model::BlockEnd>(json, "end", kEnds);
	block.failure = text_field(json, "failure");
	for (const Json &side : array_field(json, "sides", kMaxSides))
		block.sides.push_back(side_from_json(side));
	if (block.sides.size() != graph.sides.size())
		wrong("sides", "has another number of items than its cell has sides");
	uint64_t stamps = 0;
	for (const Json &flow : array_field(json, "flows", graph.flows.size())) {
		block.flows.push_back({unsigned_field(flow, "sender_key"), unsigned_field(flow, "receiver_key"), {}, {}});
		shape.sends.push_back(counted_field(flow, "send_stamps", stamps, kMaxStamps));
		shape.recvs.push_back(counted_field(flow, "recv_stamps", stamps, kMaxStamps));
	}
	if (block.flows.size() != graph.flows.size())
		wrong("flows", "has another number of items than its cell has flows");
	block.daemon_cpu_ns = unsigned_or_null(json, "daemon_cpu_ns");
	if (json.contains("sockets")) // absent without sockets, and in runs from before they were looked at
		block.sockets = sockets_from_json(object_field(json, "sockets"), graph.sides.size());
	return shape;
}

} // namespace icepath::rundir
