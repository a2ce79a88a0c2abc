// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs whose cells are measured again until each has enough messages to be judged: an emulated or loaded machine has too few
// in one run, of which a single one is more than the hundredth that may lack evidence.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

// A cell's probed messages in all runs so far.
struct Wholeness {
	double probed = 0, complete = 0;
	bool has_unprobed = false; // and so what a message costs
	bool is_enough() const { return probed >= 20 && complete >= 0.99 * probed && has_unprobed; }
};

using WholenessOfCells = std::map<std::pair<std::string, std::string>, Wholeness>; // by target and wait

// `icepath run -t <targets> -d <seconds> <options>` in `folder`, then again, twice as long, of the targets that lack something:
// five runs at most. `look` sees what each told: its run.json, and the report that it printed.
WholenessOfCells measure_until_enough(const std::string &targets, int seconds, const std::vector<std::string> &options,
									  const std::filesystem::path &folder,
									  const std::function<void(const nlohmann::json &, const std::string &)> &look);

} // namespace icepath::end_to_end
