// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/matrix_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "profiler/rundir/conditions_json.h"

namespace icepath::selftest {
namespace {

// A layer gets a column only if an injection put at least this share into it.
constexpr double kWorthAColumn = 0.005;

std::string percent_number(double share)
{
	const double value = 100 * share;
	return fmt::format("{:.1f}", std::abs(value) < 0.05 ? 0.0 : value);
}

std::vector<size_t> columns_of(const std::vector<Row> &matrix)
{
	std::vector<size_t> columns;
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		for (const Row &row : matrix)
			if (row.layers[layer] && std::abs(row.layers[layer]->median) >= kWorthAColumn) {
				columns.push_back(layer);
				break;
			}
	return columns;
}

std::string with_interval(const stats::Middle &share)
{
	return share.interval ? fmt::format("{} [{}, {}]", percent_number(share.median),
										percent_number(share.interval->low), percent_number(share.interval->high))
						  : percent_number(share.median);
}

void add_shares(const std::vector<Row> &matrix, std::string &text)
{
	const std::vector<size_t> columns = columns_of(matrix);
	text += fmt::format("{:<16} {:>9}", "", "added µs");
	for (const size_t layer : columns)
		text += fmt::format(" {:>15}", model::name(static_cast<model::Layer>(layer)));
	text += "\n";
	for (const Row &row : matrix) {
		if (!row.added_ns)
			continue;
		text += fmt::format("{:<16} {:>9.1f}", row.injection->name, row.added_ns->median / 1000);
		for (const size_t layer : columns)
			text += fmt::format(" {:>15}", percent_number(row.layers[layer]->median));
		text += "\n";
	}
}

// The largest of the other layers: "network 0.4 [0.1, 0.8]".
std::string most_elsewhere(const Row &row)
{
	const auto most = std::ranges::max_element(row.elsewhere, {},
											   [](const auto &share) { return share ? share->median : -HUGE_VAL; });
	return *most ? fmt::format("{} {}", model::name(static_cast<model::Layer>(most - row.elsewhere.begin())),
							   with_interval(**most))
				 : "–";
}

void add_verdicts(const std::vector<Row> &matrix, std::string &text)
{
	text += fmt::format("\n{:<16} {:<12} {:>5} {:>7}  {:<23} {:<34} {}\n", "", "verdict", "pairs", "named",
						"in place, %", "most elsewhere, %", "where it belongs");
	for (const Row &row : matrix) {
		text += fmt::format("{:<16} {:<12} {:>5} {:>7}  {:<23} {:<34} {}\n", row.injection->name, name(row.verdict),
							row.pairs, row.named ? percent_number(*row.named) : "–",
							row.in_place ? with_interval(*row.in_place) : "–", most_elsewhere(row),
							text_of(row.injection->lands));
		if (!row.why.empty())
			text += fmt::format("{:<16} {}\n", "", row.why);
	}
}

// "of 15: 13 lands, 1 strays, 0 undecided, 1 not injected, 0 not judged".
std::string summary_of(const std::vector<Row> &matrix)
{
	std::string summary;
	for (size_t number = 0; number < kVerdictNames.size(); number++)
		summary +=
			fmt::format("{}{} {}", summary.empty() ? "" : ", ",
						std::ranges::count(matrix, static_cast<Verdict>(number), &Row::verdict), kVerdictNames[number]);
	return fmt::format("of {}: {}", matrix.size(), summary);
}

} // namespace

std::string text_of(const std::vector<Row> &matrix)
{
	std::string text = "share in % of the added time, by the layer in which it was found\n";
	add_shares(matrix, text);
	add_verdicts(matrix, text);
	return text + "\n" + summary_of(matrix) + "\n" +
		   fmt::format(
			   "\nMedians over pairs of blocks, without and with the injection. An injection lands where at least "
			   "{:.0f} % of its time is\nin place and at most {:.0f} % in each other layer. In brackets: the "
			   "median's 95 % interval. named: share of the time in\nplace that is blamed on who took it.\n",
			   100 * kLeastInPlace, 100 * kMostElsewhere);
}

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
				 {"host", rundir::to_json(circumstances.host)},
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
