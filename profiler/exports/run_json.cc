// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/run_json.h"

#include <initializer_list>
#include <utility>

#include "icepath/plugin.h"
#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/named_cells.h"
#include "profiler/explain/notices.h"
#include "profiler/exports/findings_json.h"
#include "profiler/exports/measures_json.h"
#include "profiler/exports/paths_json.h"
#include "profiler/exports/ranking_json.h"
#include "profiler/exports/socket_use_json.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/rundir/arms_json.h"
#include "profiler/rundir/conditions_json.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/finding_words.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

Json where_measured(const stats::Distribution &d) { return d.count ? distribution_json(d) : Json(nullptr); }

Json p50_modes_json(const analysis::CellResult &cell)
{
	const auto of = analysis::modes_of_p50(cell);
	return of ? Json{of->first, of->last} : Json(nullptr);
}

Json flow_json(const analysis::CellResult &cell, size_t flow)
{
	return flow < cell.times.by_flow.size() ? where_measured(cell.times.by_flow[flow]) : Json(nullptr);
}

// One entry for each channel; null if there is only one.
Json channels_json(const analysis::CellResult &cell, size_t many)
{
	if (many == 1)
		return nullptr;
	Json json = Json::array();
	for (size_t flow = 0; flow < cell.cell.graph.channels.size(); ++flow)
		json.push_back(flow_json(cell, flow));
	return json;
}

// Null: the pattern doesn't have the factor.
Json factors_json(const model::Cell &cell)
{
	Json json = Json::object();
	for (const model::Factor &factor : model::kFactors)
		json[factor.key] = model::varies(factor, cell.pattern) ? Json(cell.levels.*factor.level) : Json(nullptr);
	return json;
}

// Times are texts, since one of them is "infinite" and others may pass 2^53.
Json qos_json(const model::Qos &qos)
{
	Json json = Json::object();
	for (size_t i = 0; i < qos.size(); ++i) {
		const model::QosPolicy &policy = model::kQosPolicies[i];
		const bool is_time = policy.kind == model::QosPolicy::Kind::Time;
		Json &value = json[policy.name + std::string(is_time ? "_ns" : "")];
		if (!qos[i])
			continue;
		if (is_time)
			value = *qos[i] == ICEPATH_QOS_INFINITE ? "infinite" : std::to_string(*qos[i]);
		else if (policy.kind == model::QosPolicy::Kind::Word)
			value = policy.words[*qos[i]];
		else
			value = *qos[i];
	}
	return json;
}

// The cell and its conditions.
Json described_json(const analysis::CellResult &cell, const std::string &key)
{
	const model::Cell &what = cell.cell;
	std::vector<uint32_t> senders, receivers; // CPUs
	for (size_t side = 0; side < what.graph.sides.size(); ++side)
		(model::begins(what, side) ? senders : receivers).push_back(what.graph.sides[side].cpu);
	return {{"key", key},
			{"target", what.target},
			{"arm", text_json(what.arm)},
			{"kind", what.kind},
			{"library", text_json(what.library)},
			{"summary", text_json(what.summary)},
			{"pattern", model::name(what.pattern)},
			{"wait", model::name(what.wait)},
			{"between", model::name(model::between(what))},
			{"payload_bytes", what.payload_bytes},
			{"parts", what.parts},
			{"rate_hz", what.rate_hz ? Json(*what.rate_hz) : Json(nullptr)},
			{"factors", factors_json(what)},
			{"qos", {{"asked", qos_json(what.qos)}, {"granted", qos_json(what.granted)}}},
			{"idle_states", model::name(what.idle_states)},
			{"cpus", {{"senders", senders}, {"receivers", receivers}}},
			{"measured_beside", cell.capture.beside},
			{"limits", limits_json(cell)},
			{"max_rate", max_rate_json(cell)}};
}

Json functions_json(const analysis::CellResult &cell)
{
	if (cell.functions.samples() == 0)
		return nullptr;
	Json layers = Json::array();
	for (const analysis::SampledLayer &layer : analysis::sampled_layers(cell.paths.layers, cell.functions)) {
		Json functions = Json::array();
		for (const analysis::FunctionRow &function : layer.functions)
			functions.push_back({{"name", function.name},
								 {"samples", function.samples},
								 {"mean_ns", stats::rounded(function.mean_ns)},
								 {"plus_minus_ns", stats::rounded(function.half_ns)}});
		layers.push_back({{"layer", model::name(layer.layer)},
						  {"mean_ns", stats::rounded(layer.mean_ns)},
						  {"samples", layer.samples},
						  {"functions", functions}});
	}
	return {{"samples", cell.functions.samples()},
			{"off_path", cell.functions.dropped()},
			{"latency_ns", distribution_json(cell.times.latency_sampled)},
			{"layers", layers}};
}

// Of messages in a range of latencies, and their paths. The tail begins at the p99 of latency_probed_ns.
void add_range(const std::string &name, const std::optional<analysis::LatencyRange> &range, Json &json)
{
	if (name == "typical") {
		json["typical_from_ns"] = range ? Json(range->from_ns) : Json(nullptr);
		json["typical_to_ns"] = range ? Json(range->to_ns) : Json(nullptr);
	}
	json[name + "_messages"] =
		range ? Json{{"of", range->messages}, {"known", range->layers.deliveries()}} : Json(nullptr);
	json[name + "_layers"] = range ? layers_json(range->layers) : Json(nullptr);
	json[name + "_layers_mean_ns"] = range ? mean_json(range->layers) : Json(nullptr);
}

void add_culprits(const std::string &prefix, bool looked_for, const analysis::Culprits &culprits, Json &json)
{
	json[prefix + "culprits"] = looked_for ? culprits_json(culprits) : Json(nullptr);
	json[prefix + "culprits_sum_ns"] = looked_for ? culprit_sums_json(culprits.sums()) : Json(nullptr);
}

Json cell_json(const analysis::CellResult &cell, const std::string &key, bool exact_split, size_t cells)
{
	const model::Cell &what = cell.cell;
	const bool pingpong = model::is_answered(what.pattern);
	Json json = described_json(cell, key);
	json.update(Json{
		{"blocks",
		 {{"probed", cell.blocks.probed},
		  {"unprobed", cell.blocks.unprobed},
		  {"counted", cell.blocks.counted},
		  {"sampled", cell.blocks.sampled},
		  {"log_full", cell.blocks.log_full},
		  {"failed", cell.blocks.failed}}},
		{"openings", openings_json(cell)},
		{"drift", drift_json(cell, cells)},
		{"messages", messages_json(cell)},
		{"latency_ns", where_measured(cell.times.latency)},
		{"modes", cell.times.latency.count > 0 ? modes_json(cell) : Json(nullptr)},
		{"p50_in_modes", p50_modes_json(cell)},
		{"latency_probed_ns", where_measured(cell.times.latency_probed)},
		{"forward_ns", pingpong ? flow_json(cell, 0) : Json(nullptr)},
		{"back_ns", pingpong ? flow_json(cell, 1) : Json(nullptr)},
		{"senders_ns", channels_json(cell, model::senders_of(what))},
		{"receivers_ns", channels_json(cell, model::receivers_of(what))},
		{"first_response_ns", where_measured(cell.times.first_response)},
		{"to_all_ns", where_measured(cell.times.to_all)},
		{"round_trip_ns", where_measured(cell.times.round_trip)},
		{"pacing_ns", where_measured(cell.times.pacing)},
		{"latency_from_due_ns", where_measured(cell.times.from_due)},
		{"send_call_ns", where_measured(cell.times.send_call)},
		{"jitter_ns", cell.times.jitter_ns ? Json(stats::rounded(*cell.times.jitter_ns)) : Json(nullptr)},
		{"lateness_ns", lateness_json(cell)},
		{"throughput", throughput_json(cell)},
		{"layers", layers_json(cell.paths.layers)},
		{"layers_mean_ns", mean_json(cell.paths.layers)},
		{"layers_sum_error_ns", cell.paths.complete() > 0 ? Json(cell.paths.layers.sum_error_ns()) : Json(nullptr)}});
	if (cell.modes.of_one_in > 1)
		json["modes_of_one_in"] = cell.modes.of_one_in;
	add_range("typical", cell.ranges.typical, json);
	add_range("tail", cell.ranges.tail, json);
	add_culprits("", cell.paths.complete() > 0, cell.paths.culprits, json);
	add_culprits("tail_", cell.ranges.tail && cell.ranges.tail->layers.deliveries() > 0, cell.ranges.tail_culprits,
				 json);
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
	json["sockets"] = socket_use_json(cell.sockets);
	json["functions"] = functions_json(cell);
	json["worst"] = worst_json(cell.followed.worst());
	return json;
}

Json notices_json(const analysis::RunResult &result)
{
	Json json = text::notice_sentences(result);
	if (const std::string why = text::unfinished_text(result); !why.empty())
		json.push_back(why);
	return json;
}

// Every key, with null for what isn't known.
Json with_all(Json json, std::initializer_list<const char *> keys)
{
	Json all = Json::object();
	for (const char *key : keys)
		all[key] = json.contains(key) ? std::move(json[key]) : Json(nullptr);
	return all;
}

void say_null_for_empty(Json &list, std::initializer_list<const char *> keys)
{
	for (Json &one : list)
		for (const char *key : keys)
			if (const auto *text = one[key].get_ptr<const std::string *>(); text && text->empty())
				one[key] = nullptr;
}

Json host_json(const model::Host &host)
{
	return with_all(rundir::to_json(host),
					{"hostname", "kernel", "kernel_version", "preempt_rt", "machine", "cpu_model", "cpus_online",
					 "memory_bytes", "clocksource", "hypervisor", "nohz_full", "mitigations", "user", "plain_root",
					 "fifo", "fifo_of_middleware"});
}

Json isolation_json(const model::Isolation &isolation)
{
	Json json = with_all(rundir::to_json(isolation), {"level", "sender_cpu", "receiver_cpu", "housekeeping_cpus",
													  "daemon_cpus", "why", "steps", "items"});
	say_null_for_empty(json["steps"], {"remedy"});
	say_null_for_empty(json["items"], {"effect", "remedy"});
	return json;
}

Json arms_json(const std::vector<model::Arm> &arms)
{
	Json json = rundir::to_json(arms);
	say_null_for_empty(json, {"plugins", "library_path", "config"});
	for (Json &arm : json)
		say_null_for_empty(arm["loaded"], {"version", "build_id"});
	return json;
}

Json icepath_json(const analysis::RunResult &result)
{
	const model::Head &head = result.head;
	return {{"version", head.icepath_version},
			{"command_line", head.command_line},
			{"started_utc", head.started_utc},
			{"finished_utc", result.tail ? Json(result.tail->finished_utc) : Json(nullptr)},
			{"budget_s", head.budget_s},
			{"rounds", result.tail ? Json(result.tail->rounds) : Json(nullptr)},
			{"partial", result.partial()},
			{"truncated", result.truncated},
			{"interrupted", result.tail && result.tail->interrupted},
			{"valid", explain::valid(result)}};
}

} // namespace

Json run_json(const analysis::RunResult &result)
{
	const model::Head &head = result.head;
	const std::vector<std::string> keys = analysis::keys_of(result);
	Json probes = Json::array(), cells = Json::array();
	const bool exact_split = analysis::cpu_split_is_exact(head);
	for (const model::ProbeUse &use : head.probes)
		probes.push_back({{"layer", use.layer}, {"probe", use.probe}, {"tier", use.tier}});
	for (size_t i = 0; i < result.cells.size(); ++i)
		cells.push_back(cell_json(result.cells[i], keys[i], exact_split, result.cells.size()));
	return {{"schema", kSchema},
			{"icepath", icepath_json(result)},
			{"host", host_json(head.host)},
			{"isolation", isolation_json(head.isolation)},
			{"probes", probes},
			{"arms", arms_json(head.arms)},
			{"machine_state", machine_state_json(result, keys)},
			{"notices", notices_json(result)},
			{"findings", findings_json(result, keys)},
			{"trust", trust_json(result)},
			{"ranking", ranking_json(result, keys)},
			{"cells", cells}};
}

std::string run_json_text(const analysis::RunResult &result)
{
	return run_json(result).dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

} // namespace icepath::exports
