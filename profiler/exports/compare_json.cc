// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/compare_json.h"

#include <nlohmann/json.hpp>

#include "profiler/exports/explain_json.h"
#include "profiler/model/cell_key.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/compare_words.h"

namespace icepath::exports {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename T> OrderedJson or_null(const std::optional<T> &value)
{
	return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson bounds_json(const std::optional<stats::Interval> &interval)
{
	return interval ? OrderedJson({interval->low, interval->high}) : OrderedJson(nullptr);
}

OrderedJson conditions_json(const std::vector<compare::Condition> &conditions)
{
	OrderedJson json = OrderedJson::array();
	for (const compare::Condition &condition : conditions)
		json.push_back({{"id", compare::name_of(condition.id)},
						{"a", condition.a.empty() ? OrderedJson(nullptr) : OrderedJson(condition.a)},
						{"b", condition.b.empty() ? OrderedJson(nullptr) : OrderedJson(condition.b)},
						{"keeps", compare::kKeepsNames[static_cast<size_t>(condition.keeps)]}});
	return json;
}

OrderedJson judged_json(const compare::Comparison &comparison, const compare::Judged &judged)
{
	const compare::FigureRow &row = compare::row_of(judged.figure);
	return {{"figure", row.name},
			{"unit", row.scale == stats::Scale::Logs ? "ns" : "share"},
			{"verdict", compare::name_of(judged.verdict)},
			{"why", compare::name_of(judged.why)},
			{"words", text::verdict_words(comparison, judged)},
			{"a", or_null(judged.a)},
			{"b", or_null(judged.b)},
			{"change", or_null(judged.change)},
			{"change_ci95", bounds_json(judged.interval)},
			{"rounds", judged.rounds},
			{"openings", judged.openings},
			{"p_value", or_null(judged.p)},
			{"p_corrected", or_null(judged.p_corrected)},
			{"p_margin", or_null(judged.p_margin)},
			{"needed_s", or_null(judged.needed_s)},
			{"control_change", or_null(judged.control)},
			{"control_change_ci95", bounds_json(judged.control_interval)}};
}

OrderedJson cell_json(const analysis::RunResult &run, const compare::Comparison &comparison,
					  const compare::ComparedCell &cell)
{
	OrderedJson json = {{"cell", model::text(cell.key)},
						{"title", model::title(cell.key)},
						{"in_a", cell.a.has_value()},
						{"in_b", cell.b.has_value()},
						{"anchor", cell.anchor_a
									   ? OrderedJson(model::text(model::key_of(run.cells[*cell.anchor_a].cell)))
									   : OrderedJson(nullptr)},
						{"conditions", conditions_json(cell.conditions)},
						{"figures", OrderedJson::array()}};
	for (const compare::Judged &judged : cell.figures)
		json["figures"].push_back(judged_json(comparison, judged));
	json["against"] = cell.against ? OrderedJson::parse(against_json(run, *cell.against)) : OrderedJson(nullptr);
	return json;
}

} // namespace

std::string comparisons_json(const analysis::RunResult &run, const std::vector<compare::Comparison> &comparisons)
{
	OrderedJson json = {{"schema", kCompareSchema}, {"comparisons", OrderedJson::array()}};
	for (const compare::Comparison &comparison : comparisons) {
		OrderedJson one = {
			{"a", comparison.a},
			{"b", comparison.b},
			{"of", comparison.is_of_one_run ? "arms" : "runs"},
			{"control", comparison.control.empty() ? OrderedJson(nullptr) : OrderedJson(comparison.control)},
			{"delta", comparison.delta},
			{"repeats", comparison.repeats},
			{"conditions", conditions_json(comparison.conditions)},
			{"cells", OrderedJson::array()}};
		for (const compare::ComparedCell &cell : comparison.cells)
			one["cells"].push_back(cell_json(run, comparison, cell));
		json["comparisons"].push_back(one);
	}
	return json.dump(1, '\t', false, OrderedJson::error_handler_t::replace) + "\n";
}

} // namespace icepath::exports
