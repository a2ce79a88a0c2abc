// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/ranking_json.h"

namespace icepath::report {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double> &p) { return p ? Json(*p) : Json(nullptr); }

Json cell_json(const RankedCell &cell, size_t modes)
{
	Json json = {{"cell", cell.cell}, {"rank", nullptr}, {"x_fastest", nullptr}, {"ci95", nullptr}, {"modes", modes}};
	if (cell.rank)
		json["rank"] = {cell.rank->first, cell.rank->last};
	if (cell.to_fastest) {
		json["x_fastest"] = cell.to_fastest->ratio;
		json["ci95"] = {cell.to_fastest->interval.low, cell.to_fastest->interval.high};
	}
	return json;
}

Json pair_json(const ComparedPair &pair)
{
	return {{"faster", pair.faster},
			{"slower", pair.slower},
			{"ratio", pair.ratio.ratio},
			{"ci95", {pair.ratio.interval.low, pair.ratio.interval.high}},
			{"rounds", pair.ratio.rounds},
			{"openings", pair.ratio.openings},
			{"p_value", or_null(pair.ratio.p)},
			{"corrected_p_value", or_null(pair.p)},
			{"told_apart", pair.told_apart()}};
}

} // namespace

Json ranking_json(const RunResult &result)
{
	Json json = Json::array();
	for (const RankedGroup &group : result.ranking) {
		Json cells = Json::array(), pairs = Json::array();
		for (const RankedCell &cell : group.cells)
			cells.push_back(cell_json(cell, std::max<size_t>(result.cells.at(cell.cell).modes.size(), 1)));
		for (const ComparedPair &pair : group.pairs)
			pairs.push_back(pair_json(pair));
		json.push_back({{"cells", cells}, {"pairs", pairs}, {"pairs_not_compared", group.uncompared}});
	}
	return json;
}

} // namespace icepath::report
