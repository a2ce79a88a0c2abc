// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <list>

#include "icepath/plugin.h"
#include "profiler/machine/changes.h"
#include "profiler/machine/wakes.h"
#include "profiler/machine/watch.h"
#include "profiler/model/cell_title.h"
#include "profiler/noise/cpu_noise.h"
#include "profiler/rate/search.h"
#include "profiler/run/awake.h"
#include "profiler/run/block_wishes.h"
#include "profiler/run/descriptor_limit.h"
#include "profiler/run/middleware.h"
#include "profiler/run/returned_buffers.h"
#include "profiler/run/rounds.h"
#include "profiler/run/run_cells.h"
#include "profiler/run/run_probes.h"
#include "profiler/run/run_record.h"
#include "profiler/run/sampled_functions.h"
#include "profiler/run/still_cells.h"
#include "profiler/run/together.h"
#include "profiler/rundir/container.h"

namespace icepath::run {
namespace {

std::atomic<bool> interrupted{false};

// Reserved share of the budget: for exiting, and for the delays of a loaded machine.
constexpr double kReserve = 0.03;

// An injection into a cell from outside, in effect for its lifetime.
class Injected {
public:
	Injected(const SessionOptions &options, size_t number, const LiveCell &cell) : options_(options)
	{
		if (options_.begin_injection)
			options_.begin_injection(number, cell.tids());
	}
	~Injected()
	{
		if (options_.end_injection)
			options_.end_injection();
	}
	Injected(const Injected &) = delete;
	Injected &operator=(const Injected &) = delete;

private:
	const SessionOptions &options_;
};

class Session {
public:
	Session(const plan::Plan &plan, model::Head head, const SessionOptions &options, privilege::Helper &helper,
			const std::function<void(const Progress &)> &report)
		: options_(options), report_(report), plan_(plan), notices_(plan.notices), head_(std::move(head)),
		  cpus_(model::cpus_of(plan.cells)),
		  end_ns_(options.started_ns + static_cast<uint64_t>(options.budget_s * (1 - kReserve) * 1e9) -
				  machine::kWakesNs),
		  visits_(in_order_of_probes(visits_of(plan.cells), plan.cells)), firsts_(with_other_arms(visits_, plan.cells)),
		  budget_(end_ns_, least_visits_ns(visits_, plan.cells, options.messages), firsts_),
		  wishes_(head_.cells, options.messages), probes_(helper, notices_),
		  middleware_(&helper, &interrupted, options.root_spaces, options.daemon_cpus, head_.arms),
		  opener_(plan_, options.messages, probes_.slots(), helper, middleware_,
				  {options.locks_memory, options.pins_library_threads, options.keeper}),
		  cells_(head_, opener_, notices_), still_(plan, visits_, cells_, middleware_), changes_(options.machine_root),
		  record_(options.directory, head_)
	{
		load_capture();
		measure_noise();
		const auto admit = [this](int pidfd) { this->admit(pidfd); };
		head_.wakes = machine_.emplace(cpus_, options.budget_s, admit).wakes_before();
		head_.wakes_held = wakes_held(options_.awake, head_.cells, cpus_, notices_, admit);
		rundir::check_head(head_);
		for (size_t v = 0; v < visits_.size(); v++)
			open_visit(v, 0);
		end_visits_without_cells();
	}

	SessionResult run()
	{
		uint32_t round = 0;
		while (goes_on() && begin_pair()) {
			machine_->look_if_due();
			open_anew(round);
			for (const uint32_t end = round + 2; round < end && goes_on(); round++) {
				progress_.round = round + 1;
				cells_.set_round(progress_.round);
				progress_.rounds_expected = budget_.rounds_expected();
				run_round(round);
			}
			budget_.end_pair(icepath_now_ns());
			rehearse();
		}
		probes_.detach();
		if (options_.samples && round < 7 && !interrupted)
			notices_.add(
				"no functions were sampled: the seventh round is the first in which they are, so measure fewer "
				"cells, or longer (-d)");
		if (record_.is_empty()) {
			stop_if_interrupted();
			throw Failure(ExitCode::Invalid,
						  fmt::format("nothing could be measured: {}",
									  fmt::join(cells_.given_up().empty() ? notices_.all() : cells_.given_up(), "; ")));
		}
		for (size_t i = 0; i < head_.cells.size() && !interrupted; i++)
			if (cells_.failed(i))
				cells_.give_up(i, "no time was left to restart its processes");
		const size_t without_data =
			interrupted ? 0 : cells_.name_those_without_data(record_, probes_.works(), options_.always_probed);
		const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
		model::Tail tail{now, interrupted || !broken_off_.empty(), round, notices_.all()};
		machine_->describe(tail);
		for (size_t i = 0; i < head_.cells.size(); i++)
			tail.failed_openings.push_back(opener_.of(i).failed);
		record_.finish(tail);
		return {interrupted, broken_off_, round, cells_.given_up().size() + without_data, record_.has_messages(),
				selection_};
	}

private:
	void load_capture()
	{
		auto loaded = probes_.load(cpus_, options_.records_per_slot, options_.forced_tier, options_.samples);
		if (options_.samples) {
			functions_ = SampledFunctions(loaded.named_stacks, loaded.user_stacks);
			if (!loaded.knows_kernel)
				notices_.add("kernel functions in samples have no names: the kernel hides their addresses, or shows "
							 "them only to root (kernel.kptr_restrict)");
		}
		head_.probes = probe_uses(head_.cells, loaded);
		selection_ = loaded.selection;
	}

	// Lets a child run on the run's CPUs.
	void admit(int pidfd)
	{
		if (options_.keeper)
			options_.keeper->admit(pidfd);
	}

	// Short, since it is taken from the blocks' time.
	void measure_noise()
	{
		constexpr double kLongestS = 0.2, kMostOfBudget = 0.01;
		const auto ns = static_cast<uint64_t>(std::min(kLongestS, options_.budget_s * kMostOfBudget) * 1e9);
		const noise::Capture capture{probes_.helper(), probes_.slots()};
		try {
			probes_.attach(noise::needed_probes());
			head_.noise = noise::measure(cpus_, ns, &capture, [this](int pidfd) { admit(pidfd); });
		} catch (const privilege::HelperDied &died) {
			notices_.add(died.what());
			helper_died(died);
		}
	}

	void open_visit(size_t v, uint32_t round)
	{
		uint64_t took_ns = 0;
		still_.go_on();
		try {
			for (const size_t i : in_order(round, visits_[v], head_.cells))
				if (!interrupted && !cells_.is_over(i))
					took_ns += cells_.open(i);
		} catch (const isolation::KeeperLost &lost) {
			break_off(lost.what());
		}
		budget_.opened(v, took_ns);
	}

	void break_off(const std::string &why)
	{
		if (!broken_off_.empty())
			return;
		broken_off_ = fmt::format("round {}: {}; what was measured before is kept", progress_.round, why);
		notices_.add(broken_off_);
	}

	// Called between pairs of rounds: both rounds of a pair have the same processes. If an arm's have failed, all arms
	// of its cell get fresh ones.
	void open_anew(uint32_t round)
	{
		std::vector<bool> due(visits_.size());
		for (size_t v = 0; v < visits_.size(); v++)
			due[firsts_[v]] = due[firsts_[v]] || budget_.opening_is_due(v) || cells_.any_failed(visits_[v]);
		for (const size_t v : order_of(round, firsts_)) {
			if (!due[firsts_[v]] || !probes_.works() || interrupted)
				continue;
			try {
				open_visit(v, round);
			} catch (const privilege::HelperDied &died) {
				without_helper(died, v);
			}
		}
		end_visits_without_cells();
	}

	bool is_sparse(const Visit &visit) const { return head_.cells[visit.front()].pattern == model::Pattern::Sparse; }

	// Sparse blocks are long: beside other visits they rest while they have taken more than 5/4 of those visits' time.
	bool begin_pair()
	{
		const bool all_sparse = std::ranges::all_of(visits_, [&](const Visit &visit) { return is_sparse(visit); });
		sparse_rests_ = !all_sparse && sparse_ns_ > others_ns_ + others_ns_ / 4;
		for (size_t v = 0; v < visits_.size(); v++)
			budget_.takes_part(v, !(sparse_rests_ && is_sparse(visits_[v])));
		if (!budget_.begin_pair(icepath_now_ns()))
			return false;
		// Confirmation, once begun, goes on even if more pairs are expected later: its blocks don't steer the search.
		if (rate::is_time_to_confirm(progress_.round / 2, budget_.rounds_expected() / 2))
			wishes_.confirm_rates();
		return true;
	}

	void end_visits_without_cells()
	{
		for (size_t v = 0; v < visits_.size(); v++)
			if (std::ranges::all_of(visits_[v], [&](size_t i) { return cells_.is_over(i); }))
				budget_.is_over(v);
	}

	bool goes_on() const { return !interrupted && broken_off_.empty() && cells_.any_left() && !record_.is_full(); }

	void rehearse()
	{
		if (!options_.rehearse_report || interrupted || !budget_.rehearsal_is_due())
			return;
		const uint64_t begin_ns = icepath_now_ns();
		still_.go_on();
		options_.rehearse_report() ? budget_.rehearsed(icepath_now_ns() - begin_ns) : budget_.rehearsal_failed();
	}

	void run_round(uint32_t round)
	{
		progress_.probed = (is_probed(round) || options_.always_probed) && probes_.works();
		for (const size_t v : order_of(round, firsts_)) {
			const Visit visit = in_order(round, cells_.living(visits_[v]), head_.cells);
			if (visit.empty() || !goes_on() || !budget_.fits(v, icepath_now_ns()) ||
				(sparse_rests_ && is_sparse(visit)))
				continue;
			if (wishes_.seeks_rate(visit.front()) && !has_time_to_search(v, visit.front()))
				continue;
			tell_progress(visit);
			try {
				run_visit(v, visit, round);
			} catch (const privilege::HelperDied &died) {
				without_helper(died, v);
			}
			end_visits_without_cells();
		}
	}

	// Cells keep their processes: without the helper, new ones can't be registered.
	void without_helper(const privilege::HelperDied &died, size_t v)
	{
		notices_.add(fmt::format("round {}, {}: {}", progress_.round, model::title(head_.cells[visits_[v].front()]),
								 died.what()));
		helper_died(died);
	}

	void helper_died(const privilege::HelperDied &died)
	{
		probes_.helper_died();
		progress_.probed = false;
		if (died.probes_may_be_attached())
			broken_off_ = died.what();
	}

	void tell_progress(const Visit &visit)
	{
		progress_.cell = cells_.live(visit.front())->title();
		if (visit.size() > 1)
			progress_.cell += fmt::format(" and {} beside it", visit.size() - 1);
		const uint64_t now_ns = icepath_now_ns();
		progress_.seconds_left = end_ns_ > now_ns ? static_cast<double>(end_ns_ - now_ns) / 1e9 : 0;
		report_(progress_);
	}

	// Slow rates take longer than the plan.
	bool has_time_to_search(size_t v, size_t i)
	{
		const uint64_t needed_ns = wishes_.searching_ns(i);
		if (needed_ns > budget_.block_ns(v))
			budget_.needs(v, needed_ns);
		return budget_.fits(v, icepath_now_ns());
	}

	// The blocks come with window, cell and opening set.
	std::vector<model::Block> measure(size_t v, const Visit &visit, uint32_t round)
	{
		std::vector<LiveCell *> cells;
		std::vector<BlockWish> wishes;
		std::list<Injected> injected;
		uint64_t longest_ns = 0;
		for (size_t n = 0; n < visit.size(); n++) {
			cells.push_back(cells_.live(visit[n]));
			wishes.push_back(wishes_.next(visit[n], progress_.probed, counts_hardware(round),
										  options_.samples && is_sampled(round), budget_.block_ns(v)));
			wishes[n].first_after_ns = first_after_ns(head_.cells[visit[n]], n, visit.size());
			longest_ns = std::max(longest_ns, wishes[n].first_after_ns + wishes[n].duration_ns);
		}
		still_.leave_alone(visit, longest_ns);
		for (size_t n = 0; n < visit.size(); n++)
			injected.emplace_back(options_, visit[n], *cells[n]);
		const machine::BlockCost cost(cpus_, probes_.helper().pid());
		const Awake awake(options_.awake, head_.cells[visit.front()], notices_);
		Measured measured = run_together(cells, wishes, probes_.slots(), &probes_.helper(), &interrupted);
		injected.clear();
		still_.tell_others(visit, measured.window);
		probes_.tell_unwatched(visit, head_.cells);
		cost.add_to(measured.window);
		if (measured.window.is_sampled())
			functions_.name(measured.window);
		machine_->add_steal_of(measured.window);
		for (size_t n = 0; n < visit.size(); n++)
			if (interrupted && measured.blocks[n].end == model::BlockEnd::Failed)
				measured.blocks[n].end = model::BlockEnd::Interrupted;
		return in_round(std::move(measured), visit, round);
	}

	std::vector<model::Block> in_round(Measured measured, const Visit &visit, uint32_t round) const
	{
		measured.window.round = round;
		const auto window = std::make_shared<model::Window>(std::move(measured.window));
		for (size_t n = 0; n < visit.size(); n++) {
			measured.blocks[n].cell = static_cast<uint32_t>(visit[n]);
			measured.blocks[n].opening = opener_.of(visit[n]).done - 1;
			measured.blocks[n].window = window;
		}
		return std::move(measured.blocks);
	}

	// False: the time left holds no block of this cell.
	bool lengthen(size_t v, size_t i, const model::Block &block)
	{
		budget_.needs(v, wishes_.learn_pace(i, block));
		if (budget_.fits(v, icepath_now_ns()))
			return true;
		const double needed_s = static_cast<double>(budget_.block_ns(v)) / 1e9;
		cells_.give_up(
			i, fmt::format("it is so slow that a block takes {:.1f} s: measure it alone, for {:.0f} s or longer (-d)",
						   needed_s, std::ceil(options_.budget_s + 2 * needed_s)));
		return false;
	}

	// False: the cell failed.
	bool is_warm(size_t v, size_t i, uint32_t round)
	{
		if (!cells_.is_fresh(i))
			return true;
		const uint64_t begin_ns = icepath_now_ns();
		const BlockWish wish = wishes_.first_block(i);
		still_.leave_alone({i}, wish.duration_ns);
		const Awake awake(options_.awake, head_.cells[i], notices_);
		Measured measured = run_together({cells_.live(i)}, {wish}, probes_.slots(), nullptr, &interrupted);
		budget_.warmed_up(v, icepath_now_ns() - begin_ns);
		if (measured.blocks.front().end != model::BlockEnd::Failed || interrupted)
			return true;
		keep(in_round(std::move(measured), {i}, round));
		return false;
	}

	void run_visit(size_t v, const Visit &visit, uint32_t round)
	{
		if (!is_sparse(visit) && !is_warm(v, visit.front(), round))
			return;
		probes_.attach(progress_.probed ? probes_of(visit, head_.cells) : 0);
		std::vector<model::Block> blocks = measure(v, visit, round);
		const auto is_empty = [&] {
			return blocks.front().end != model::BlockEnd::Failed && counted_in(blocks.front()) == 0;
		};
		// One empty block may have been held up by something else; after two the cell is slow.
		for (const bool twice : {false, true}) {
			if (visit.size() > 1 || !is_empty() || interrupted)
				break;
			if (twice && !lengthen(v, visit.front(), blocks.front()))
				return;
			blocks = measure(v, visit, round);
		}
		const auto to_deadline = [&](const model::Block &block) {
			return block.end == model::BlockEnd::Deadline && !wishes_.seeks_rate(block.cell);
		};
		const model::Window &window = *blocks.front().window;
		const uint64_t took_ns = window.finish.monotonic_ns - window.begin.monotonic_ns;
		(is_sparse(visit) ? sparse_ns_ : others_ns_) += took_ns;
		budget_.block_took(v, took_ns, std::any_of(blocks.begin(), blocks.end(), to_deadline));
		keep(blocks);
		for (uint32_t done = 1; window.is_sampled() && done < kSampledBlocks && has_time_for_more(v, visit); done++)
			keep(measure(v, visit, round));
	}

	bool has_time_for_more(size_t v, const Visit &visit)
	{
		return goes_on() && !is_sparse(visit) && cells_.living(visit) == visit && budget_.fits(v, icepath_now_ns());
	}

	// False: the machine has changed since the window began.
	bool is_sound(const model::Window &window)
	{
		auto lost = changes_.lost_pin(window.threads);
		if (!lost && options_.keeper)
			lost = lost_isolation();
		if (lost)
			break_off(*lost);
		const std::vector<std::string> changes = changes_.look();
		for (const std::string &change : changes)
			notices_.add(fmt::format("round {}: {}; the blocks of that time are left out", progress_.round, change));
		return changes.empty() && !lost;
	}

	// Why the CPUs aren't the run's alone any more; nothing: they are. Other changes by somebody else become notices.
	std::optional<std::string> lost_isolation()
	{
		try {
			for (const std::string &change : options_.keeper->look())
				notices_.add(
					fmt::format("round {}: {}, so from there on the machine is less isolated than its report says",
								progress_.round, change));
		} catch (const Failure &failure) {
			return failure.what();
		}
		return std::nullopt;
	}

	// `blocks`: all of one window.
	void keep(const std::vector<model::Block> &blocks)
	{
		const bool sound = is_sound(*blocks.front().window);
		if (sound)
			record_.add(*blocks.front().window, blocks);
		middleware_.empty_logs();
		for (const model::Block &block : blocks) {
			const size_t i = block.cell;
			if (sound)
				wishes_.learn_rate(block);
			const auto daemon_end = middleware_.daemon_end(plan_.plugin_of_cell[i], plan_.cells[i].arm);
			if (block.end != model::BlockEnd::Failed && !daemon_end) {
				progress_.latency_p50_us = block_p50_us(block);
				cells_.block_succeeded(i);
			} else {
				cells_.block_failed(i, daemon_end.value_or(block.failure), !daemon_end && probes_.works());
			}
		}
	}

	const SessionOptions &options_;
	const std::function<void(const Progress &)> &report_;
	const plan::Plan &plan_;
	Notices notices_;
	std::string broken_off_; // why the run can't continue
	model::Head head_;
	const std::vector<uint32_t> cpus_; // of all cells
	const uint64_t end_ns_; // when the report must be complete
	const std::vector<Visit> visits_; // of a round, in forward order
	const std::vector<size_t> firsts_; // of with_other_arms()
	Budget budget_; // by visit
	BlockWishes wishes_;
	RunProbes probes_;
	SampledFunctions functions_;
	Middleware middleware_; // before cells_: its daemons end after the cells
	CellOpener opener_;
	RunCells cells_;
	StillCells still_;
	Progress progress_;
	machine::Changes changes_;
	RunRecord record_;
	uint64_t sparse_ns_ = 0, others_ns_ = 0; // time that blocks took, of sparse and of other visits
	bool sparse_rests_ = false; // in this pair
	capture::Selection selection_;
	std::optional<machine::Watch> machine_; // set once the capture is loaded
};

} // namespace

void interrupt_session() { interrupted = true; }

bool is_interrupted() { return interrupted; }

SessionResult run_session(const plan::Plan &plan, model::Head head, const SessionOptions &options,
						  privilege::Helper &helper, const std::function<void(const Progress &)> &report)
{
	check_descriptor_limit(plan.cells);
	head.cells = plan.cells;
	head.budget_s = options.budget_s;
	const ReturnedBuffers returned;
	return Session(plan, std::move(head), options, helper, report).run();
}

} // namespace icepath::run
