// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/measures_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "icepath/plugin.h"
#include "profiler/analysis/line_levels.h"
#include "profiler/analysis/messages.h"
#include "profiler/explain/trust.h"
#include "profiler/rundir/head_json.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/fitness_words.h"

namespace icepath::exports {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<const char *, stats::kReported.size()> kPercentileKeys = {"p50",   "p90",    "p99",
																			   "p99_9", "p99_99", "p99_999"};
constexpr std::array<const char *, 2> kSides = {"sender", "receiver"};

Json counter_json(const analysis::CounterTotal &total)
{
	if (total.messages == 0)
		return nullptr;
	// Capped so that the conversion to an integer is defined.
	return {{"total", std::to_string(static_cast<uint64_t>(std::min(std::round(total.counted), 0x1p63)))},
			{"messages", total.messages},
			{"per_message", *total.per_message()},
			{"running_share", total.running_share() ? Json(*total.running_share()) : Json(nullptr)}};
}

Json counter_keys()
{
	Json keys = Json::array();
	for (const model::CounterField &field : model::kCounterFields)
		keys.push_back(field.key);
	return keys;
}

// Most are absent for the same reason, which is printed once.
Json absent_json(const analysis::SideCounters &side)
{
	Json json = Json::array();
	for (size_t i = 0; i < side.totals.size(); ++i) {
		if (side.totals[i].messages > 0)
			continue;
		const model::CounterField &field = model::kCounterFields[i];
		const std::string why = model::why_absent(side.totals[i].absence, field.hardware);
		const auto same = std::ranges::find(json, Json(why), [](const Json &one) { return one["why"]; });
		if (same != json.end())
			(*same)["counters"].push_back(field.key);
		else
			json.push_back({{"why", why}, {"counters", Json::array({field.key})}});
	}
	return json;
}

// What one thread with both ends uses is the sender's.
bool is_all_of_the_sender(const analysis::CellResult &cell, size_t side)
{
	return side == 1 && model::between(cell.cell) == model::Between::OneThread;
}

// The rest of getrusage(2) is always 0.
bool is_kept_by_linux(const model::UsageField &field)
{
	using model::Usage;
	for (const auto unkept : {&Usage::shared_text, &Usage::unshared_data, &Usage::unshared_stack, &Usage::swaps,
							  &Usage::messages_sent, &Usage::messages_received, &Usage::signals})
		if (field.value == unkept)
			return false;
	return true;
}

} // namespace

Json text_json(const std::string &text) { return text.empty() ? Json(nullptr) : Json(text); }

Json interval_json(const std::optional<stats::Interval> &interval)
{
	return interval ? Json{stats::rounded(interval->low), stats::rounded(interval->high)} : Json(nullptr);
}

Json distribution_json(const stats::Distribution &d)
{
	Json json = {{"count", d.count}, {"blocks", d.blocks}};
	json["min"] = d.count ? Json(d.min) : Json(nullptr);
	json["mean"] = d.count ? Json(stats::rounded(d.mean)) : Json(nullptr);
	json["mean_by_block"] = d.count ? Json(stats::rounded(d.mean_by_block)) : Json(nullptr);
	json["sd"] = d.standard_deviation ? Json(stats::rounded(*d.standard_deviation)) : Json(nullptr);
	json["mad"] = d.median_deviation ? Json(*d.median_deviation) : Json(nullptr);
	Json intervals = Json::object();
	for (size_t i = 0; i < kPercentileKeys.size(); ++i) {
		json[kPercentileKeys[i]] = d.percentiles[i] ? Json(*d.percentiles[i]) : Json(nullptr);
		intervals[kPercentileKeys[i]] = interval_json(d.intervals[i]);
	}
	json["max"] = d.count ? Json(d.max) : Json(nullptr);
	intervals["sd"] = interval_json(d.standard_deviation_interval);
	intervals["mad"] = interval_json(d.median_deviation_interval);
	json["ci95"] = std::move(intervals);
	if (d.off > 0)
		json["off_by_at_most"] = d.off;
	return json;
}

Json messages_json(const analysis::CellResult &cell)
{
	const analysis::MessageCounts &m = cell.messages;
	Json incomplete;
	for (size_t i = 1; i < cell.paths.incomplete.size(); ++i) // 0 is "complete"
		incomplete[std::string(path::kReasonNames[i])] = cell.paths.incomplete[i];
	return {{"sent", m.sent},
			{"received", m.received},
			{"lost", m.lost},
			{"duplicate", m.duplicate},
			{"reordered", m.reordered},
			{"bad_payload", m.bad_payload},
			{"inverted", m.inverted},
			{"late", m.late},
			{"too_late", m.too_late},
			{"after_next", m.after_next},
			{"with_next", m.with_next},
			{"copied_after_all", m.copied_after_all},
			{"probed", cell.paths.deliveries},
			{"complete", cell.paths.complete()},
			{"incomplete", incomplete}};
}

Json lateness_json(const analysis::CellResult &cell)
{
	const analysis::Lateness lateness = analysis::lateness_of(cell.cell);
	return {{"late", lateness.late_ns}, {"too_late", lateness.too_late_ns}};
}

Json throughput_json(const analysis::CellResult &cell)
{
	Json json;
	const auto add = [&](const char *messages, const char *bytes, const std::optional<double> &per_s) {
		json[messages] = per_s ? Json(stats::rounded(*per_s)) : Json(nullptr);
		json[bytes] =
			per_s ? Json(stats::rounded(*per_s * static_cast<double>(cell.cell.payload_bytes))) : Json(nullptr);
	};
	add("sent_per_s", "sent_bytes_per_s", cell.throughput.sent_per_s);
	add("received_per_s", "received_bytes_per_s", cell.throughput.received_per_s);
	return json;
}

Json observer_json(const analysis::ObserverEffect &effect)
{
	const auto value = [](const std::optional<stats::Effect> &added) {
		return added ? Json(stats::rounded(added->mean)) : Json(nullptr);
	};
	const auto interval = [](const std::optional<stats::Effect> &added) {
		return added ? interval_json(added->interval) : Json(nullptr);
	};
	const auto pairs = [](const std::optional<stats::Effect> &added) { return added ? added->pairs : 0; };
	Json json;
	const auto add = [&](const std::string &of, const std::optional<stats::Effect> &added) {
		json[of + "_added_ns"] = value(added);
		json[of + "_added_ci95_ns"] = interval(added);
		json[of + "_pairs"] = pairs(added);
	};
	add("p50", effect.p50);
	add("mean", effect.mean);
	add("p99", effect.p99);
	return json;
}

Json limits_json(const analysis::CellResult &cell)
{
	const auto &limits = cell.cell.limits;
	return limits ? Json{{"max_loss", limits->max_loss}, {"max_p99_ns", limits->max_p99_ns}} : Json(nullptr);
}

Json max_rate_json(const analysis::CellResult &cell)
{
	if (!cell.search)
		return nullptr;
	const auto rate = [](const std::optional<double> &hz) { return hz ? Json(stats::rounded(*hz)) : Json(nullptr); };
	const rate::FoundRate &found = cell.search->found;
	const auto list = [&](const std::vector<rate::Attempt> &blocks) {
		Json json = Json::array();
		for (const rate::Attempt &attempt : blocks)
			json.push_back({{"round", attempt.round},
							{"rate_hz", rate(attempt.hz)},
							{"held", attempt.verdict.held},
							{"sent", attempt.verdict.sent},
							{"lost", attempt.verdict.lost},
							{"p99_ns", attempt.verdict.p99_ns ? Json(*attempt.verdict.p99_ns) : Json(nullptr)}});
		return json;
	};
	return {{"rate_hz", rate(found.hz)},
			{"rate_ci95_hz", {rate(found.low_hz), rate(found.high_hz)}},
			{"failed_hz", rate(found.failed_hz)},
			{"statistics_hz", rate(found.statistics_hz)},
			{"statistics_from", cell.search->confirmed_by_enough() ? "confirmations" : "search"},
			{"held_again", cell.search->held_again()},
			{"attempts", list(cell.search->attempts)},
			{"confirmations", list(cell.search->confirmations)}};
}

Json openings_json(const analysis::CellResult &cell)
{
	const analysis::CellOpenings &openings = cell.openings;
	Json p50s = Json::array(), modes = Json::array();
	for (const double p50 : openings.p50s.values)
		p50s.push_back(stats::rounded(p50));
	for (const stats::Mode &mode : openings.p50s.modes)
		modes.push_back({{"p50_ns", stats::rounded(mode.value)}, {"openings", mode.openings}});
	const auto &difference = openings.p50s.difference;
	return {{"count", openings.count},
			{"failed", openings.failed},
			{"intervals_over", openings.carry_intervals() ? "openings" : "blocks"},
			{"p50_ns", p50s},
			{"differ", openings.p50s.differ()},
			{"f", difference ? Json(difference->f) : Json(nullptr)},
			{"p_value", difference ? Json(difference->p) : Json(nullptr)},
			{"between_share", difference ? Json(difference->between_sd) : Json(nullptr)},
			{"within_share", difference ? Json(difference->within_sd) : Json(nullptr)},
			{"modes", modes}};
}

Json drift_json(const analysis::CellResult &cell, size_t cells)
{
	const auto &drift = cell.openings.drift;
	if (!drift)
		return nullptr;
	return {{"p50_ratio", drift->ratio},
			{"p50_ratio_ci95", {drift->interval.low, drift->interval.high}},
			{"p_value", drift->p},
			{"values", drift->values},
			{"told", cell.openings.drifted(cells)}};
}

Json captures_json(const analysis::CaptureCounts &capture)
{
	const auto list = [&](const auto &value_of) {
		Json json = Json::array();
		for (const analysis::BlockCapture &block : capture.by_block)
			json.push_back(value_of(block));
		return json;
	};
	const auto counts = [&](uint64_t analysis::BlockCapture::*value) {
		return list([&](const analysis::BlockCapture &block) { return Json(block.*value); });
	};
	const auto if_told = [&](std::optional<uint64_t> analysis::BlockCapture::*value) {
		return list(
			[&](const analysis::BlockCapture &block) { return block.*value ? Json(*(block.*value)) : Json(nullptr); });
	};
	return {{"round", list([](const analysis::BlockCapture &block) { return Json(block.round); })},
			{"probed", list([](const analysis::BlockCapture &block) { return Json(block.probed); })},
			{"records", counts(&analysis::BlockCapture::records)},
			{"dropped", counts(&analysis::BlockCapture::dropped)},
			{"recursion_misses", counts(&analysis::BlockCapture::recursion_misses)},
			{"unreadable", if_told(&analysis::BlockCapture::unreadable)},
			{"steal_ns", if_told(&analysis::BlockCapture::steal_ns)},
			{"own_cpu_ns", if_told(&analysis::BlockCapture::own_cpu_ns)}};
}

Json cache_lines_json(const analysis::RunResult &result)
{
	if (!result.tail)
		return nullptr;
	Json json = Json::array();
	for (const model::CacheLine &line : result.tail->cache_lines) {
		const auto seconds = [](uint64_t ns) { return stats::rounded(static_cast<double>(ns) / 1e9); };
		Json at = Json::array(), took = Json::array(), levels = Json::array();
		for (const model::LineTime &time : line.times) {
			at.push_back(seconds(time.at_ns - line.times[0].at_ns));
			took.push_back(time.round_trip_ns);
		}
		for (const analysis::LineLevel &level : analysis::levels_of(line))
			levels.push_back(
				{{"from_s", seconds(level.from_ns)}, {"round_trip_ns", level.round_trip_ns}, {"looks", level.looks}});
		json.push_back({{"from_cpu", line.from_cpu},
						{"to_cpu", line.to_cpu},
						{"levels", levels},
						{"at_s", at},
						{"round_trip_ns", took}});
	}
	return json;
}

// Causes of gaps weren't looked for where a CPU has gaps and no source.
Json noise_json(const std::vector<model::CpuNoise> &noise)
{
	if (noise.empty())
		return nullptr;
	Json json = rundir::to_json(noise);
	for (Json &one : json) {
		one["longest_source"] = text_json(one["longest_source"].get<std::string>());
		if (one["sources"].empty() && one["gaps"] != 0)
			one["sources"] = nullptr;
	}
	return json;
}

Json fitness_json(const analysis::RunResult &result)
{
	Json json = Json::array();
	for (const model::Fitness &one : explain::fitness_of(result))
		json.push_back({{"purpose", name_of(one.purpose)},
						{"fit", one.fit ? Json(*one.fit) : nullptr},
						{"found", text::found_text(one)},
						{"threshold", text::threshold_text(one.purpose)}});
	return json;
}

Json machine_state_json(const analysis::RunResult &result, const std::vector<std::string> &keys)
{
	Json wakes = Json::array(), floors = Json::array();
	const auto wake_json = [](const model::CpuWake &wake) { return Json{{"p50", wake.p50_ns}, {"p90", wake.p90_ns}}; };
	for (const model::CpuWake &wake : result.head.wakes) {
		Json one = {{"cpu", wake.cpu}, {"begin", wake_json(wake)}, {"end", nullptr}, {"held", nullptr}};
		for (const model::CpuWake &held : result.head.wakes_held)
			if (held.cpu == wake.cpu)
				one["held"] = wake_json(held);
		if (result.tail)
			for (const model::CpuWake &later : result.tail->wakes)
				if (later.cpu == wake.cpu)
					one["end"] = wake_json(later);
		wakes.push_back(std::move(one));
	}
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const analysis::CellResult &cell = result.cells[i];
		if (cell.cell.traits.has(model::Trait::NotIpc) && !model::injects(cell.cell.levels) &&
			cell.times.latency.percentiles[0])
			floors.push_back(keys.at(i));
	}
	Json steal = nullptr;
	if (result.tail && result.tail->steal && result.tail->steal->of_ns > 0)
		steal = {
			{"ns", result.tail->steal->ns},
			{"of_ns", result.tail->steal->of_ns},
			{"share", static_cast<double>(result.tail->steal->ns) / static_cast<double>(result.tail->steal->of_ns)}};
	Json untraced = result.tail ? Json::array() : Json(nullptr);
	if (result.tail)
		for (const model::InterruptCount &row : result.tail->untraced_interrupts)
			untraced.push_back({{"label", row.label}, {"name", row.name}, {"count", row.count}});
	return {{"floor_cells", floors},
			{"wake_ns", wakes},
			{"steal", steal},
			{"cache_line", cache_lines_json(result)},
			{"noise",
			 {{"before_isolating", noise_json(result.head.noise_before)}, {"begin", noise_json(result.head.noise)}}},
			{"interference", noise_json(result.interference)},
			{"fit_for", fitness_json(result)},
			{"untraced_interrupts", untraced}};
}

Json system_calls_json(const analysis::CellResult &cell)
{
	Json json = Json::array();
	for (const analysis::CallRow &row : cell.system_calls.by_thread())
		json.push_back({{"thread", row.thread}, {"call", row.call}, {"per_message", stats::rounded(row.per_message)}});
	return json.empty() ? Json(nullptr) : json;
}

Json usage_json(const analysis::CellResult &cell)
{
	if (!cell.used.totals)
		return nullptr;
	Json json;
	json["messages"] = cell.used.totals->messages;
	for (size_t side = 0; side < kSides.size(); ++side) {
		json[kSides[side]] = nullptr;
		if (is_all_of_the_sender(cell, side))
			continue;
		const model::Usage &usage = cell.used.totals->ends[side];
		for (const model::UsageField &field : model::kUsageFields)
			if (is_kept_by_linux(field))
				json[kSides[side]][field.key] = usage.*field.value;
	}
	return json;
}

Json counters_json(const analysis::CellResult &cell)
{
	if (!cell.counters.asked)
		return nullptr;
	Json json;
	for (size_t s = 0; s < kSides.size(); ++s) {
		const analysis::SideCounters &side = cell.counters.ends[s];
		Json &side_json = json[kSides[s]];
		for (size_t i = 0; i < side.totals.size(); ++i)
			side_json[model::kCounterFields[i].key] = counter_json(side.totals[i]);
		const auto ipc = analysis::instructions_per_cycle({&side});
		side_json["instructions_per_cycle"] = ipc ? Json(stats::rounded(*ipc)) : Json(nullptr);
		side_json["hardware_mode"] =
			!side.has_hardware() ? Json(nullptr) : Json(side.user_only ? "user" : "user_and_kernel");
		side_json["absent"] = is_all_of_the_sender(cell, s)
								  ? Json::array({{{"why", "one thread has both ends: what it counted is the sender's"},
												  {"counters", counter_keys()}}})
								  : absent_json(side);
	}
	return json;
}

Json cpu_json(const analysis::CellResult &cell, bool exact_split)
{
	if (!cell.used.cpu_per_message)
		return nullptr;
	Json json;
	for (size_t side = 0; side < kSides.size(); ++side) {
		json[kSides[side]] = nullptr;
		if (is_all_of_the_sender(cell, side))
			continue;
		const analysis::CpuTime &time = (*cell.used.cpu_per_message)[side];
		json[kSides[side]] = {{"user", stats::rounded(time.user_ns)},
							  {"system", stats::rounded(time.system_ns)},
							  {"total", stats::rounded(time.total_ns())},
							  {"split", exact_split ? "exact" : "sampled"}};
	}
	json["daemon"] = cell.used.daemon_cpu_ns_per_message
						 ? Json{{"total", stats::rounded(*cell.used.daemon_cpu_ns_per_message)}}
						 : Json(nullptr);
	return json;
}

} // namespace icepath::exports
