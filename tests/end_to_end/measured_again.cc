// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/measured_again.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace icepath::end_to_end {
namespace {

constexpr int kNothingMeasured = 4; // exit code: too slow for that time, so the next run may succeed

std::string joined(const std::set<std::string> &targets)
{
	std::string all;
	for (const std::string &target : targets)
		all += (all.empty() ? "" : ",") + target;
	return all;
}

} // namespace

bool has_messages(const nlohmann::json &cell)
{
	const nlohmann::json &latency = cell["latency_ns"];
	return cell["messages"]["complete"] != 0 && latency.is_object() && latency["p50"].is_number();
}

nlohmann::json cells_with_enough(const std::string &targets, int seconds, const std::vector<std::string> &options,
								 const std::filesystem::path &folder,
								 const std::function<bool(const nlohmann::json &)> &is_enough)
{
	constexpr int kRuns = 5, kShortest = 2, kLongest = 24; // seconds
	std::map<std::string, nlohmann::json> cells; // by key
	std::string wanted = targets;
	int duration = seconds;
	for (int number = 0; number < kRuns && !wanted.empty(); number++) {
		const std::string out = "out" + std::to_string(number);
		std::vector<std::string> arguments{icepath_program(),        "run", "-t", wanted, "-d",
										   std::to_string(duration), "-o",  out};
		arguments.insert(arguments.end(), options.begin(), options.end());
		const Outcome outcome = run(arguments, folder, std::chrono::seconds(150));
		if (number > 0 && outcome.exit_code == kNothingMeasured) {
			std::filesystem::remove_all(folder / out); // no run to look at
			duration *= 2;
			continue;
		}
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		if (outcome.exit_code != 0)
			break;
		const nlohmann::json json = read_json(folder / out / "run.json");
		for (const auto &cell : json["cells"])
			if (nlohmann::json &kept = cells[cell["key"]]; kept.is_null() || !is_enough(kept))
				kept = cell;
		std::set<std::string> lacking;
		for (const auto &[key, cell] : cells)
			if (!is_enough(cell))
				lacking.insert(cell["target"]);
		wanted = joined(lacking);
		const int few = std::min(kShortest + static_cast<int>(lacking.size()), kLongest);
		duration = number == 0 ? few : std::min(2 * duration, kLongest);
	}
	nlohmann::json all = nlohmann::json::array();
	for (const auto &[key, cell] : cells)
		all.push_back(cell);
	return all;
}

WholenessOfCells measure_until_enough(const std::string &targets, int seconds, const std::vector<std::string> &options,
									  const std::filesystem::path &folder,
									  const std::function<void(const nlohmann::json &, const std::string &)> &look)
{
	constexpr int kRuns = 5;
	WholenessOfCells cells;
	std::string wanted = targets;
	for (int number = 0; number < kRuns && !wanted.empty(); number++) {
		const std::string out = "out" + std::to_string(number);
		const std::string duration = std::to_string(number == 0 ? seconds : 2 * seconds);
		std::vector<std::string> arguments{icepath_program(), "run", "-t", wanted, "-d", duration, "-o", out};
		arguments.insert(arguments.end(), options.begin(), options.end());
		const Outcome outcome = run(arguments, folder, std::chrono::seconds(300));
		if (number > 0 && outcome.exit_code == kNothingMeasured)
			continue;
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		if (outcome.exit_code != 0)
			break;
		const nlohmann::json json = read_json(folder / out / "run.json");
		look(json, run({icepath_program(), "report", "-v", out}, folder).out);
		for (const auto &cell : json["cells"]) {
			Wholeness &sum = cells[{cell["target"].get<std::string>(), cell["wait"].get<std::string>()}];
			sum.probed += cell["messages"]["probed"].get<double>();
			sum.complete += cell["messages"]["complete"].get<double>();
			sum.has_unprobed |= !cell["rusage"].is_null();
			EXPECT_EQ(cell["capture"]["dropped"], 0) << cell["target"];
			if (cell["messages"]["complete"] != 0) { // otherwise it is null
				EXPECT_EQ(cell["layers_sum_error_ns"], 0) << cell["target"];
			}
		}
		std::set<std::string> lacking;
		for (const auto &[cell, sum] : cells)
			if (!sum.is_enough())
				lacking.insert(cell.first);
		wanted = joined(lacking);
	}
	return cells;
}

} // namespace icepath::end_to_end
