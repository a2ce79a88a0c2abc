// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/together.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

#include "profiler/machine/clocks.h"
#include "profiler/machine/throttling.h"

namespace icepath::run {
namespace {

// Blocks signals except during ppoll(): otherwise a signal between the check of `stop` and the poll would be missed.
class HeldSignals {
public:
	HeldSignals()
	{
		sigset_t held;
		sigemptyset(&held);
		sigaddset(&held, SIGINT);
		sigaddset(&held, SIGTERM);
		sigaddset(&held, SIGHUP);
		pthread_sigmask(SIG_BLOCK, &held, &before_);
	}
	~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
	const sigset_t &before() const { return before_; }

private:
	sigset_t before_{};
};

void await(const std::vector<LiveCell *> &cells, const std::atomic<bool> *stop)
{
	const HeldSignals held;
	for (;;) {
		std::vector<pollfd> awaited;
		uint64_t give_up_ns = UINT64_MAX;
		for (LiveCell *cell : cells) {
			if (cell->is_over())
				continue;
			if (stop && *stop)
				cell->stop();
			const std::vector<pollfd> more = cell->awaited();
			awaited.insert(awaited.end(), more.begin(), more.end());
			give_up_ns = std::min(give_up_ns, cell->gives_up_ns());
		}
		if (awaited.empty())
			return;
		const uint64_t now_ns = icepath_now_ns();
		const uint64_t left_ns = give_up_ns > now_ns ? give_up_ns - now_ns : 0;
		const timespec left{static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
		if (ppoll(awaited.data(), awaited.size(), &left, &held.before()) < 0)
			for (pollfd &one : awaited) // interrupted: `revents` is unset
				one.revents = 0;
		const pollfd *next = awaited.data();
		for (LiveCell *cell : cells)
			if (!cell->is_over()) {
				cell->look(next);
				next += cell->tids().size();
			}
	}
}

void add_threads(const LiveCell &cell, model::Window &window)
{
	for (size_t side = 0; side < cell.tids().size(); side++)
		if (std::ranges::find(window.threads, cell.tids()[side], &model::WindowThread::tid) == window.threads.end())
			window.threads.push_back(
				{cell.tids()[side], cell.cell().graph.sides[side].cpu,
				 fmt::format("{} {}", in_arm(cell.cell().target, cell.cell()), model::side_name(cell.cell(), side))});
}

} // namespace

Measured run_together(const std::vector<LiveCell *> &cells, const std::vector<BlockWish> &wishes,
					  const privilege::SlotsView &slots, privilege::Helper *helper, const std::atomic<bool> *stop)
{
	Measured measured;
	model::Window &window = measured.window;
	window.probed = wishes.front().probed;
	window.sample_period_ns = wishes.front().sample_period_ns;
	std::vector<uint32_t> tids;
	for (const LiveCell *cell : cells) {
		tids.insert(tids.end(), cell->tids().begin(), cell->tids().end());
		add_threads(*cell, window);
	}
	for (LiveCell *cell : cells)
		cell->look_at_sockets();
	const std::vector<std::filesystem::path> throttling = machine::throttling_files(tids);
	const std::optional<uint64_t> throttled_before = machine::times_throttled(throttling);
	window.begin = machine::read_clocks();
	if (window.probed) {
		std::vector<uint32_t> workers;
		std::set<uint32_t> families; // a set: cells may share a daemon
		for (const LiveCell *cell : cells) {
			workers.insert(workers.end(), cell->helper_numbers().begin(), cell->helper_numbers().end());
			families.insert(cell->families().begin(), cell->families().end());
		}
		// No search for skipped programs during sparse blocks: messages must find each thread asleep.
		const bool are_sparse = cells.front()->cell().pattern == model::Pattern::Sparse;
		helper->begin_block(workers, {families.begin(), families.end()}, !are_sparse, window.sample_period_ns);
	}
	// Taken after begin_block(): blocks don't pay for emptying the slots.
	const uint64_t now_ns = icepath_now_ns();
	for (size_t i = 0; i < cells.size(); i++)
		cells[i]->begin(wishes[i], slots, now_ns);
	await(cells, stop);
	if (window.probed) {
		window.skipped = helper->end_block();
		window.slots = slots.copy();
	}
	window.finish = machine::read_clocks();
	if (const auto throttled_after = machine::times_throttled(throttling); throttled_before && throttled_after)
		window.times_throttled = *throttled_after - std::min(*throttled_before, *throttled_after);
	for (LiveCell *cell : cells) {
		model::Block &block = measured.blocks.emplace_back(cell->end());
		if (cells.size() == 1)
			continue;
		block.daemon_cpu_ns.reset(); // other cells' messages may have used it
		if (block.sockets)
			block.sockets->counts.reset(); // or be in these
	}
	return measured;
}

} // namespace icepath::run
