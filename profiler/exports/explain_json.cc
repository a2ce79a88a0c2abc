// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/explain_json.h"

#include <nlohmann/json.hpp>

#include "profiler/analysis/layer_style.h"
#include "profiler/analysis/named_cells.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/one_message.h"
#include "profiler/explain/part_of_probes.h"
#include "profiler/explain/unknown_paths.h"
#include "profiler/exports/findings_json.h"
#include "profiler/exports/run_json.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/blame_words.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/remedy_words.h"

namespace icepath::exports {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson exact_interval_json(const std::optional<stats::Interval> &interval)
{
	return interval ? OrderedJson({interval->low, interval->high}) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string &text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

OrderedJson figures_json(const explain::DifferenceFigures &of)
{
	return {{"a_ns", of.a_ns},
			{"b_ns", of.b_ns},
			{"difference_ns", of.ns()},
			{"difference_ci95_ns", exact_interval_json(of.interval)}};
}

// Shares are null where a part is more than the whole.
OrderedJson part_json(const explain::Difference &difference, const explain::DifferenceFigures &part)
{
	const bool has_shares = difference.has_shares();
	OrderedJson json = figures_json(part);
	json["share"] = has_shares ? OrderedJson(difference.share(part)) : OrderedJson(nullptr);
	json["share_ci95"] = has_shares ? exact_interval_json(part.share_interval) : OrderedJson(nullptr);
	return json;
}

OrderedJson difference_json(const explain::Difference &difference)
{
	OrderedJson json = figures_json(difference.of);
	json["kinds"] = OrderedJson::array();
	for (const explain::KindDifference &kind : difference.kinds) {
		OrderedJson &one = json["kinds"].emplace_back(part_json(difference, kind.of));
		one["kind"] = analysis::style_of(kind.kind).word;
		one["rows"] = OrderedJson::array();
		for (const explain::DifferenceRow &row : kind.rows) {
			OrderedJson &its = one["rows"].emplace_back(part_json(difference, row.of));
			its["layer"] = model::name(row.layer);
			its["part"] = text_or_null(std::string(model::name(row.part)));
			its["role"] = path::kRoleNames[static_cast<size_t>(row.role)];
			its["relay"] = row.role == path::Role::Relay ? OrderedJson(row.relay) : OrderedJson(nullptr);
			its["a_threads"] = text_or_null(row.threads[0]);
			its["b_threads"] = text_or_null(row.threads[1]);
		}
	}
	return json;
}

// `other_share`: key of the share of the other messages, which these are compared with, that it took time from.
OrderedJson causes_json(const std::vector<explain::Cause> &causes, const char *other_share)
{
	OrderedJson json = OrderedJson::array();
	for (const explain::Cause &cause : causes)
		json.push_back({{"name", cause.name},
						{"layer", model::name(cause.layer)},
						{"origin", id(cause.origin)},
						{"told", cause.is_told()},
						{"kind_told", cause.is_of_told_kind},
						{"kind_carries", cause.is_of_carrying_kind},
						{"own_thread", cause.is_own_thread()},
						{"messages", cause.messages},
						{"share", cause.share},
						{other_share, cause.other_share},
						{"lift", cause.lift() ? OrderedJson(*cause.lift()) : OrderedJson(nullptr)},
						{"when_there_ns", cause.when_there_ns},
						{"growth_ns", cause.growth_ns},
						{"growth_ci95_ns", exact_interval_json(cause.growth_interval)}});
	return json;
}

// `cell`: that has the time.
OrderedJson remedies_json(const std::vector<explain::Remedy> &remedies, const model::Cell &cell, bool has_shares)
{
	OrderedJson json = OrderedJson::array();
	for (const explain::Remedy &remedy : remedies) {
		OrderedJson ways = OrderedJson::array();
		for (const explain::Way way : remedy.ways)
			ways.push_back(name_of(way));
		json.push_back({{"cause", name_of(remedy.id)},
						{"share", has_shares ? OrderedJson(remedy.share) : OrderedJson(nullptr)},
						{"ns", remedy.ns},
						{"ways", ways},
						{"names", remedy.of.names},
						{"more_names", remedy.of.more},
						{"names_told", remedy.of.told},
						{"told_names", remedy.of.told_names},
						{"advice", text::advice(remedy, cell)}});
	}
	return json;
}

OrderedJson steps_json(const std::vector<text::Step> &steps)
{
	OrderedJson json = OrderedJson::array();
	for (const text::Step &step : steps)
		json.push_back(step.command.empty() ? step.text : step.text + ": " + step.command);
	return json;
}

OrderedJson quantile_json(const std::optional<stats::Quantile> &quantile)
{
	return quantile ? OrderedJson({{"ns", quantile->value}, {"ci95_ns", exact_interval_json(quantile->interval)}})
					: OrderedJson(nullptr);
}

OrderedJson cell_name_json(const analysis::RunResult &result, size_t cell)
{
	return {{"cell", analysis::keys_of(result).at(cell)}, {"title", model::title(result.cells[cell].cell)}};
}

std::string printed_json(const OrderedJson &json)
{
	return json.dump(1, '\t', false, OrderedJson::error_handler_t::replace) + "\n";
}

void add_refusal(const analysis::RunResult &result, const std::optional<explain::Finding> &refusal, OrderedJson &json)
{
	json["refusal"] = refusal ? OrderedJson(text::words(result, *refusal)) : OrderedJson(nullptr);
	json["refused_by"] = refusal ? finding_json(*refusal, analysis::keys_of(result)) : OrderedJson(nullptr);
}

OrderedJson unknown_json(const analysis::CellResult &cell)
{
	const explain::UnknownPaths unknown = explain::unknown_paths(cell);
	return {{"messages", unknown.messages},
			{"of_messages", unknown.of},
			{"mean_ns", unknown.messages > 0 ? OrderedJson(unknown.mean_ns()) : OrderedJson(nullptr)},
			{"share_of_time", unknown.share_of_time()}};
}

OrderedJson unprobed_json(const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail)
{
	if (!tail.unprobed)
		return nullptr;
	const analysis::CellMode &mode = result.cells[index].modes.all[tail.unprobed->mode];
	const auto &than_fastest = tail.unprobed->than_fastest;
	return {{"mode", tail.unprobed->mode + 1},
			{"share", mode.share.value()},
			{"share_probed", mode.share_probed.value()},
			{"p50_ns", mode.latency.percentiles[0] ? OrderedJson(*mode.latency.percentiles[0]) : OrderedJson(nullptr)},
			{"than_mode", than_fastest ? OrderedJson(than_fastest->fast + 1) : OrderedJson(nullptr)},
			{"difference", than_fastest ? difference_json(than_fastest->of) : OrderedJson(nullptr)},
			{"next", steps_json(text::steps_against_mode(result, index, tail))}};
}

OrderedJson tail_json(const analysis::RunResult &result, size_t index, const explain::TailExplanation &tail)
{
	const analysis::CellResult &cell = result.cells[index];
	OrderedJson json = cell_name_json(result, index);
	json["verdict"] = explain::kTailVerdicts[static_cast<size_t>(tail.verdict)];
	add_refusal(result, tail.refusal, json);
	json["messages"] = tail.messages;
	json["of_messages"] = cell.ranges.tail ? cell.ranges.tail->messages : 0;
	json["unknown"] = unknown_json(cell);
	json["typical_messages"] = cell.ranges.typical ? cell.ranges.typical->layers.deliveries() : 0;
	json["blocks"] = tail.blocks;
	json["of_blocks"] = tail.of_blocks;
	json["most_of_one_block"] = tail.most_of_one_block;
	json["from_ns"] = tail.from_ns;
	json["begin_with_probes"] = quantile_json(cell.ranges.tail_begin_probed);
	json["begin_without_probes"] = quantile_json(cell.ranges.tail_begin);
	json["as_without_probes"] = tail.as_without_probes ? OrderedJson(*tail.as_without_probes) : OrderedJson(nullptr);
	json["unprobed"] = unprobed_json(result, index, tail);
	const bool explained = tail.is_explained();
	json["growth"] = explained ? difference_json(tail.growth) : OrderedJson(nullptr);
	json["named"] = explained ? OrderedJson(tail.named) : OrderedJson(nullptr);
	json["own_code"] = explained ? OrderedJson(tail.own_code) : OrderedJson(nullptr);
	json["by_chance"] = explained ? OrderedJson(tail.by_chance) : OrderedJson(nullptr);
	json["causes"] = causes_json(tail.causes, "typical_share");
	json["next"] = remedies_json(tail.remedies, cell.cell, tail.growth.has_shares());
	return json;
}

OrderedJson step_json(const explain::MessageStep &step)
{
	OrderedJson taken = OrderedJson::array();
	for (const auto &[name, ns] : step.taken)
		taken.push_back({{"name", name}, {"ns", ns}});
	return {{"layer", model::name(step.layer)},
			{"part", text_or_null(std::string(model::name(step.part)))},
			{"offset_ns", step.offset_ns},
			{"ns", step.ns},
			{"thread", step.thread},
			{"cpu", step.cpu ? OrderedJson(*step.cpu) : OrderedJson(nullptr)},
			{"known", step.known},
			{"bound_ns", step.bound_ns},
			{"blame", text_or_null(text::words_of(step.blame))},
			{"taken", std::move(taken)},
			{"of_typical", step.of_typical ? OrderedJson(*step.of_typical) : OrderedJson(nullptr)}};
}

} // namespace

std::string tails_json(const analysis::RunResult &result, const std::vector<size_t> &cells,
					   const std::vector<explain::TailExplanation> &tails)
{
	OrderedJson json = {{"schema", kExplainSchema},
						{"question", "tail"},
						{"tail_percent", result.tail_from.per_100000 / 1000.0},
						{"cells", OrderedJson::array()}};
	for (size_t i = 0; i < cells.size(); ++i)
		json["cells"].push_back(tail_json(result, cells[i], tails.at(i)));
	return printed_json(json);
}

std::string against_json(const analysis::RunResult &result, const explain::Against &against)
{
	OrderedJson commands = OrderedJson::array();
	for (const std::string &options : against.others)
		commands.push_back("icepath explain RUN " + options);
	OrderedJson json = {{"schema", kExplainSchema},
						{"question", "against"},
						{"slower", cell_name_json(result, against.slower)},
						{"faster", cell_name_json(result, against.faster)},
						{"as_asked", against.as_asked},
						{"unlike", against.unlike},
						{"others", commands},
						{"unknown",
						 {{"slower", unknown_json(result.cells[against.slower])},
						  {"faster", unknown_json(result.cells[against.faster])}}},
						{"mean_longer_ns", nullptr},
						{"longer_by_probes_ns", nullptr},
						{"pair", nullptr},
						{"difference", nullptr},
						{"causes", causes_json(against.causes, "faster_share")},
						{"next", remedies_json(against.remedies, result.cells[against.slower].cell,
											   against.difference && against.difference->has_shares())}};
	add_refusal(result, against.refusal, json);
	if (against.ratio)
		json["pair"] = {{"ratio", against.ratio->ratio},
						{"ratio_ci95", exact_interval_json(against.ratio->interval)},
						{"rounds", against.ratio->rounds},
						{"openings", against.ratio->openings},
						{"p_value", against.ratio->p ? OrderedJson(*against.ratio->p) : OrderedJson(nullptr)}};
	const analysis::CellResult &slower = result.cells[against.slower], &faster = result.cells[against.faster];
	if (const auto longer = explain::mean_longer(slower, faster))
		json["mean_longer_ns"] = {{"known", longer->known_ns ? OrderedJson(*longer->known_ns) : OrderedJson(nullptr)},
								  {"all", longer->all_ns}};
	if (const auto longer = explain::longer_by_probes(slower, faster))
		json["longer_by_probes_ns"] = {{"mean", longer->mean}, {"ci95", exact_interval_json(longer->interval)}};
	if (against.difference)
		json["difference"] = difference_json(*against.difference);
	return printed_json(json);
}

std::string messages_json(const analysis::RunResult &result,
						  const std::vector<const analysis::WorstMessage *> &messages)
{
	OrderedJson json = {{"schema", kExplainSchema}, {"question", "message"}, {"messages", OrderedJson::array()}};
	for (const analysis::WorstMessage *message : messages) {
		OrderedJson one = cell_name_json(result, message->cell);
		one["name"] = explain::name_of(*message);
		one["latency_ns"] = message->latency_ns();
		one["reason"] = path::kReasonNames[static_cast<size_t>(message->path.reason)];
		one["steps"] = OrderedJson::array();
		for (const explain::MessageStep &step : explain::steps_of(*message, result.cells[message->cell]))
			one["steps"].push_back(step_json(step));
		json["messages"].push_back(one);
	}
	return printed_json(json);
}

} // namespace icepath::exports
