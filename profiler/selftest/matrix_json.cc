// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/rundir/json_text.h"
#include "profiler/selftest/matrix_text.h"

namespace icepath::selftest {
namespace {

using Json = nlohmann::ordered_json;

Json middle_json(const std::optional<stats::Middle> &middle)
{
	if (!middle)
		return nullptr;
	return {{"median", middle->median},
			{"ci95", middle->interval ? Json{middle->interval->low, middle->interval->high} : Json(nullptr)}};
}

Json row_json(const Row &row)
{
	Json lands = Json::array();
	for (const Landing &landing : row.injection->lands)
		lands.push_back({{"layer", model::name(landing.layer)},
						 {"part", landing.part ? Json(model::name(*landing.part)) : Json(nullptr)}});
	Json layers = Json::object();
	for (size_t layer = 0; row.added_ns && layer < model::kLayerCount; layer++)
		layers[std::string(model::name(static_cast<model::Layer>(layer)))] = {
			{"share", middle_json(row.layers[layer])}, {"out_of_place", middle_json(row.elsewhere[layer])}};
	return {{"name", row.injection->name},
			{"what", row.injection->what},
			{"lands_in", lands},
			{"verdict", name(row.verdict)},
			{"why", row.why},
			{"pairs", row.pairs},
			{"known_paths", row.known},
			{"added_ns", middle_json(row.added_ns)},
			{"in_place", middle_json(row.in_place)},
			{"named", row.named ? Json(*row.named) : Json(nullptr)},
			{"contradicted_by_relay", row.contradicted ? Json(*row.contradicted) : Json(nullptr)},
			{"layers", layers}};
}

} // namespace

std::string json_of(const std::vector<Row> &matrix, const Circumstances &circumstances)
{
	Json verdicts = Json::object();
	for (size_t verdict = 0; verdict < kVerdictNames.size(); verdict++)
		verdicts[std::string(kVerdictNames[verdict])] =
			std::ranges::count(matrix, static_cast<Verdict>(verdict), &Row::verdict);
	Json json = {{"schema_version", 1},
				 {"icepath", circumstances.icepath_version},
				 {"started_utc", circumstances.started_utc},
				 {"host", rundir::parse_object(circumstances.host_json)},
				 {"tier", circumstances.tier},
				 {"stretch", circumstances.stretch},
				 {"limits", {{"least_in_place", kLeastInPlace}, {"most_elsewhere", kMostElsewhere}}},
				 {"passed", exit_code(matrix) == ExitCode::Ok},
				 {"verdicts", verdicts},
				 {"injections", Json::array()},
				 {"notices", circumstances.notices}};
	for (const Row &row : matrix)
		json["injections"].push_back(row_json(row));
	return json.dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

} // namespace icepath::selftest
