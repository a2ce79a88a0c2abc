// SPDX-License-Identifier: Apache-2.0
#pragma once
// A session's progress on stderr.
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "profiler/cli/output.h"
#include "profiler/run/session.h"

namespace icepath::cli {

// Overwrites one line if the terminal can; otherwise prints one line per round.
class ProgressLine {
public:
	explicit ProgressLine(bool line_control) : line_control_(line_control) {}
	~ProgressLine()
	{
		if (line_control_ && shown_)
			overwrite("");
	}
	void show(const run::Progress &progress)
	{
		const std::string rounds = fmt::format("{} of about {}", progress.round, progress.rounds_expected);
		if (line_control_) {
			overwrite(fmt::format(
				"round {} · {} · {}{} · {:.0f} s left", rounds, progress.probed ? "probed" : "unprobed", progress.cell,
				progress.latency_p50_us > 0 ? fmt::format(" · last p50 {:.1f} µs", progress.latency_p50_us) : "",
				progress.seconds_left));
			shown_ = true;
		} else if (progress.round != last_round_) {
			complain(fmt::format("round {} ({}), {:.0f} s left\n", rounds, progress.probed ? "probed" : "unprobed",
								 progress.seconds_left));
		}
		last_round_ = progress.round;
	}

private:
	bool line_control_, shown_ = false;
	uint32_t last_round_ = 0;
};

} // namespace icepath::cli
