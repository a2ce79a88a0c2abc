// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/block_json.h"

#include <algorithm>
#include <stdexcept>

#include "profiler/model/graph.h"
#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kEnds[] = {"count", "deadline", "log_full", "failed", "interrupted"};

Json to_json(const model::ClockPair &pair)
{
	return {{"monotonic_ns", pair.monotonic_ns}, {"realtime_ns", pair.realtime_ns}};
}

model::ClockPair clock_from_json(const Json &json)
{
	return {unsigned_field(json, "monotonic_ns"), unsigned_field(json, "realtime_ns")};
}

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

// A counter is its errno, or [counted, enabled_ns, running_ns]; one that wasn't asked for isn't there.
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
	const Json &told = icepath::rundir::field(json, field.key);
	model::Count count{.error = 0};
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

// Those that weren't asked for aren't there.
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
			{"cpu", side.cpu},
			{"name", side.name},
			{"usage", to_json(side.usage)},
			{"counters", to_json(side.counters)},
			{"marker_begin_ns", side.marker_begin_ns},
			{"marker_end_ns", side.marker_end_ns}};
}

model::BlockSide side_from_json(const Json &json)
{
	model::BlockSide side;
	side.tid = u32_field(json, "tid");
	side.cpu = u32_field(json, "cpu");
	side.name = text_field(json, "name");
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

std::vector<model::BlockCompanion> companions_from_json(const Json &json)
{
	std::vector<model::BlockCompanion> companions;
	for (const Json &one : array_field(json, "companions", kMaxCompanions))
		companions.push_back({u32_field(one, "tid"), u32_field(one, "cpu"), text_field(one, "name")});
	return companions;
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
	const uint64_t count = unsigned_field(json, "recursion_misses");
	if (!json.contains("skipped")) // not written by versions that looked at a block's end alone
		return count ? std::vector{model::SkippedPrograms{.count = count}} : skipped;
	for (const Json &some : array_field(json, "skipped", kMaxSkipped)) {
		skipped.push_back(
			{unsigned_field(some, "begin_ns"), unsigned_field(some, "end_ns"), unsigned_field(some, "count")});
		if (skipped.back().begin_ns > skipped.back().end_ns)
			wrong("skipped", "ends before it begins");
	}
	if (sum_of(skipped) != count)
		wrong("skipped", "doesn't add up to recursion_misses");
	return skipped;
}

Json or_null(const std::optional<uint64_t> &value) { return value ? Json(*value) : Json(nullptr); }

// Nothing as well where an earlier version didn't write it.
std::optional<uint64_t> if_told(const Json &json, const char *key)
{
	if (!json.contains(key) || json[key].is_null())
		return std::nullopt;
	return unsigned_field(json, key);
}

} // namespace

Json to_json(const model::Block &block)
{
	Json sides = Json::array(), flows = Json::array(), slots = Json::array(), companions = Json::array();
	Json skipped = Json::array();
	for (const model::BlockSide &side : block.sides)
		sides.push_back(to_json(side));
	for (const model::BlockFlow &flow : block.flows)
		flows.push_back(to_json(flow));
	for (const model::BlockCompanion &companion : block.companions)
		companions.push_back({{"tid", companion.tid}, {"cpu", companion.cpu}, {"name", companion.name}});
	for (const model::SlotCapture &slot : block.slots)
		slots.push_back({{"cpu", slot.cpu},
						 {"position", slot.position},
						 {"capacity", slot.capacity},
						 {"records", slot.records.size()}});
	for (const model::SkippedPrograms &some : block.skipped)
		skipped.push_back({{"begin_ns", some.begin_ns}, {"end_ns", some.end_ns}, {"count", some.count}});
	return {{"cell", block.cell},
			{"round", block.round},
			{"opening", block.opening},
			{"probed", block.probed},
			{"confirms", block.confirms},
			{"rate_hz", block.rate_hz ? Json(*block.rate_hz) : Json(nullptr)},
			{"end", kEnds[static_cast<size_t>(block.end)]},
			{"failure", block.failure},
			{"begin", to_json(block.begin)},
			{"finish", to_json(block.finish)},
			{"sides", sides},
			{"flows", flows},
			{"slots", slots},
			{"companions", companions},
			{"daemon_cpu_ns", or_null(block.daemon_cpu_ns)},
			{"recursion_misses", sum_of(block.skipped)},
			{"skipped", skipped},
			{"steal_ns", or_null(block.steal_ns)},
			{"own_cpu_ns", or_null(block.own_cpu_ns)},
			{"times_throttled", or_null(block.times_throttled)}};
}

BlockShape block_from_json(const Json &json, const std::vector<model::Cell> &cells)
{
	BlockShape shape;
	model::Block &block = shape.block;
	block.cell = u32_field(json, "cell");
	if (block.cell >= cells.size())
		wrong("cell", "names a cell that the run doesn't have");
	block.round = u32_field(json, "round");
	if (json.contains("opening")) // not written by versions whose processes lived for the whole run
		block.opening = u32_field(json, "opening");
	block.probed = bool_field(json, "probed");
	if (json.contains("confirms")) // not written by versions that confirmed nothing
		block.confirms = bool_field(json, "confirms");
	if (!field(json, "rate_hz").is_null()) {
		block.rate_hz = number_field(json, "rate_hz");
		if (!(*block.rate_hz >= 1 && *block.rate_hz <= 1e9))
			wrong("rate_hz", "isn't within 1 to 1000000000");
	}
	block.end = enum_field<model::BlockEnd>(json, "end", kEnds);
	block.failure = text_field(json, "failure");
	block.begin = clock_from_json(object_field(json, "begin"));
	block.finish = clock_from_json(object_field(json, "finish"));
	block.skipped = skipped_from_json(json);
	block.steal_ns = if_told(json, "steal_ns");
	block.own_cpu_ns = if_told(json, "own_cpu_ns");
	block.times_throttled = if_told(json, "times_throttled");

	uint64_t stamps = 0, records = 0;
	const auto count = [](const Json &object, const char *key, uint64_t &sum, uint64_t limit) {
		const uint64_t n = unsigned_field(object, key, limit);
		sum += n;
		if (sum > limit)
			wrong(key, "makes the block larger than it can be");
		return n;
	};
	const model::Cell &cell = cells[block.cell];
	for (const Json &side : array_field(json, "sides", kMaxSides))
		block.sides.push_back(side_from_json(side));
	if (block.sides.size() != sides_of(cell))
		wrong("sides", "has another number of items than its cell has sides");
	for (const Json &flow : array_field(json, "flows", 2 * kMaxSides)) {
		block.flows.push_back({unsigned_field(flow, "sender_key"), unsigned_field(flow, "receiver_key"), {}, {}});
		shape.sends.push_back(count(flow, "send_stamps", stamps, kMaxStamps));
		shape.recvs.push_back(count(flow, "recv_stamps", stamps, kMaxStamps));
	}
	if (block.flows.size() != flows_of(cell).size())
		wrong("flows", "has another number of items than its cell has flows");
	block.daemon_cpu_ns = if_told(json, "daemon_cpu_ns");
	if (json.contains("companions")) // not written by versions that measured every cell alone
		block.companions = companions_from_json(json);
	for (const Json &slot : array_field(json, "slots", kMaxSlots)) {
		model::SlotCapture capture;
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
