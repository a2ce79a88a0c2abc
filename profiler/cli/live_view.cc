// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "profiler/cli/output.h"
#include "profiler/failure.h"
#include "profiler/text/attached_lines.h"

namespace icepath::cli {
namespace {

winsize size_of_terminal()
{
	winsize size{};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
		size.ws_row = 24;
	return size;
}

} // namespace

void check_live_terminal()
{
	const char *term = std::getenv("TERM");
	if (!isatty(STDOUT_FILENO) || !term || std::strcmp(term, "dumb") == 0)
		throw Failure(ExitCode::Usage, "--live refreshes a terminal, and stdout is none that can be overwritten: leave "
									   "--live out, the report comes at the end");
}

LiveView::LiveView(model::Head head, const Style &style)
	: head_(std::move(head)), style_(style), thread_([this] { work(); })
{}

LiveView::~LiveView()
{
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
	}
	comes_.notify_one();
	thread_.join();
	try {
		overwrite_screen("", 0);
	} catch (const std::exception &) { // the terminal is gone
	}
	if (!why_it_ended_.empty())
		complain(why_it_ended_);
}

void LiveView::add(model::Window window, std::vector<model::Connection> connections)
{
	{
		const std::lock_guard lock(mutex_);
		if (waiting_.size() == kMostWaiting) {
			waiting_.pop_front();
			left_out_++;
			waiting_.front().window.begins_midway = false; // nothing is known of the time before it
		}
		waiting_.push_back({std::move(window), std::move(connections)});
	}
	comes_.notify_one();
}

std::optional<LiveView::Waiting> LiveView::next()
{
	std::unique_lock lock(mutex_);
	comes_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
	if (is_over_)
		return std::nullopt;
	Waiting first = std::move(waiting_.front());
	waiting_.pop_front();
	told_left_out_ = left_out_;
	return first;
}

void LiveView::show(const Waiting &waiting)
{
	figures_.know(waiting.connections);
	figures_.add(waiting.window);
	last_.push_back(figures_.take());
	all_.add(last_.back());
	if (last_.size() > kLastWindows)
		last_.pop_front();
	analysis::AttachedResult recent;
	for (const analysis::AttachedResult &one : last_)
		recent.add(one);
	recent.head = head_;
	const winsize size = size_of_terminal();
	const int width = size.ws_col >= 60 ? size.ws_col : style_.width;
	overwrite_screen(text::live_report({recent, all_, told_left_out_}, {style_.colour, style_.unicode, width}),
					 size.ws_row);
}

void LiveView::work()
{
	try {
		while (const std::optional<Waiting> one = next())
			show(*one);
	} catch (const std::exception &error) { // the watching goes on, and tells of all at its end
		why_it_ended_ = std::string("icepath: --live ended: ") + error.what();
	}
}

} // namespace icepath::cli
