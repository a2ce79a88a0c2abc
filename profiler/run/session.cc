// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <numeric>
#include <set>

#include "icepath/plugin.h"
#include "profiler/run/live_cell.h"
#include "profiler/rundir/container.h"

namespace icepath::run {
namespace {

std::atomic<bool> interrupted{false};

constexpr uint32_t kLeadIn = 32;
constexpr uint32_t kDefaultMessages = 1000;
constexpr uint64_t kLongestBlockNs = 150'000'000;
constexpr uint64_t kShortestBlockNs = 10'000'000;
// What is left of the budget for resolving what was captured.
constexpr double kCaptureShare = 0.78;

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// Rounds go probed, unprobed, unprobed, probed: drift that is linear in time cancels in every four.
bool is_probed(uint32_t round) { return round % 4 == 0 || round % 4 == 3; }

std::vector<rundir::ProbeUse> probe_uses(const std::vector<rundir::Cell> &cells,
										 const privilege::Helper::Loaded &loaded)
{
	capture::ProbeSet needed = 0;
	for (const rundir::Cell &cell : cells)
		needed |= capture::needed_by(cell);
	std::vector<rundir::ProbeUse> uses;
	for (size_t i = 0; i < capture::kProbes.size(); i++) {
		if ((needed & capture::bit(i)) == 0)
			continue;
		const capture::Probe &probe = capture::kProbes[i];
		const bool works = (loaded.available & capture::bit(i)) != 0;
		uses.push_back(
			{std::string(probe.layers),
			 works ? std::string(probe.tracepoint) : fmt::format("{}: {}", probe.tracepoint, loaded.why_not[i]),
			 works ? "tp_btf" : "none"});
	}
	uses.push_back({"sender.user, receiver.user, sender.kernel, receiver.kernel",
					"stamps of the workers around each call", "stamp"});
	return uses;
}

double block_p50_us(const rundir::Block &block)
{
	std::vector<uint64_t> latencies;
	const auto &sends = block.sides[0].sends;
	for (const rundir::RecvStamp &recv : block.sides[1].recvs)
		if (recv.seq < sends.size() && sends[recv.seq].seq == recv.seq && recv.recv_ns > sends[recv.seq].send_ns)
			latencies.push_back(recv.recv_ns - sends[recv.seq].send_ns);
	if (latencies.empty())
		return 0;
	std::nth_element(latencies.begin(), latencies.begin() + static_cast<ptrdiff_t>(latencies.size() / 2),
					 latencies.end());
	return static_cast<double>(latencies[latencies.size() / 2]) / 1e3;
}

class Session {
public:
	Session(const plan::Plan &plan, rundir::Head head, const SessionOptions &options, privilege::Helper &helper,
			const std::function<void(const Progress &)> &tell)
		: options_(options), helper_(helper), tell_(tell), notices_(plan.notices), head_(std::move(head))
	{
		head_.cells = plan.cells;
		head_.budget_s = options.budget_s;
		load_capture();
		writer_ = std::make_unique<rundir::Writer>(options.directory, head_);
		open_cells(plan);
	}

	SessionResult run()
	{
		const uint64_t capture_end_ns =
			options_.started_ns + static_cast<uint64_t>(options_.budget_s * kCaptureShare * 1e9);
		const uint64_t begin_ns = icepath_now_ns();
		const uint64_t left_ns = capture_end_ns > begin_ns ? capture_end_ns - begin_ns : 0;
		// Eight rounds at least, if that leaves blocks of a useful length.
		block_ns_ = std::clamp(left_ns / (8 * std::max<uint64_t>(1, cells_.size())), kShortestBlockNs, kLongestBlockNs);
		uint32_t round = 0;
		for (; !interrupted; round++) {
			const uint64_t now_ns = icepath_now_ns();
			// Stop after a pair, and before one that would not fit.
			const uint64_t pair_ns = round ? 2 * (now_ns - begin_ns) / round : 0;
			if (round >= 2 && round % 2 == 0 && now_ns + pair_ns > capture_end_ns)
				break;
			if (std::none_of(cells_.begin(), cells_.end(), [](const auto &cell) { return cell != nullptr; }))
				break;
			progress_.round = round + 1;
			progress_.rounds_expected =
				round ? static_cast<uint32_t>(left_ns * round / std::max<uint64_t>(1, now_ns - begin_ns)) : 0;
			progress_.seconds_left = capture_end_ns > now_ns ? static_cast<double>(capture_end_ns - now_ns) / 1e9 : 0;
			run_round(round);
		}
		if (helper_works_)
			detach();
		if (blocks_ == 0)
			throw Failure(ExitCode::Invalid,
						  "nothing could be measured: " + (notices_.empty() ? "interrupted" : notices_.back()));
		rundir::Tail tail;
		tail.finished_utc = utc_now();
		tail.interrupted = interrupted;
		tail.rounds = round;
		tail.notices = notices_;
		writer_->finish(tail);
		return {interrupted, round, failed_};
	}

private:
	void load_capture()
	{
		std::set<uint32_t> cpus;
		for (const rundir::Cell &cell : head_.cells) {
			cpus.insert(cell.cpu_sender);
			cpus.insert(cell.cpu_receiver);
		}
		const std::vector<uint32_t> list(cpus.begin(), cpus.end());
		privilege::Helper::Loaded loaded = helper_.load(list, options_.records_per_slot);
		head_.probes = probe_uses(head_.cells, loaded);
		available_ = loaded.available;
		slots_ = SlotsView(std::move(loaded.slots), loaded.slot_bytes, loaded.slot_count, list);
	}

	void open_cells(const plan::Plan &plan)
	{
		const uint32_t max_messages = options_.messages.value_or(kDefaultMessages) + kLeadIn;
		cells_.resize(plan.cells.size());
		for (size_t i = 0; i < plan.cells.size() && !interrupted; i++) {
			try {
				cells_[i] = std::make_unique<LiveCell>(plan.cells[i], plan.plugin_of_cell[i], static_cast<uint32_t>(i),
													   max_messages, slots_, helper_);
			} catch (const privilege::HelperDied &) {
				throw; // nothing has been measured yet
			} catch (const Failure &failure) {
				give_up(i, failure.what());
			}
		}
		// Cells with the same probes stand together, so that a probed round attaches little.
		order_.resize(cells_.size());
		std::iota(order_.begin(), order_.end(), size_t{0});
		std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
			return capture::needed_by(plan.cells[a]) < capture::needed_by(plan.cells[b]);
		});
	}

	void give_up(size_t cell, const std::string &why)
	{
		const rundir::Cell &lost = head_.cells[cell];
		notices_.push_back(fmt::format("{} {} {} B ended in round {}: {}", lost.target, plan::name(lost.pattern),
									   lost.payload_bytes, progress_.round, why));
		cells_[cell].reset();
		failed_++;
	}

	void run_round(uint32_t round)
	{
		progress_.probed = is_probed(round) && helper_works_;
		for (const size_t i : order_) {
			if (!cells_[i] || interrupted)
				continue;
			progress_.cell = cells_[i]->title();
			tell_(progress_);
			try {
				run_block(i, round);
			} catch (const privilege::HelperDied &died) {
				notices_.push_back(fmt::format("round {}, {}: {}", round + 1, cells_[i]->title(), died.what()));
				helper_works_ = false;
				progress_.probed = false;
				give_up(i, "the root helper died during its block");
			} catch (const WorkerFailed &failure) {
				give_up(i, failure.what());
			}
		}
	}

	void attach_for(size_t i)
	{
		if (!helper_works_)
			return;
		const capture::ProbeSet available = helper_.attach(progress_.probed ? capture::needed_by(head_.cells[i]) : 0);
		for (size_t probe = 0; probe < capture::kProbes.size(); probe++)
			if ((available_ & ~available & capture::bit(probe)) != 0)
				notices_.push_back(
					fmt::format("{} couldn't be attached after all: what rests on it is inferred or absent",
								capture::kProbes[probe].tracepoint));
		available_ = available;
	}

	void run_block(size_t i, uint32_t round)
	{
		attach_for(i);
		BlockWish wish;
		wish.number = blocks_ + 1;
		wish.lead_in = kLeadIn;
		wish.count = options_.messages.value_or(kDefaultMessages);
		wish.duration_ns = block_ns_;
		wish.probed = progress_.probed;
		rundir::Block block = cells_[i]->run(wish, slots_, &helper_);
		block.cell = static_cast<uint32_t>(i);
		block.round = round;
		if (interrupted && block.end == rundir::BlockEnd::Failed)
			block.end = rundir::BlockEnd::Interrupted;
		writer_->add(block);
		blocks_++;
		if (block.end == rundir::BlockEnd::Failed)
			give_up(i, block.failure);
		else
			progress_.latency_p50_us = block_p50_us(block);
	}

	void detach()
	{
		try {
			helper_.attach(0);
		} catch (const privilege::HelperDied &) {
			helper_works_ = false; // its links went with it
		}
	}

	const SessionOptions &options_;
	privilege::Helper &helper_;
	const std::function<void(const Progress &)> &tell_;
	std::vector<std::string> notices_;
	rundir::Head head_;
	SlotsView slots_;
	std::unique_ptr<rundir::Writer> writer_;
	std::vector<std::unique_ptr<LiveCell>> cells_; // beside head_.cells; null once a cell is over
	std::vector<size_t> order_;
	Progress progress_;
	uint64_t block_ns_ = kLongestBlockNs;
	uint64_t blocks_ = 0;
	size_t failed_ = 0;
	bool helper_works_ = true;
	capture::ProbeSet available_ = 0;
};

} // namespace

void interrupt_session() { interrupted = true; }

SessionResult run_session(const plan::Plan &plan, rundir::Head head, const SessionOptions &options,
						  privilege::Helper &helper, const std::function<void(const Progress &)> &tell)
{
	return Session(plan, std::move(head), options, helper, tell).run();
}

} // namespace icepath::run
