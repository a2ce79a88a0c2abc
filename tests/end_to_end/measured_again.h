// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs whose cells are measured again until each has enough messages to judge. An emulated or loaded machine has too
// few in one run: then a single message is more than the hundredth that may lack evidence.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

// A cell's probed messages in all runs so far.
struct Wholeness {
	double probed = 0, complete = 0;
	bool has_unprobed = false; // and so a message's cost
	bool is_enough() const { return probed >= 20 && complete >= 0.99 * probed && has_unprobed; }
};

using WholenessOfCells = std::map<std::pair<std::string, std::string>, Wholeness>; // by target and wait

// Runs `icepath run -t <targets> -d <seconds> <options>` in `folder`, then again, twice as long, with the targets that
// lack messages: at most five runs. Of each cell, no record may be dropped, and the layers of its messages must add up.
// `look` gets each run's run.json and full report.
WholenessOfCells measure_until_enough(const std::string &targets, int seconds, const std::vector<std::string> &options,
									  const std::filesystem::path &folder,
									  const std::function<void(const nlohmann::json &, const std::string &)> &look);

} // namespace icepath::end_to_end
