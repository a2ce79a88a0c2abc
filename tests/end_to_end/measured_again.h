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

// Whether a cell has messages with probes, and without them so many that they have a median.
bool has_messages(const nlohmann::json &cell);

// The cells of `icepath run -t <targets> -d <seconds> <options>` in `folder`, each from the first run in which it has
// enough. Where others have a CPU for a while, a cell of many may get no message, as the kernel thread of
// io-uring/sqpoll needs a CPU for itself. The targets of such cells are measured again, up to four times, with ever
// fewer beside them: for a second each and two more at first, then for twice as long as before. A cell that hasn't
// enough even then is as in its last run. The run directories are out0, out1, …
nlohmann::json cells_with_enough(const std::string &targets, int seconds, const std::vector<std::string> &options,
								 const std::filesystem::path &folder,
								 const std::function<bool(const nlohmann::json &)> &is_enough = has_messages);

} // namespace icepath::end_to_end
