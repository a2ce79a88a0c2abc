// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/ranking_json.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double> &p) { return p ? Json(*p) : Json(nullptr); }

using Keys = std::vector<std::string>; // of cells

Json cell_json(const analysis::RankedCell &cell, const Keys &keys)
{
	return {{"cell", keys.at(cell.cell)},
			{"rank", cell.rank ? Json{cell.rank->first, cell.rank->last} : Json(nullptr)}};
}

Json pair_json(const analysis::ComparedPair &pair, const Keys &keys)
{
	return {{"faster", keys.at(pair.faster)},   {"slower", keys.at(pair.slower)},
			{"ratio", pair.ratio.ratio},        {"ratio_ci95", {pair.ratio.interval.low, pair.ratio.interval.high}},
			{"rounds", pair.ratio.rounds},      {"openings", pair.ratio.openings},
			{"p_value", or_null(pair.ratio.p)}, {"corrected_p_value", or_null(pair.p)},
			{"told_apart", pair.told_apart()}};
}

} // namespace

Json ranking_json(const analysis::RunResult &result, const std::vector<std::string> &keys)
{
	Json json = Json::array();
	for (const analysis::RankedGroup &group : result.ranking) {
		Json cells = Json::array(), pairs = Json::array();
		for (const analysis::RankedCell &cell : group.cells)
			cells.push_back(cell_json(cell, keys));
		for (const analysis::ComparedPair &pair : group.pairs)
			pairs.push_back(pair_json(pair, keys));
		json.push_back({{"cells", cells}, {"pairs", pairs}, {"pairs_not_compared", group.uncompared}});
	}
	return json;
}

} // namespace icepath::exports
