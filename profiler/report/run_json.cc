// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/run_json.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/model/graph.h"
#include "profiler/path/shares.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/measures_json.h"
#include "profiler/report/notices.h"
#include "profiler/report/ranking_json.h"
#include "profiler/rundir/cell_json.h"
#include "profiler/rundir/json_text.h"

namespace icepath::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kListedCulprits = 20;

Json where_measured(const stats::Distribution &d) { return d.count ? distribution_json(d) : Json(nullptr); }

std::string layer_id(model::Layer layer, model::Part part)
{
	return part == model::Part::None ? std::string(model::name(layer))
									 : fmt::format("{}/{}", model::name(layer), model::name(part));
}

Json layer_json(const LayerRow &row, double all_ns, const stats::RedrawnMeans &blocks)
{
	const double total = static_cast<double>(row.total_ns);
	const auto share = [&](path::Provenance provenance) {
		return static_cast<double>(row.provenance_ns[static_cast<size_t>(provenance)]) / total;
	};
	const double calibrated = share(path::Provenance::Calibrated);
	const Json provenance = {{"exact", share(path::Provenance::Exact)},
							 {"paired", share(path::Provenance::Paired)},
							 {"inferred", calibrated + share(path::Provenance::Inferred)},
							 {"inferred_calibrated", calibrated}}; // included in `inferred`
	return {{"layer", layer_id(row.layer, row.part)},
			{"part", row.part == model::Part::None ? Json(nullptr) : Json(model::name(row.part))},
			{"part_of", row.part == model::Part::None ? Json(nullptr) : Json(model::name(row.layer))},
			{"hop", row.hop},
			{"role", path::kRoleNames[static_cast<size_t>(row.role)]},
			{"thread", row.thread},
			{"mean_ns", row.mean_ns},
			{"ci95", interval_json(blocks.interval(row.by_block))},
			{"total_ns", row.total_ns},
			{"share", all_ns > 0 ? row.mean_ns / all_ns : 0},
			{"provenance", provenance}};
}

// A layer's entry includes its parts. Each part also has an entry of its own after it, whose `part_of` names that
// layer: a sum must leave it out.
Json layers_json(const Breakdown &breakdown)
{
	const std::vector<LayerRow> rows = breakdown.rows();
	const stats::RedrawnMeans blocks = breakdown.means();
	const double all_ns = breakdown.mean_ns();
	const auto same_layer = [](const LayerRow &a, const LayerRow &b) {
		return a.layer == b.layer && a.hop == b.hop && a.role == b.role && a.thread == b.thread;
	};
	Json json = Json::array();
	for (size_t i = 0; i < rows.size();) {
		LayerRow whole = rows[i];
		whole.part = model::Part::None;
		size_t end = i + 1;
		for (; end < rows.size() && same_layer(rows[i], rows[end]); ++end)
			whole.add(rows[end]);
		json.push_back(layer_json(whole, all_ns, blocks));
		for (; i < end; ++i)
			if (rows[i].part != model::Part::None)
				json.push_back(layer_json(rows[i], all_ns, blocks));
	}
	return json;
}

Json range_layers_json(const std::optional<LatencyRange> &range)
{
	return range ? layers_json(range->layers) : Json::array();
}

Json range_messages_json(const std::optional<LatencyRange> &range)
{
	return range ? Json{{"of", range->messages}, {"known", range->layers.deliveries()}} : Json(nullptr);
}

Json share_json(const stats::Share &share)
{
	return {{"messages", share.count},
			{"share", share.of > 0 ? Json(share.value()) : Json(nullptr)},
			{"ci95", share.interval ? Json{share.interval->low, share.interval->high} : Json(nullptr)}};
}

Json mode_json(const CellMode &mode)
{
	const auto &added = mode.share_added;
	const auto &p50 = mode.latency.percentiles[0];
	Json json = share_json(mode.share), probed = share_json(mode.share_probed);
	probed["complete"] = mode.range.layers.deliveries();
	probed["seen"] = mode.seen_with_probes();
	probed["share_added"] = added ? Json(added->mean) : Json(nullptr);
	probed["share_added_ci95"] =
		added && added->interval ? Json{added->interval->low, added->interval->high} : Json(nullptr);
	probed["changes_share"] = added && added->interval ? Json(mode.changed_by_probes()) : Json(nullptr);
	probed["layers"] = mode.seen_with_probes() ? layers_json(mode.range.layers) : Json(nullptr);
	json.update(Json{{"from_ns", mode.range.from_ns > 0 ? Json(mode.range.from_ns) : Json(nullptr)},
					 {"to_ns", mode.range.to_ns < UINT64_MAX ? Json(mode.range.to_ns) : Json(nullptr)},
					 {"p50", p50 ? Json(*p50) : Json(nullptr)},
					 {"p50_ci95", interval_json(mode.latency.intervals[0])},
					 {"mean", mode.latency.count > 0 ? Json(rounded(mode.latency.mean)) : Json(nullptr)},
					 {"probed", probed}});
	return json;
}

Json modes_json(const CellResult &cell)
{
	Json json = Json::array();
	for (const CellMode &mode : cell.modes)
		json.push_back(mode_json(mode));
	return json;
}

Json p50_modes_json(const CellResult &cell)
{
	const auto of = modes_of_p50(cell);
	return of ? Json{of->first, of->last} : Json(nullptr);
}

std::string_view culprit_kind(path::Culprit::Kind kind)
{
	switch (kind) {
	case path::Culprit::Kind::Task:
		return "task";
	case path::Culprit::Kind::Interrupt:
		return "interrupt";
	case path::Culprit::Kind::IdleCpu:
		return "idle_cpu";
	case path::Culprit::Kind::Throttled:
		return "throttled";
	case path::Culprit::Kind::Unknown:
		return "unknown";
	case path::Culprit::Kind::None:
		break;
	}
	return "others";
}

// The last row sums up all culprits not shown, so that the rows add up to their sums.
Json culprits_json(const Culprits &culprits)
{
	Json json = Json::array();
	const std::vector<CulpritRow> rows = culprits.top(SIZE_MAX);
	uint64_t rest_ns = 0, rest_segments = 0;
	for (size_t i = 0; i < rows.size(); ++i)
		if (i < kListedCulprits) {
			json.push_back({{"kind", culprit_kind(rows[i].kind)},
							{"name", rows[i].name},
							{"layer", layer_id(rows[i].layer, rows[i].part)},
							{"total_ns", rows[i].total_ns},
							{"segments", rows[i].segments}});
		} else {
			rest_ns += rows[i].total_ns;
			rest_segments += rows[i].segments;
		}
	if (rest_ns > 0)
		json.push_back({{"kind", culprit_kind(path::Culprit::Kind::None)},
						{"name", "others"},
						{"layer", nullptr},
						{"total_ns", rest_ns},
						{"segments", rest_segments}});
	return json;
}

Json sums_json(const Culprits::Sums &sums)
{
	return {{"waiting_for_cpu", sums.waiting_ns},
			{"interrupted", sums.interrupted_ns},
			{"asleep", sums.asleep_ns},
			{"total", sums.total_ns()}};
}

Json shares_json(const WorstMessage &worst, size_t segment)
{
	Json json = Json::array();
	for (const path::Share &share : worst.path.shares)
		if (share.segment == segment)
			json.push_back({{"kind", culprit_kind(share.who.kind)},
							{"name", culprit_name(share.who, worst.task_names)},
							{"ns", share.ns}});
	return json;
}

Json worst_json(const WorstMessage &worst)
{
	Json segments = Json::array();
	for (const path::Segment &segment : worst.path.segments) {
		const auto thread = worst.task_names.find(segment.thread);
		const bool inferred = path::is_inferred(segment.provenance());
		Json one = {
			{"layer", layer_id(segment.layer, segment.part)},
			{"hop", segment.hop},
			{"role", path::kRoleNames[static_cast<size_t>(role_of(worst.path, segment))]},
			{"tid", segment.thread},
			{"thread", thread == worst.task_names.end() ? "" : thread->second},
			{"begin_ns", segment.begin.at_ns - worst.path.send_ns},
			{"duration_ns", segment.duration_ns()},
			{"provenance", inferred ? "inferred" : path::kProvenanceNames[static_cast<size_t>(segment.provenance())]},
			{"calibrated", segment.provenance() == path::Provenance::Calibrated}};
		one["end_bound_ns"] =
			path::is_inferred(segment.end.provenance)
				? Json{segment.end.earliest_ns - worst.path.send_ns, segment.end.latest_ns - worst.path.send_ns}
				: Json(nullptr);
		one["culprit"] = segment.culprit.kind == path::Culprit::Kind::None
							 ? Json(nullptr)
							 : Json(culprit_name(segment.culprit, worst.task_names));
		one["shares"] = shares_json(worst, segments.size());
		segments.push_back(std::move(one));
	}
	return {{"latency_ns", worst.latency_ns()},
			{"seq", worst.seq},
			{"round", worst.round},
			{"direction", worst.back ? "back" : "forward"},
			{"send_monotonic_ns", worst.path.send_ns},
			{"segments", segments}};
}

Json flow_json(const CellResult &cell, size_t flow)
{
	return flow < cell.by_flow.size() ? where_measured(cell.by_flow[flow]) : Json(nullptr);
}

// One entry for each channel; null if there is only one.
Json channels_json(const CellResult &cell, size_t many)
{
	if (many == 1)
		return nullptr;
	Json json = Json::array();
	for (size_t flow = 0; flow < cell.cell.graph.channels.size(); ++flow)
		json.push_back(flow_json(cell, flow));
	return json;
}

// The factors that vary with its pattern, by their keys.
Json factors_json(const model::Cell &cell)
{
	Json json = Json::object();
	for (const model::Factor &factor : model::kFactors)
		if (model::varies(factor, cell.pattern))
			json[factor.key] = cell.levels.*factor.level;
	return json;
}

// The cell and its conditions.
Json described_json(const CellResult &cell)
{
	const model::Cell &what = cell.cell;
	const bool pingpong = model::is_answered(what.pattern);
	std::vector<uint32_t> senders, receivers; // CPUs
	for (size_t side = 0; side < what.graph.sides.size(); ++side)
		(model::begins(what, side) ? senders : receivers).push_back(what.graph.sides[side].cpu);
	Json json = {
		{"target", what.target},
		{"kind", what.kind},
		{"library", what.library},
		{"pattern", model::name(what.pattern)},
		{"direction", pingpong ? "both" : "forward"},
		{"wait", model::name(what.wait)},
		{"between", model::name(model::between(what))},
		{"payload_bytes", what.payload_bytes},
		{"parts", what.parts},
		{"rate_hz", what.rate_hz ? Json(*what.rate_hz) : Json(nullptr)},
		{"burst", what.pattern == model::Pattern::Burst
					  ? Json{{"demand", what.levels.demand}, {"recovery_ns", what.levels.recovery_ns}}
					  : Json(nullptr)},
		{"limits", limits_json(cell)},
		{"max_rate", max_rate_json(cell)},
		{"publishers", model::senders_of(what)},
		{"subscribers", model::receivers_of(what)},
		{"responses", pingpong ? Json(what.levels.responses) : Json(nullptr)},
		{"qos", {{"asked", rundir::to_json(what.qos)}, {"granted", rundir::to_json(what.granted)}}},
		{"idle_channels", what.levels.idle_channels},
		{"factors", factors_json(what)},
		{"idle_states", model::name(what.idle_states)},
		{"measured_beside", cell.capture.beside},
		{"cpus",
		 {{"sender", senders.at(0)}, {"receiver", receivers.at(0)}, {"senders", senders}, {"receivers", receivers}}},
		{"injection",
		 {{"sender_user_ns", what.levels.sender_user_ns}, {"receiver_busy_ns", what.levels.receiver_busy_ns}}}};
	return json;
}

Json functions_json(const CellResult &cell)
{
	if (cell.functions.samples() == 0)
		return nullptr;
	Json layers = Json::array();
	for (const SampledLayer &layer : sampled_layers(cell.layers, cell.functions)) {
		Json functions = Json::array();
		for (const FunctionRow &function : layer.functions)
			functions.push_back({{"name", function.name},
								 {"samples", function.samples},
								 {"mean_ns", rounded(function.mean_ns)},
								 {"plus_minus_ns", rounded(function.half_ns)}});
		layers.push_back({{"layer", model::name(layer.layer)},
						  {"mean_ns", rounded(layer.mean_ns)},
						  {"samples", layer.samples},
						  {"functions", functions}});
	}
	return {{"samples", cell.functions.samples()},
			{"off_path", cell.functions.dropped()},
			{"latency_ns", distribution_json(cell.latency_sampled)},
			{"layers", layers}};
}

Json cell_json(const CellResult &cell, bool exact_split, size_t cells)
{
	const model::Cell &what = cell.cell;
	const bool pingpong = model::is_answered(what.pattern);
	Json json = described_json(cell);
	json.update(Json{{"blocks",
					  {{"probed", cell.blocks_probed},
					   {"unprobed", cell.blocks_unprobed},
					   {"counted", cell.blocks_counted},
					   {"sampled", cell.blocks_sampled},
					   {"log_full", cell.blocks_log_full},
					   {"failed", cell.blocks_failed}}},
					 {"openings", openings_json(cell)},
					 {"drift", drift_json(cell, cells)},
					 {"messages", messages_json(cell)},
					 {"latency_ns", distribution_json(cell.latency)},
					 {"modes", modes_json(cell)},
					 {"p50_in_modes", p50_modes_json(cell)},
					 {"latency_probed_ns", distribution_json(cell.latency_probed)},
					 {"forward_ns", pingpong ? flow_json(cell, 0) : Json(nullptr)},
					 {"back_ns", pingpong ? flow_json(cell, 1) : Json(nullptr)},
					 {"senders_ns", channels_json(cell, model::senders_of(what))},
					 {"receivers_ns", channels_json(cell, model::receivers_of(what))},
					 {"first_response_ns", where_measured(cell.first_response)},
					 {"to_all_ns", where_measured(cell.to_all)},
					 {"round_trip_ns", where_measured(cell.round_trip)},
					 {"pacing_ns", where_measured(cell.pacing)},
					 {"latency_from_due_ns", where_measured(cell.from_due)},
					 {"send_call_ns", where_measured(cell.send_call)},
					 {"jitter_ns", cell.jitter_ns ? Json(rounded(*cell.jitter_ns)) : Json(nullptr)},
					 {"lateness_ns", lateness_json(cell)},
					 {"throughput", throughput_json(cell)},
					 {"layers", layers_json(cell.layers)},
					 {"layers_sum_error_ns", cell.layers.sum_error_ns()},
					 {"typical_from_ns", cell.typical ? Json(cell.typical->from_ns) : Json(nullptr)},
					 {"typical_to_ns", cell.typical ? Json(cell.typical->to_ns) : Json(nullptr)},
					 {"typical_messages", range_messages_json(cell.typical)},
					 {"typical_layers", range_layers_json(cell.typical)},
					 {"tail_from_ns", cell.tail ? Json(cell.tail->from_ns) : Json(nullptr)},
					 {"tail_messages", range_messages_json(cell.tail)},
					 {"tail_layers", range_layers_json(cell.tail)},
					 {"culprits", culprits_json(cell.culprits)},
					 {"culprits_sum_ns", sums_json(cell.culprits.sums())},
					 {"tail_culprits", culprits_json(cell.tail_culprits)},
					 {"tail_culprits_sum_ns", sums_json(cell.tail_culprits.sums())}});
	json["observer_effect"] = observer_json(cell.observer_effect);
	json["capture"] = {{"records", cell.capture.records},
					   {"dropped", cell.capture.dropped},
					   {"bytes", cell.capture.bytes},
					   {"recursion_misses", cell.capture.recursion_misses},
					   {"by_block", captures_json(cell.capture)}};
	json["cpu_ns_per_message"] = cpu_json(cell, exact_split);
	json["rusage"] = usage_json(cell);
	json["system_calls"] = system_calls_json(cell);
	json["counters"] = counters_json(cell);
	json["functions"] = functions_json(cell);
	json["worst"] = cell.worst() ? worst_json(*cell.worst()) : Json(nullptr);
	return json;
}

Json notices_json(const RunResult &result)
{
	Json json = notices(result).all();
	if (const std::string why = unfinished(result); !why.empty())
		json.push_back(why);
	return json;
}

} // namespace

Json run_json(const RunResult &result)
{
	const model::Head &head = result.head;
	Json probes = Json::array(), cells = Json::array();
	const bool exact_split = cpu_split_is_exact(head);
	for (const model::ProbeUse &use : head.probes)
		probes.push_back({{"layer", use.layer}, {"probe", use.probe}, {"tier", use.tier}});
	for (const CellResult &cell : result.cells)
		cells.push_back(cell_json(cell, exact_split, result.cells.size()));
	Json icepath = {{"version", head.icepath_version},
					{"command_line", head.command_line},
					{"started_utc", head.started_utc},
					{"finished_utc", result.tail ? Json(result.tail->finished_utc) : Json(nullptr)},
					{"budget_s", head.budget_s},
					{"rounds", result.tail ? Json(result.tail->rounds) : Json(nullptr)},
					{"partial", result.partial()},
					{"truncated", result.truncated},
					{"interrupted", result.tail && result.tail->interrupted},
					{"valid", valid(result)}};
	return {{"schema_version", kSchemaVersion},
			{"icepath", icepath},
			{"host", rundir::parse_object(head.host_json)},
			{"isolation", rundir::parse_object(head.isolation_json)},
			{"probes", probes},
			{"machine_state", machine_state_json(result)},
			{"notices", notices_json(result)},
			{"ranking", ranking_json(result)},
			{"cells", cells}};
}

std::string run_json_text(const RunResult &result)
{
	return run_json(result).dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

} // namespace icepath::report
