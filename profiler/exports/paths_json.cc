// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/paths_json.h"

#include <fmt/format.h>

#include "profiler/exports/measures_json.h"
#include "profiler/path/shares.h"
#include "profiler/stats/quantity.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kListedCulprits = 20;

std::string layer_id(model::Layer layer, model::Part part)
{
	return part == model::Part::None ? std::string(model::name(layer))
									 : fmt::format("{}/{}", model::name(layer), model::name(part));
}

// What a layer and a part of one have.
void add_figures(const analysis::LayerRow &row, double all_ns, const stats::RedrawnMeans &blocks, Json &json)
{
	const double total = static_cast<double>(row.total_ns);
	const auto share = [&](path::Provenance provenance) {
		return static_cast<double>(row.provenance_ns[static_cast<size_t>(provenance)]) / total;
	};
	const double calibrated = share(path::Provenance::Calibrated);
	json["mean_ns"] = row.mean_ns;
	json["mean_ci95_ns"] = interval_json(blocks.interval(row.by_block));
	json["share"] = all_ns > 0 ? row.mean_ns / all_ns : 0;
	json["provenance"] = {{"exact", share(path::Provenance::Exact)},
						  {"paired", share(path::Provenance::Paired)},
						  {"inferred", calibrated + share(path::Provenance::Inferred)},
						  {"inferred_calibrated", calibrated}}; // included in `inferred`
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

Json share_json(const stats::Share &share)
{
	return {{"messages", share.count},
			{"share", share.of > 0 ? Json(share.value()) : Json(nullptr)},
			{"share_ci95", share.interval ? Json{share.interval->low, share.interval->high} : Json(nullptr)}};
}

Json mode_json(const analysis::CellMode &mode)
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
					 {"p50_ns", p50 ? Json(*p50) : Json(nullptr)},
					 {"p50_ci95_ns", interval_json(mode.latency.intervals[0])},
					 {"mean_ns", mode.latency.count > 0 ? Json(stats::rounded(mode.latency.mean)) : Json(nullptr)},
					 {"probed", probed}});
	return json;
}

Json shares_json(const analysis::WorstMessage &worst, size_t segment)
{
	Json json = Json::array();
	for (const path::Share &share : worst.path.shares)
		if (share.segment == segment)
			json.push_back({{"kind", culprit_kind(share.who.kind)},
							{"name", culprit_name(share.who, worst.task_names)},
							{"ns", share.ns}});
	return json;
}

Json segment_json(const analysis::WorstMessage &worst, size_t number)
{
	const path::Segment &segment = worst.path.segments[number];
	const auto thread = worst.task_names.find(segment.thread);
	const bool inferred = path::is_inferred(segment.provenance());
	Json json = {
		{"layer", layer_id(segment.layer, segment.part)},
		{"hop", segment.hop},
		{"role", path::kRoleNames[static_cast<size_t>(analysis::role_of(worst.path, segment))]},
		{"tid", segment.thread},
		{"thread", thread == worst.task_names.end() ? Json(nullptr) : text_json(thread->second)},
		{"begin_ns", segment.begin.at_ns - worst.path.send_ns},
		{"duration_ns", segment.duration_ns()},
		{"provenance", inferred ? "inferred" : path::kProvenanceNames[static_cast<size_t>(segment.provenance())]},
		{"calibrated", segment.provenance() == path::Provenance::Calibrated}};
	json["end_bound_ns"] =
		path::is_inferred(segment.end.provenance)
			? Json{segment.end.earliest_ns - worst.path.send_ns, segment.end.latest_ns - worst.path.send_ns}
			: Json(nullptr);
	json["culprit"] = segment.culprit.kind == path::Culprit::Kind::None
						  ? Json(nullptr)
						  : Json(culprit_name(segment.culprit, worst.task_names));
	json["shares"] = shares_json(worst, number);
	return json;
}

} // namespace

Json layers_json(const analysis::Breakdown &breakdown)
{
	if (breakdown.deliveries() == 0)
		return nullptr;
	const std::vector<analysis::LayerRow> rows = breakdown.rows();
	const stats::RedrawnMeans blocks = breakdown.means();
	const double all_ns = breakdown.mean_ns();
	const auto same_layer = [](const analysis::LayerRow &a, const analysis::LayerRow &b) {
		return a.layer == b.layer && a.hop == b.hop && a.role == b.role && a.thread == b.thread;
	};
	Json json = Json::array();
	for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
		analysis::LayerRow whole = rows[begin];
		for (end = begin + 1; end < rows.size() && same_layer(rows[begin], rows[end]); ++end)
			whole.add(rows[end]);
		Json layer = {{"layer", model::name(whole.layer)},
					  {"hop", whole.hop},
					  {"role", path::kRoleNames[static_cast<size_t>(whole.role)]},
					  {"thread", whole.thread}};
		add_figures(whole, all_ns, blocks, layer);
		layer["parts"] = Json::array();
		for (size_t i = begin; i < end; ++i)
			if (rows[i].part != model::Part::None) {
				Json part = {{"part", model::name(rows[i].part)}};
				add_figures(rows[i], all_ns, blocks, part);
				layer["parts"].push_back(std::move(part));
			}
		json.push_back(std::move(layer));
	}
	return json;
}

Json mean_json(const analysis::Breakdown &breakdown)
{
	return breakdown.deliveries() > 0 ? Json(stats::rounded(breakdown.mean_ns())) : Json(nullptr);
}

Json modes_json(const analysis::CellResult &cell)
{
	Json json = Json::array();
	for (const analysis::CellMode &mode : cell.modes.all)
		json.push_back(mode_json(mode));
	return json;
}

// The last row sums up all culprits not shown, so that the rows add up to their sums.
Json culprits_json(const analysis::Culprits &culprits)
{
	Json json = Json::array();
	const std::vector<analysis::CulpritRow> rows = culprits.top(SIZE_MAX);
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

Json culprit_sums_json(const analysis::Culprits::Sums &sums)
{
	return {{"waiting_for_cpu", sums.waiting_ns},
			{"interrupted", sums.interrupted_ns},
			{"asleep", sums.asleep_ns},
			{"total", sums.total_ns()}};
}

Json worst_json(const analysis::WorstMessage *worst)
{
	if (!worst)
		return nullptr;
	Json segments = Json::array();
	for (size_t i = 0; i < worst->path.segments.size(); ++i)
		segments.push_back(segment_json(*worst, i));
	return {{"latency_ns", worst->latency_ns()},
			{"seq", worst->seq},
			{"round", worst->round},
			{"direction", worst->back ? "back" : "forward"},
			{"send_monotonic_ns", std::to_string(worst->path.send_ns)},
			{"segments", segments}};
}

} // namespace icepath::exports
