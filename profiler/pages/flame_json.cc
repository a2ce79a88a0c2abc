// SPDX-License-Identifier: Apache-2.0
#include "profiler/pages/flame_json.h"

#include "profiler/analysis/layer_style.h"
#include "profiler/stats/quantity.h"

namespace icepath::pages {
namespace {

using Json = nlohmann::ordered_json;

Json frame_json(const analysis::FlameFrame &frame, bool compares)
{
	Json json = {{"name", frame.name}};
	if (!frame.children.empty()) {
		Json children = Json::array();
		for (const analysis::FlameFrame &child : frame.children)
			children.push_back(frame_json(child, compares));
		json["children"] = std::move(children);
		return json;
	}
	if (frame.kind)
		json["kind"] = static_cast<size_t>(*frame.kind);
	json["ns"] = stats::rounded(frame.mean_ns);
	if (compares)
		json["other_ns"] = stats::rounded(frame.other_ns);
	return json;
}

} // namespace

nlohmann::ordered_json flame_json(const analysis::FlameGraph &graph)
{
	Json cells = Json::array(), kinds = Json::array();
	for (const analysis::KindStyle &style : analysis::kKindStyles)
		kinds.push_back(style.word);
	for (const analysis::FlameCell &cell : graph.cells)
		cells.push_back(frame_json(cell.layers, !graph.other.empty()));
	return {{"kinds", kinds}, {"other", graph.other.empty() ? Json(nullptr) : Json(graph.other)}, {"cells", cells}};
}

} // namespace icepath::pages
