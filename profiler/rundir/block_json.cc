// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/block_json.h"

#include <algorithm>
#include <stdexcept>

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kEnds[] = {"count", "deadline", "log_full", "failed", "interrupted"};

Json to_json(const ClockPair &pair) { return {{"monotonic_ns", pair.monotonic_ns}, {"realtime_ns", pair.realtime_ns}}; }

ClockPair clock_from_json(const Json &json)
{
	return {unsigned_field(json, "monotonic_ns"), unsigned_field(json, "realtime_ns")};
}

Json to_json(const Usage &usage)
{
	Json json;
	for (const UsageField &field : kUsageFields)
		json[field.key] = usage.*field.value;
	return json;
}

Usage usage_from_json(const Json &json)
{
	Usage usage;
	for (const UsageField &field : kUsageFields)
		if (field.always || json.contains(field.key))
			usage.*field.value = unsigned_field(json, field.key);
	return usage;
}

// A counter is its errno, or [counted, enabled_ns, running_ns]; one that wasn't asked for isn't there.
Json to_json(const Counters &counters)
{
	Json json = Json::object();
	for (const CounterField &field : kCounterFields) {
		const Count &count = counters.*field.count;
		if (count.error > 0)
			json[field.key] = static_cast<uint32_t>(count.error);
		else if (count.error == 0)
			json[field.key] = {count.counted, count.enabled_ns, count.running_ns};
	}
	if (hardware_was_on(counters))
		json["user_only"] = counters.user_only != 0;
	return json;
}

Count count_from_json(const Json &json, const CounterField &field)
{
	const Json &told = icepath::rundir::field(json, field.key);
	Count count{.error = 0};
	if (told.is_array()) {
		if (told.size() != 3 || !std::ranges::all_of(told, &Json::is_number_unsigned))
			wrong(field.key, "isn't a list of three whole numbers");
		count = {0, told[0].get<uint64_t>(), told[1].get<uint64_t>(), told[2].get<uint64_t>()};
	} else {
		count.error = static_cast<int32_t>(unsigned_field(json, field.key, INT32_MAX));
	}
	if (!can_be_true(count, field) || (count.error == 0 && !told.is_array()))
		wrong(field.key, "can't be true");
	return count;
}

// Run directories of before they were kept have none.
Counters counters_from_json(const Json &side)
{
	Counters counters;
	if (!side.contains("counters"))
		return counters;
	const Json &json = object_field(side, "counters");
	for (const CounterField &field : kCounterFields)
		if (json.contains(field.key))
			counters.*field.count = count_from_json(json, field);
	if (hardware_was_on(counters))
		counters.user_only = bool_field(json, "user_only");
	return counters;
}

Json to_json(const BlockSide &side)
{
	return {{"tid", side.tid},
			{"cpu", side.cpu},
			{"name", side.name},
			{"usage", to_json(side.usage)},
			{"counters", to_json(side.counters)},
			{"marker_begin_ns", side.marker_begin_ns},
			{"marker_end_ns", side.marker_end_ns},
			{"send_stamps", side.sends.size()},
			{"recv_stamps", side.recvs.size()}};
}

BlockSide side_from_json(const Json &json)
{
	BlockSide side;
	side.tid = u32_field(json, "tid");
	side.cpu = u32_field(json, "cpu");
	side.name = text_field(json, "name");
	side.usage = usage_from_json(object_field(json, "usage"));
	side.counters = counters_from_json(json);
	side.marker_begin_ns = unsigned_field(json, "marker_begin_ns");
	side.marker_end_ns = unsigned_field(json, "marker_end_ns");
	return side;
}

int32_t slot_cpu(const Json &json)
{
	const Json &cpu = field(json, "cpu");
	if (cpu.is_number_integer() && cpu == -1)
		return -1;
	return static_cast<int32_t>(unsigned_field(json, "cpu", 65535));
}

} // namespace

Json to_json(const Block &block)
{
	Json slots = Json::array();
	for (const SlotCapture &slot : block.slots)
		slots.push_back({{"cpu", slot.cpu},
						 {"position", slot.position},
						 {"capacity", slot.capacity},
						 {"records", slot.records.size()}});
	return {{"cell", block.cell},
			{"round", block.round},
			{"probed", block.probed},
			{"end", kEnds[static_cast<size_t>(block.end)]},
			{"failure", block.failure},
			{"begin", to_json(block.begin)},
			{"finish", to_json(block.finish)},
			{"sides", {to_json(block.sides[0]), to_json(block.sides[1])}},
			{"socket_keys", block.socket_keys},
			{"slots", slots},
			{"recursion_misses", block.recursion_misses}};
}

BlockShape block_from_json(const Json &json, size_t cells)
{
	BlockShape shape;
	Block &block = shape.block;
	block.cell = u32_field(json, "cell");
	if (block.cell >= cells)
		wrong("cell", "names a cell that the run doesn't have");
	block.round = u32_field(json, "round");
	block.probed = bool_field(json, "probed");
	block.end = enum_field<BlockEnd>(json, "end", kEnds);
	block.failure = text_field(json, "failure");
	block.begin = clock_from_json(object_field(json, "begin"));
	block.finish = clock_from_json(object_field(json, "finish"));
	block.recursion_misses = unsigned_field(json, "recursion_misses");

	uint64_t stamps = 0, records = 0;
	const auto count = [](const Json &object, const char *key, uint64_t &sum, uint64_t limit) {
		const uint64_t n = unsigned_field(object, key, limit);
		sum += n;
		if (sum > limit)
			wrong(key, "makes the block larger than it can be");
		return n;
	};
	const Json &sides = array_field(json, "sides", 2);
	const Json &keys = array_field(json, "socket_keys", 2);
	if (sides.size() != 2 || keys.size() != 2)
		throw std::runtime_error("a block has two sides");
	for (size_t i = 0; i < 2; ++i) {
		block.sides[i] = side_from_json(sides[i]);
		shape.sends[i] = count(sides[i], "send_stamps", stamps, kMaxStamps);
		shape.recvs[i] = count(sides[i], "recv_stamps", stamps, kMaxStamps);
		if (!keys[i].is_number_unsigned())
			wrong("socket_keys", "has an item that isn't a whole number");
		block.socket_keys[i] = keys[i].get<uint64_t>();
	}
	for (const Json &slot : array_field(json, "slots", kMaxSlots)) {
		SlotCapture capture;
		capture.cpu = slot_cpu(slot);
		capture.position = u32_field(slot, "position");
		capture.capacity = u32_field(slot, "capacity");
		shape.records.push_back(count(slot, "records", records, kMaxRecords));
		if (shape.records.back() > capture.position || shape.records.back() > capture.capacity)
			wrong("records", "is more than the slot can have held");
		block.slots.push_back(std::move(capture));
	}
	return shape;
}

} // namespace icepath::rundir
