// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/tracker_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/analysis/named_cells.h"
#include "profiler/failure.h"
#include "profiler/gate/judge.h"
#include "profiler/stats/quantity.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;
using gate::Figure;

struct Followed {
	Figure figure;
	const char *name; // as a slug
	const char *unit;
	bool smaller_is_better;
};
constexpr Followed kFollowed[] = {
	{Figure::P50, "p50", "ns", true},         {Figure::P90, "p90", "ns", true},
	{Figure::P99, "p99", "ns", true},         {Figure::P99_9, "p99-9", "ns", true},
	{Figure::Mean, "mean", "ns", true},       {Figure::Cpu, "cpu-per-message", "ns", true},
	{Figure::Lost, "lost", "messages", true}, {Figure::Rate, "rate", "messages/s", false},
};

std::optional<gate::Measured> measured(const analysis::RunResult &result, size_t cell, const Followed &followed)
{
	gate::Reason why = gate::Reason::None;
	gate::Expectation of;
	of.figure = followed.figure;
	const auto found = gate::figure_of(result, cell, of, why);
	const bool is_of_all =
		result.cells[cell].blocks.failed == 0 && found && found->reason != gate::Reason::LostMessages;
	return is_of_all ? found : std::nullopt;
}

void check_whole(const analysis::RunResult &result)
{
	if (!result.is_whole())
		throw Failure(ExitCode::Invalid,
					  "the run isn't whole, so its figures aren't ones to follow: it ended early, or "
					  "its file is damaged");
}

std::string json_text(const Json &json) { return json.dump(1, '\t', false, Json::error_handler_t::replace) + "\n"; }

std::string csv_field(const std::string &text)
{
	std::string field = "\"";
	for (const char c : text)
		field += c == '"' ? std::string("\"\"") : std::string(1, c);
	return field + "\"";
}

} // namespace

std::string benchmark_action_json(const analysis::RunResult &result)
{
	check_whole(result);
	Json json = Json::array();
	const std::vector<std::string> keys = analysis::keys_of(result);
	for (size_t cell = 0; cell < keys.size(); ++cell)
		for (const Followed &followed : kFollowed) {
			const auto found = measured(result, cell, followed);
			if (!found || !followed.smaller_is_better)
				continue;
			Json entry = {{"name", keys[cell] + " " + followed.name},
						  {"unit", followed.unit},
						  {"value", stats::rounded(found->value)}};
			if (found->interval)
				entry["range"] = fmt::format("{:.0f}..{:.0f}", found->interval->low, found->interval->high);
			entry["extra"] = fmt::format("icepath {}, kernel {}", result.head.icepath_version, result.head.host.kernel);
			json.push_back(std::move(entry));
		}
	return json_text(json);
}

std::string bencher_json(const analysis::RunResult &result)
{
	check_whole(result);
	Json json = Json::object();
	const std::vector<std::string> keys = analysis::keys_of(result);
	for (size_t cell = 0; cell < keys.size(); ++cell)
		for (const Followed &followed : kFollowed)
			if (const auto found = measured(result, cell, followed)) {
				Json &metric = json[keys[cell]][followed.name];
				metric["value"] = stats::rounded(found->value);
				if (!found->interval)
					continue;
				metric["lower_value"] = stats::rounded(found->interval->low);
				metric["upper_value"] = stats::rounded(found->interval->high);
			}
	return json_text(json);
}

std::string otava_csv(const analysis::RunResult &result)
{
	check_whole(result);
	std::string head = "time,icepath,kernel", row = csv_field(result.head.started_utc) + "," +
													csv_field(result.head.icepath_version) + "," +
													csv_field(result.head.host.kernel);
	const std::vector<std::string> keys = analysis::keys_of(result);
	for (size_t cell = 0; cell < keys.size(); ++cell)
		for (const Followed &followed : kFollowed) {
			const auto found = measured(result, cell, followed);
			head += "," + csv_field(keys[cell] + " " + followed.name);
			row += found ? fmt::format(",{}", stats::rounded(found->value)) : ",nan";
		}
	return head + "\n" + row + "\n";
}

} // namespace icepath::exports
