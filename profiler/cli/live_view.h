// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of programs on the terminal while they are watched: of the last windows, and of all.
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/analysis/links.h"
#include "profiler/cli/commands.h"
#include "profiler/model/attached.h"
#include "profiler/model/run.h"
#include "profiler/model/window.h"

namespace icepath::cli {

// Throws Failure(Usage) if stdout is no terminal whose lines can be overwritten.
void check_live_terminal();

// Resolves windows in a thread of its own, so that whoever takes records out of the rings doesn't wait for it. If the
// thread is behind, windows are left out, and the page says how many: records are on the disk, and the report at the
// end is of all. It holds records as resolve::Stream does, kLastWindows figures, and those of all.
class LiveView {
public:
	LiveView(model::Head head, const Style &style);
	~LiveView(); // leaves an empty screen
	LiveView(const LiveView &) = delete;
	LiveView &operator=(const LiveView &) = delete;

	void add(model::Window window, std::vector<model::Connection> connections);

	static constexpr size_t kLastWindows = 10, kMostWaiting = 2;

private:
	struct Waiting {
		model::Window window;
		std::vector<model::Connection> connections;
	};
	void work();
	std::optional<Waiting> next(); // nothing: it is over
	void show(const Waiting &waiting);

	const model::Head head_;
	const Style style_;
	analysis::AttachedFigures figures_;
	analysis::AttachedResult all_;
	std::deque<analysis::AttachedResult> last_;
	std::mutex mutex_;
	std::condition_variable comes_;
	std::deque<Waiting> waiting_;
	uint64_t left_out_ = 0, told_left_out_ = 0; // windows; as of what is shown
	std::string why_it_ended_; // by itself
	bool is_over_ = false;
	std::thread thread_; // the last member: it uses the others
};

} // namespace icepath::cli
