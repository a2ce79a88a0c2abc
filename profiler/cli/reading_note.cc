// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/reading_note.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace icepath::cli {

ReadingNote::ReadingNote(std::function<void(const std::string &)> show, std::chrono::milliseconds patience)
	: show_(std::move(show))
{
	try {
		thread_ = std::thread([this, patience] { wait_and_show(patience); });
	} catch (const std::system_error &) {
		// No thread can be made, as beyond RLIMIT_NPROC.
	}
}

ReadingNote::~ReadingNote()
{
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
	}
	ends_.notify_one();
	if (thread_.joinable())
		thread_.join();
}

void ReadingNote::wait_and_show(std::chrono::milliseconds patience)
{
	using Clock = std::chrono::steady_clock;
	const Clock::time_point begin = Clock::now();
	bool shown = false;
	std::unique_lock lock(mutex_);
	for (Clock::time_point next = begin + patience; !ends_.wait_until(lock, next, [this] { return is_over_; });
		 next += std::chrono::seconds(1)) {
		const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
		show_(fmt::format("working on the run · {} s", seconds.count()));
		shown = true;
	}
	if (shown)
		show_("");
}

} // namespace icepath::cli
