// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/head_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "profiler/rundir/arms_json.h"
#include "profiler/rundir/attached_json.h"
#include "profiler/rundir/cell_json.h"
#include "profiler/rundir/conditions_json.h"
#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<model::CpuWake> &wakes)
{
	Json json = Json::array();
	for (const model::CpuWake &wake : wakes)
		json.push_back({{"cpu", wake.cpu}, {"p50_ns", wake.p50_ns}, {"p90_ns", wake.p90_ns}});
	return json;
}

std::vector<model::CpuWake> wakes_from_json(const Json &json, const char *key)
{
	std::vector<model::CpuWake> wakes;
	for (const Json &one : array_field(json, key, kMaxSlots))
		wakes.push_back({u32_field(one, "cpu"), unsigned_field(one, "p50_ns"), unsigned_field(one, "p90_ns")});
	return wakes;
}

std::vector<model::CpuNoise> noise_from_json(const Json &json, const char *key)
{
	std::vector<model::CpuNoise> noise;
	if (!json.contains(key)) // absent in runs from before it was measured
		return noise;
	for (const Json &one : array_field(json, key, kMaxSlots)) {
		model::CpuNoise &of = noise.emplace_back();
		of = {u32_field(one, "cpu"),
			  unsigned_field(one, "of_ns"),
			  unsigned_field(one, "gaps"),
			  unsigned_field(one, "ns"),
			  unsigned_field(one, "longest_ns"),
			  {},
			  name_field(one, "longest_source")};
		for (const Json &source : array_field(one, "sources", kMaxNoiseSources))
			of.sources.push_back({name_field(source, "name"), unsigned_field(source, "gaps"),
								  unsigned_field(source, "ns"), unsigned_field(source, "longest_ns")});
	}
	return noise;
}

Json to_json(const model::CacheLine &line)
{
	Json times = Json::array();
	for (const model::LineTime &time : line.times)
		times.push_back({time.at_ns, time.round_trip_ns});
	return {{"from_cpu", line.from_cpu}, {"to_cpu", line.to_cpu}, {"times", times}};
}

model::CacheLine line_from_json(const Json &json)
{
	model::CacheLine line{u32_field(json, "from_cpu"), u32_field(json, "to_cpu")};
	for (const Json &time : array_field(json, "times", kMaxLineTimes)) {
		if (!time.is_array() || time.size() != 2 || !std::ranges::all_of(time, &Json::is_number_unsigned))
			wrong("times", "has an item that isn't two whole numbers");
		line.times.push_back({time[0].get<uint64_t>(), time[1].get<uint64_t>()});
	}
	return line;
}

} // namespace

Json to_json(const std::vector<model::CpuNoise> &noise)
{
	Json json = Json::array();
	for (const model::CpuNoise &one : noise) {
		Json sources = Json::array();
		for (const model::NoiseSource &source : one.sources)
			sources.push_back(
				{{"name", source.name}, {"gaps", source.gaps}, {"ns", source.ns}, {"longest_ns", source.longest_ns}});
		json.push_back({{"cpu", one.cpu},
						{"of_ns", one.of_ns},
						{"gaps", one.gaps},
						{"ns", one.ns},
						{"longest_ns", one.longest_ns},
						{"longest_source", one.longest_source},
						{"sources", sources}});
	}
	return json;
}

Json to_json(const model::Head &head)
{
	Json probes = Json::array(), cells = Json::array();
	for (const model::ProbeUse &use : head.probes)
		probes.push_back({{"layer", use.layer}, {"probe", use.probe}, {"tier", use.tier}});
	for (const model::Cell &cell : head.cells)
		cells.push_back(to_json(cell));
	Json json = {{"format_version", kFormatVersion},
				 {"icepath_version", head.icepath_version},
				 {"command_line", head.command_line},
				 {"started_utc", head.started_utc},
				 {"host", to_json(head.host)},
				 {"isolation", to_json(head.isolation)},
				 {"probes", probes},
				 {"cells", cells},
				 {"budget_s", head.budget_s},
				 {"wakes", to_json(head.wakes)},
				 {"wakes_held", to_json(head.wakes_held)},
				 {"noise", to_json(head.noise)},
				 {"noise_before", to_json(head.noise_before)}};
	if (!head.arms.empty())
		json["arms"] = to_json(head.arms);
	if (head.attached)
		json["attached"] = to_json(*head.attached);
	return json;
}

namespace {

// Checked before all else: another format's head may have other keys.
void check_format(const Json &json)
{
	const uint32_t version = u32_field(json, "format_version");
	if (version >= kOldestFormat && version <= kFormatVersion)
		return;
	const auto writer = json.find("icepath_version");
	const bool is_told = writer != json.end() && writer->is_string() && !writer->get_ref<const std::string &>().empty();
	throw std::runtime_error(fmt::format(
		"it has format {}, this icepath reads formats {} to {}: use {}{}", version, kOldestFormat, kFormatVersion,
		is_told ? fmt::format("icepath {}, which wrote it", name_field(json, "icepath_version"))
				: "the icepath that wrote it",
		version > kFormatVersion ? ", or a newer one" : ""));
}

// No cell is of an arm that isn't described.
void check_arms_of(const model::Head &head)
{
	for (const model::Cell &cell : head.cells)
		if (head.arms.empty() ? !cell.arm.empty() : model::find_arm(head.arms, cell.arm) == nullptr)
			wrong("arm", "names none of the run's arms");
}

} // namespace

model::Head head_from_json(const Json &json)
{
	model::Head head;
	check_format(json);
	head.icepath_version = name_field(json, "icepath_version");
	head.command_line = text_field(json, "command_line");
	head.started_utc = name_field(json, "started_utc");
	head.host = host_from_json(object_field(json, "host"));
	head.isolation = isolation_from_json(object_field(json, "isolation"));
	for (const Json &use : array_field(json, "probes", kMaxProbes))
		head.probes.push_back({name_field(use, "layer"), text_field(use, "probe"), name_field(use, "tier")});
	for (const Json &cell : array_field(json, "cells", kMaxCells))
		head.cells.push_back(cell_from_json(cell));
	if (json.contains("arms"))
		head.arms = arms_from_json(json);
	check_arms_of(head);
	head.budget_s = number_field(json, "budget_s");
	head.wakes = wakes_from_json(json, "wakes");
	if (json.contains("wakes_held")) // absent in runs from before CPUs were kept awake
		head.wakes_held = wakes_from_json(json, "wakes_held");
	head.noise = noise_from_json(json, "noise");
	head.noise_before = noise_from_json(json, "noise_before");
	if (json.contains("attached"))
		head.attached = attached_from_json(object_field(json, "attached"));
	return head;
}

Json to_json(const model::Tail &tail)
{
	Json lines = Json::array();
	for (const model::CacheLine &line : tail.cache_lines)
		lines.push_back(to_json(line));
	Json untraced = Json::array();
	for (const model::InterruptCount &row : tail.untraced_interrupts)
		untraced.push_back({{"label", row.label}, {"name", row.name}, {"count", row.count}});
	Json json = {{"finished_utc", tail.finished_utc},
				 {"interrupted", tail.interrupted},
				 {"rounds", tail.rounds},
				 {"notices", tail.notices},
				 {"wakes", to_json(tail.wakes)},
				 {"steal", tail.steal ? Json{{"ns", tail.steal->ns}, {"of_ns", tail.steal->of_ns}} : Json(nullptr)},
				 {"untraced_interrupts", untraced},
				 {"cache_lines", lines},
				 {"failed_openings", tail.failed_openings}};
	if (tail.detached)
		json["detached"] = to_json(*tail.detached);
	return json;
}

model::Tail tail_from_json(const Json &json)
{
	model::Tail tail;
	tail.finished_utc = name_field(json, "finished_utc");
	tail.interrupted = bool_field(json, "interrupted");
	tail.rounds = u32_field(json, "rounds");
	for (const Json &notice : array_field(json, "notices", kMaxNotices)) {
		if (!notice.is_string())
			wrong("notices", "has an item that isn't a text");
		tail.notices.push_back(notice.get<std::string>());
	}
	tail.wakes = wakes_from_json(json, "wakes");
	if (!field(json, "steal").is_null()) {
		const Json &steal = object_field(json, "steal");
		tail.steal = model::Steal{unsigned_field(steal, "ns"), unsigned_field(steal, "of_ns")};
	}
	for (const Json &line : array_field(json, "cache_lines", kMaxSlots))
		tail.cache_lines.push_back(line_from_json(line));
	for (const Json &row : array_field(json, "untraced_interrupts", kMaxInterruptRows))
		tail.untraced_interrupts.push_back(
			{name_field(row, "label"), name_field(row, "name"), unsigned_field(row, "count")});
	for (const Json &failed : array_field(json, "failed_openings", kMaxCells)) {
		if (!failed.is_number_unsigned() || failed.get<uint64_t>() > UINT32_MAX)
			wrong("failed_openings", "has an item that is no number of openings");
		tail.failed_openings.push_back(failed.get<uint32_t>());
	}
	if (json.contains("detached"))
		tail.detached = detached_from_json(object_field(json, "detached"));
	return tail;
}

} // namespace icepath::rundir
