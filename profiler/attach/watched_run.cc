// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/watched_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <numeric>
#include <span>
#include <utility>

#include "cpuset/cpulist.h"
#include "cpuset/topology.h"
#include "ebpf/ends.h"
#include "icepath/plugin.h"
#include "profiler/attach/connections.h"
#include "profiler/attach/drain.h"
#include "profiler/attach/unfollowed.h"
#include "profiler/failure.h"
#include "profiler/machine/clocks.h"
#include "profiler/rundir/container.h"
#include "profiler/rundir/limits.h"

namespace icepath::attach {
namespace {

constexpr uint64_t kWindowNs = 1'000'000'000;
constexpr int kDrainEveryMs = 5;

uint64_t own_cpu_ns()
{
	timespec used{};
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

// What list_ends writes.
class EndsView {
public:
	explicit EndsView(Fd map) : map_(std::move(map))
	{
		void *memory = mmap(nullptr, sizeof(icepath_end) * ICEPATH_ENDS, PROT_READ, MAP_SHARED, map_.get(), 0);
		if (memory == MAP_FAILED)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("cannot map the list of connections: {}", std::strerror(errno)));
		ends_ = static_cast<const icepath_end *>(memory);
	}
	~EndsView() { munmap(const_cast<icepath_end *>(ends_), sizeof(icepath_end) * ICEPATH_ENDS); }
	EndsView(const EndsView &) = delete;
	EndsView &operator=(const EndsView &) = delete;
	std::span<const icepath_end> first(uint32_t count) const { return {ends_, std::min<size_t>(count, ICEPATH_ENDS)}; }

private:
	const Fd map_;
	const icepath_end *ends_ = nullptr;
};

class WatchedRun {
public:
	WatchedRun(const std::vector<OpenTarget> &targets, const Wishes &wishes, privilege::Helper &helper,
			   const std::function<bool()> &stops)
		: targets_(targets), wishes_(wishes), helper_(helper), stops_(stops), cpus_(cpuset::read_machine({}).online()),
		  loaded_(helper.load(cpus_, wishes.records_per_ring)), drain_(loaded_, cpus_), ends_(std::move(loaded_.ends))
	{
		const capture::ProbeSet attached = helper.attach(capture::needed_by_running_programs());
		for (const char *probe : {"sys_enter", "sys_exit", "sock_send_length", "sock_recv_length"})
			throw_if_missing(capture::number_of(probe), attached);
	}

	Outcome watch(const model::Head &head)
	{
		rundir::Writer writer(wishes_.directory, head);
		begin_ = machine::read_clocks();
		const uint64_t ends_ns =
			wishes_.duration_s > 0 ? begin_.monotonic_ns + static_cast<uint64_t>(wishes_.duration_s * 1e9) : UINT64_MAX;
		cpu_ns_ = own_cpu_ns();
		std::vector<uint32_t> families(targets_.size());
		std::iota(families.begin(), families.end(), 1u);
		helper_.begin_block({}, families, false);
		look();
		for (bool is_last = false; !is_last;) {
			is_last = await_end_of_window(ends_ns) || writer.is_full();
			model::Window window = end_window(is_last);
			write(window, writer);
			if (wishes_.watched)
				wishes_.watched(std::move(window), connections_.open());
		}
		writer.finish(tail());
		return outcome_;
	}

private:
	// Where bytes are in their stream can't be told from calls alone: one may only look (MSG_PEEK), or give in parts.
	void throw_if_missing(size_t probe, capture::ProbeSet attached) const
	{
		if (!(attached & capture::bit(probe)))
			throw Failure(
				ExitCode::MachineCannot,
				fmt::format("this kernel doesn't show what running programs exchange: {} can't be traced ({}); "
							"`icepath doctor` tries each probe",
							capture::kProbes[probe].name, loaded_.selection[probe].why_not));
	}

	void look()
	{
		const privilege::Helper::Looked looked = helper_.look();
		skipped_.insert(skipped_.end(), looked.skipped.begin(), looked.skipped.end());
		connections_.add(ends_.first(looked.ends));
		most_ends_ = std::max(most_ends_, looked.ends);
	}

	// Returns whether the window is the last one.
	bool await_end_of_window(uint64_t ends_ns)
	{
		const uint64_t until_ns = std::min(ends_ns, begin_.monotonic_ns + kWindowNs);
		while (icepath_now_ns() < until_ns) {
			drain_.take();
			if (stops_())
				outcome_.interrupted = true;
			if (outcome_.interrupted || have_ended())
				return true;
			(void)poll(nullptr, 0, kDrainEveryMs);
		}
		return until_ns == ends_ns;
	}

	bool have_ended() const
	{
		return wishes_.ends_with_first ? has_ended(targets_.front()) : std::ranges::all_of(targets_, has_ended);
	}

	model::Window end_window(bool is_last)
	{
		model::Window window;
		window.round = outcome_.windows++;
		window.probed = true;
		window.begins_midway = window.round > 0;
		window.ends_midway = !is_last;
		window.begin = begin_;
		// First the time: what ended before it has been written since, or is being written. Then room for what a look
		// tells of losses until then.
		window.finish = begin_ = machine::read_clocks();
		drain_.take();
		look();
		if (is_last) {
			drain_.take();
			const std::vector<capture::SkippedPrograms> last = helper_.end_block();
			skipped_.insert(skipped_.end(), last.begin(), last.end());
		}
		window.skipped = std::exchange(skipped_, {});
		drain_.take();
		window.slots = drain_.taken();
		const uint64_t cpu_ns = own_cpu_ns();
		window.own_cpu_ns = cpu_ns - std::exchange(cpu_ns_, cpu_ns);
		return window;
	}

	void write(const model::Window &window, rundir::Writer &writer)
	{
		for (const model::SlotCapture &slot : window.slots) {
			outcome_.records += slot.records.size();
			for (const icepath_record &record : slot.records) {
				unfollowed_.add(record);
				outcome_.lost += record.type == ICEPATH_RECORD_LOSS ? record.loss.count : 0;
			}
		}
		skips_ += sum_of(window.skipped);
		writer.add(window, {});
	}

	model::Tail tail()
	{
		model::Tail tail;
		tail.finished_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
		tail.interrupted = outcome_.interrupted;
		tail.rounds = outcome_.windows;
		auto &notices = outcome_.notices;
		if (outcome_.lost > 0)
			notices.push_back(
				fmt::format("{} records were lost, because they came faster than they were taken", outcome_.lost));
		if (skips_ > 0)
			notices.push_back(fmt::format("the kernel skipped {} runs of probes, whose events are missing", skips_));
		if (helper_.unwatched_tasks() > 0)
			notices.push_back(fmt::format("{} tasks gained rights that their programs hadn't, and weren't watched from "
										  "then on",
										  helper_.unwatched_tasks()));
		if (most_ends_ > ICEPATH_ENDS)
			notices.push_back(fmt::format("of {} ends of connections, {} are listed", most_ends_, ICEPATH_ENDS));
		tail.notices = notices;
		tail.detached.emplace();
		tail.detached->connections = connections_.all();
		tail.detached->unfollowed = unfollowed_.all();
		return tail;
	}

	const std::vector<OpenTarget> &targets_;
	const Wishes &wishes_;
	privilege::Helper &helper_;
	const std::function<bool()> &stops_;
	const cpuset::CpuList cpus_;
	privilege::Helper::Loaded loaded_;
	Drain drain_;
	const EndsView ends_;
	Connections connections_{rundir::kMaxConnections};
	Unfollowed unfollowed_{rundir::kMaxUnfollowed};
	model::ClockPair begin_; // of the window
	std::vector<model::SkippedPrograms> skipped_; // likewise
	uint64_t cpu_ns_ = 0, skips_ = 0;
	uint32_t most_ends_ = 0;
	Outcome outcome_;
};

} // namespace

Outcome watch(const std::vector<OpenTarget> &targets, const model::Head &head, const Wishes &wishes,
			  privilege::Helper &helper, const std::function<bool()> &stops)
{
	return WatchedRun(targets, wishes, helper, stops).watch(head);
}

} // namespace icepath::attach
