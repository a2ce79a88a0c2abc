// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/head_json.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "profiler/failure.h"
#include "profiler/rundir/json_field.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/qos_json.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

Json free_form(const std::string &text, const char *what)
{
	if (text.empty())
		return Json::object();
	try {
		if (Json json = parse_json(text); json.is_object())
			return json;
	} catch (const std::runtime_error &) {
	}
	throw Failure(ExitCode::Internal, fmt::format("the description of the {} isn't a JSON object", what));
}

Json to_json(const model::Cell &cell)
{
	return {
		{"target", cell.target},
		{"kind", cell.kind},
		{"library", cell.library},
		{"pattern", name(cell.pattern)},
		{"wait", name(cell.wait)},
		{"between", name(cell.between)},
		{"payload_bytes", cell.payload_bytes},
		{"parts", cell.parts},
		{"rate_hz", cell.rate_hz ? Json(*cell.rate_hz) : Json(nullptr)},
		{"burst",
		 cell.burst ? Json{{"demand", cell.burst->demand}, {"recovery_ns", cell.burst->recovery_ns}} : Json(nullptr)},
		{"limits", cell.limits ? Json{{"max_loss", cell.limits->max_loss}, {"max_p99_ns", cell.limits->max_p99_ns}}
							   : Json(nullptr)},
		{"mechanisms", cell.mechanisms},
		{"capabilities", cell.capabilities},
		{"qos", {{"asked", rundir::to_json(cell.qos)}, {"granted", rundir::to_json(cell.granted)}}},
		{"responses", cell.responses},
		{"idle_channels", cell.idle_channels},
		{"cpus", cell.cpus},
		{"injection",
		 {{"sender_user_ns", cell.injection.sender_user_ns}, {"receiver_busy_ns", cell.injection.receiver_busy_ns}}},
		{"calibrated",
		 cell.calibrated ? Json{{"ready", cell.calibrated->ready}, {"taken", cell.calibrated->taken}} : Json(nullptr)}};
}

model::Cell cell_from_json(const Json &json)
{
	model::Cell cell;
	cell.target = text_field(json, "target");
	cell.kind = text_field(json, "kind");
	if (json.contains("library")) // not written by versions that knew no middleware
		cell.library = text_field(json, "library");
	cell.pattern = enum_field<model::Pattern>(json, "pattern", model::kPatternNames);
	cell.wait = enum_field<model::Wait>(json, "wait", model::kWaitNames);
	if (json.contains("between")) // not written by versions that had processes only
		cell.between = enum_field<model::Between>(json, "between", model::kBetweenNames);
	cell.payload_bytes = unsigned_field(json, "payload_bytes");
	cell.parts = u32_field(json, "parts");
	if (!field(json, "rate_hz").is_null()) {
		cell.rate_hz = number_field(json, "rate_hz");
		if (!std::isfinite(*cell.rate_hz) || *cell.rate_hz <= 0)
			wrong("rate_hz", "isn't above zero");
	}
	if (!field(json, "burst").is_null()) {
		const Json &burst = object_field(json, "burst");
		cell.burst = model::Burst{u32_field(burst, "demand"), unsigned_field(burst, "recovery_ns")};
		if (cell.burst->demand == 0 || cell.burst->recovery_ns == 0)
			wrong("burst", "has a demand or a recovery of 0");
	}
	if (!field(json, "limits").is_null()) {
		const Json &limits = object_field(json, "limits");
		cell.limits = model::RateLimits{number_field(limits, "max_loss"), unsigned_field(limits, "max_p99_ns")};
		if (!(cell.limits->max_loss >= 0 && cell.limits->max_loss < 1) || cell.limits->max_p99_ns == 0)
			wrong("limits", "has a loss outside of 0 to 1 or a p99 of 0");
	}
	cell.mechanisms = u32_field(json, "mechanisms");
	cell.capabilities = u32_field(json, "capabilities");
	if (json.contains("qos")) { // not written by versions that knew none
		cell.qos = qos_from_json(object_field(object_field(json, "qos"), "asked"));
		cell.granted = qos_from_json(object_field(object_field(json, "qos"), "granted"));
	}
	cell.responses = u32_field(json, "responses");
	if (cell.responses == 0)
		wrong("responses", "is 0");
	cell.idle_channels = u32_field(json, "idle_channels");
	cell.cpus.clear();
	for (const Json &cpu : array_field(json, "cpus", kMaxSides)) {
		if (!cpu.is_number_unsigned() || cpu.get<uint64_t>() > UINT32_MAX)
			wrong("cpus", "has an item that is no CPU");
		cell.cpus.push_back(cpu.get<uint32_t>());
	}
	if (cell.cpus.size() < 2)
		wrong("cpus", "has fewer than two items");
	const Json &injection = object_field(json, "injection");
	cell.injection.sender_user_ns = unsigned_field(injection, "sender_user_ns");
	cell.injection.receiver_busy_ns = unsigned_field(injection, "receiver_busy_ns");
	// Not written by versions that knew no calibration.
	if (const auto calibrated = json.find("calibrated"); calibrated != json.end() && !calibrated->is_null())
		cell.calibrated = model::CallShares{share_field(*calibrated, "ready"), share_field(*calibrated, "taken")};
	return cell;
}

Json to_json(const std::vector<model::CpuWake> &wakes)
{
	Json json = Json::array();
	for (const model::CpuWake &wake : wakes)
		json.push_back({{"cpu", wake.cpu}, {"p50_ns", wake.p50_ns}, {"p90_ns", wake.p90_ns}});
	return json;
}

// Not written by versions that didn't look.
std::vector<model::CpuWake> wakes_from_json(const Json &json)
{
	std::vector<model::CpuWake> wakes;
	if (json.contains("wakes"))
		for (const Json &one : array_field(json, "wakes", kMaxSlots))
			wakes.push_back({u32_field(one, "cpu"), unsigned_field(one, "p50_ns"), unsigned_field(one, "p90_ns")});
	return wakes;
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

Json to_json(const model::Head &head)
{
	Json probes = Json::array(), cells = Json::array();
	for (const model::ProbeUse &use : head.probes)
		probes.push_back({{"layer", use.layer}, {"probe", use.probe}, {"tier", use.tier}});
	for (const model::Cell &cell : head.cells)
		cells.push_back(to_json(cell));
	return {{"format_version", kFormatVersion},
			{"icepath_version", head.icepath_version},
			{"command_line", head.command_line},
			{"started_utc", head.started_utc},
			{"host", free_form(head.host_json, "host")},
			{"isolation", free_form(head.isolation_json, "isolation")},
			{"probes", probes},
			{"cells", cells},
			{"budget_s", head.budget_s},
			{"wakes", to_json(head.wakes)}};
}

model::Head head_from_json(const Json &json)
{
	model::Head head;
	// Before anything else: a newer head may have other keys.
	if (const uint32_t version = u32_field(json, "format_version"); version != kFormatVersion)
		throw std::runtime_error(fmt::format("it has format {}, this icepath reads format {}: use {} icepath", version,
											 kFormatVersion, version > kFormatVersion ? "a newer" : "an older"));
	head.icepath_version = text_field(json, "icepath_version");
	head.command_line = text_field(json, "command_line");
	head.started_utc = text_field(json, "started_utc");
	head.host_json = object_field(json, "host").dump();
	head.isolation_json = object_field(json, "isolation").dump();
	for (const Json &use : array_field(json, "probes", kMaxProbes))
		head.probes.push_back({text_field(use, "layer"), text_field(use, "probe"), text_field(use, "tier")});
	for (const Json &cell : array_field(json, "cells", kMaxCells))
		head.cells.push_back(cell_from_json(cell));
	head.budget_s = number_field(json, "budget_s");
	head.wakes = wakes_from_json(json);
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
	return {{"finished_utc", tail.finished_utc},
			{"interrupted", tail.interrupted},
			{"rounds", tail.rounds},
			{"notices", tail.notices},
			{"wakes", to_json(tail.wakes)},
			{"steal", tail.steal ? Json{{"ns", tail.steal->ns}, {"of_ns", tail.steal->of_ns}} : Json(nullptr)},
			{"untraced_interrupts", untraced},
			{"cache_lines", lines},
			{"failed_openings", tail.failed_openings}};
}

model::Tail tail_from_json(const Json &json)
{
	model::Tail tail;
	tail.finished_utc = text_field(json, "finished_utc");
	tail.interrupted = bool_field(json, "interrupted");
	tail.rounds = u32_field(json, "rounds");
	for (const Json &notice : array_field(json, "notices", kMaxNotices)) {
		if (!notice.is_string())
			wrong("notices", "has an item that isn't a text");
		tail.notices.push_back(notice.get<std::string>());
	}
	tail.wakes = wakes_from_json(json);
	if (json.contains("steal") && !json["steal"].is_null())
		tail.steal = model::Steal{unsigned_field(json["steal"], "ns"), unsigned_field(json["steal"], "of_ns")};
	if (json.contains("cache_lines")) // not written by versions that didn't look
		for (const Json &line : array_field(json, "cache_lines", kMaxSlots))
			tail.cache_lines.push_back(line_from_json(line));
	if (json.contains("untraced_interrupts"))
		for (const Json &row : array_field(json, "untraced_interrupts", kMaxInterruptRows))
			tail.untraced_interrupts.push_back(
				{text_field(row, "label"), text_field(row, "name"), unsigned_field(row, "count")});
	if (json.contains("failed_openings"))
		for (const Json &failed : array_field(json, "failed_openings", kMaxCells)) {
			if (!failed.is_number_unsigned() || failed.get<uint64_t>() > UINT32_MAX)
				wrong("failed_openings", "has an item that is no number of openings");
			tail.failed_openings.push_back(failed.get<uint32_t>());
		}
	return tail;
}

} // namespace icepath::rundir
