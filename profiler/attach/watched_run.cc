// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/watched_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <numeric>
#include <optional>

#include "cpuset/cpulist.h"
#include "cpuset/topology.h"
#include "icepath/plugin.h"
#include "profiler/machine/clocks.h"
#include "profiler/privilege/slots_view.h"
#include "profiler/rundir/container.h"
#include "profiler/rundir/limits.h"

namespace icepath::attach {
namespace {

constexpr uint64_t kWindowNs = 1'000'000'000;
// A slot lasts three seconds of the busiest programs that were tried.
constexpr uint64_t kMostRecords = 1u << 20;

class Session {
public:
	Session(const std::vector<OpenTarget> &targets, const Wishes &wishes, privilege::Helper &helper,
			const std::function<bool()> &stops)
		: targets_(targets), helper_(helper), stops_(stops), cpus_(cpuset::read_machine({}).online()),
		  ends_ns_(wishes.duration_s > 0 ? icepath_now_ns() + static_cast<uint64_t>(wishes.duration_s * 1'000'000'000)
										 : UINT64_MAX)
	{
		families_.resize(targets.size());
		std::iota(families_.begin(), families_.end(), 1u);
		const auto records =
			static_cast<uint32_t>(std::min<uint64_t>(kMostRecords, rundir::kMaxRecords / (cpus_.size() + 1)));
		privilege::Helper::Loaded loaded = helper.load(cpus_, records);
		selection_ = loaded.selection;
		slots_.emplace(loaded, cpus_);
		helper.attach(capture::needed_by_running_programs());
	}

	Outcome watch(const model::Head &head, const std::string &directory)
	{
		rundir::Writer writer(directory, head);
		begin();
		while (!await_end_of_window() && !writer.is_full()) {
			const model::Window window = end();
			begin(); // before the last one is written, so that little is missed
			write(window, writer);
		}
		write(end(), writer);
		writer.finish(tail());
		return outcome_;
	}

private:
	void begin()
	{
		begin_ = machine::read_clocks();
		helper_.begin_block({}, families_, true);
	}

	model::Window end()
	{
		model::Window window;
		window.round = outcome_.windows++;
		window.probed = true;
		window.begin = begin_;
		window.skipped = helper_.end_block();
		window.finish = machine::read_clocks();
		window.slots = slots_->copy();
		return window;
	}

	void write(const model::Window &window, rundir::Writer &writer)
	{
		for (const model::SlotCapture &slot : window.slots) {
			outcome_.records += slot.records.size();
			outcome_.lost += slot.position - std::min(slot.position, slot.capacity);
		}
		skipped_ += sum_of(window.skipped);
		writer.add(window, {});
	}

	// Returns whether it was the last one.
	bool await_end_of_window()
	{
		const uint64_t until_ns = std::min(ends_ns_, icepath_now_ns() + kWindowNs);
		for (;;) {
			const uint64_t now_ns = icepath_now_ns();
			if (stops_()) {
				outcome_.interrupted = true;
				return true;
			}
			if (std::ranges::all_of(targets_, has_ended))
				return true;
			if (now_ns >= until_ns)
				return now_ns >= ends_ns_;
			std::vector<pollfd> running;
			for (const OpenTarget &target : targets_)
				if (!has_ended(target))
					running.push_back({target.pidfd.get(), POLLIN, 0});
			(void)poll(running.data(), running.size(), static_cast<int>((until_ns - now_ns) / 1'000'000) + 1);
		}
	}

	model::Tail tail()
	{
		model::Tail tail;
		tail.finished_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
		tail.interrupted = outcome_.interrupted;
		tail.rounds = outcome_.windows;
		if (outcome_.lost > 0)
			outcome_.notices.push_back(
				fmt::format("{} records were lost, because more came in a window than a slot holds", outcome_.lost));
		if (skipped_ > 0)
			outcome_.notices.push_back(
				fmt::format("the kernel skipped {} runs of probes, whose events are missing", skipped_));
		if (helper_.unwatched_tasks() > 0)
			outcome_.notices.push_back(
				fmt::format("{} tasks gained rights that their programs hadn't, and weren't watched from then on",
							helper_.unwatched_tasks()));
		tail.notices = outcome_.notices;
		return tail;
	}

	const std::vector<OpenTarget> &targets_;
	privilege::Helper &helper_;
	const std::function<bool()> &stops_;
	const cpuset::CpuList cpus_;
	const uint64_t ends_ns_;
	std::vector<uint32_t> families_;
	capture::Selection selection_;
	std::optional<privilege::SlotsView> slots_;
	model::ClockPair begin_;
	uint64_t skipped_ = 0;
	Outcome outcome_;
};

} // namespace

Outcome watch(const std::vector<OpenTarget> &targets, model::Head head, const Wishes &wishes, privilege::Helper &helper,
			  const std::function<bool()> &stops)
{
	return Session(targets, wishes, helper, stops).watch(head, wishes.directory);
}

} // namespace icepath::attach
