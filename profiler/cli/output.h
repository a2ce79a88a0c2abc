// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "profiler/run/session.h"

namespace icepath::cli {

// Opens /dev/null for closed standard streams. Otherwise the next opened file would get such a number, and the output.
void open_standard_streams();

// The only functions that write to the standard streams. They make text printable (model::printable_page(),
// model::printable()), because names come from files, plug-ins and directories.
//
// Writes all of `text` to stdout, unbuffered. Throws Failure(MachineCannot): an unprinted report is no success.
void print(const std::string &text);

// Writes one line to stderr, and adds a missing line feed. Ignores errors: the run goes on without diagnostics.
void complain(const std::string &line);
// The same over the cursor's line, without a line feed.
void overwrite(const std::string &line);
// Overwrites the terminal's screen by the page's first lines, as many as it has rows, and leaves the rest empty. Throws
// as print().
void overwrite_screen(const std::string &page, size_t rows);

// A session's progress on stderr.
//
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
