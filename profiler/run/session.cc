// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <ctime>
#include <iterator>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include "icepath/plugin.h"
#include "profiler/capture/untraced_interrupts.h"
#include "profiler/model/cell_title.h"
#include "profiler/rate/search.h"
#include "profiler/rate/verdict.h"
#include "profiler/run/block_cost.h"
#include "profiler/run/block_glance.h"
#include "profiler/run/budget.h"
#include "profiler/run/cache_line.h"
#include "profiler/run/cell_opener.h"
#include "profiler/run/live_cell.h"
#include "profiler/run/machine_state.h"
#include "profiler/run/middleware.h"
#include "profiler/run/probe_uses.h"
#include "profiler/run/together.h"
#include "profiler/run/visits.h"
#include "profiler/rundir/container.h"

namespace icepath::run {
namespace {

std::atomic<bool> interrupted{false};

// Exiting, and what a loaded machine takes longer than expected.
constexpr double kReserve = 0.03;

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// Rounds go probed, unprobed, unprobed, probed: drift that is linear in time cancels in every four. The next four go the other
// way round: what is still cold in fresh processes is met as often without probes as with them.
bool is_probed(uint32_t round)
{
	const bool outer = round % 4 == 0 || round % 4 == 3;
	return outer == (round % 8 < 4);
}

// Hardware counters would disturb both latencies and layers (profiler/worker/counters.h), so some rounds are theirs: few, and
// none before each cell has the three blocks that an interval needs.
bool counts_hardware(uint32_t round) { return round % 8 == 7; }

// The probed rounds, and the unprobed, go through the cells forth and back in turn, so that none always follows the same one.
bool goes_back(uint32_t round) { return round % 4 >= 2; }

// What is put into a cell from outside, while it lives.
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
	enum class State : uint8_t {
		Fresh, // to be opened, or not warm yet
		Live,
		Failed, // for a reason that may pass: to be opened again
		Over,
	};
	struct CellState {
		State now = State::Fresh;
		bool tried_again = false; // no block has come whole since
	};

public:
	Session(const plan::Plan &plan, model::Head head, const SessionOptions &options, privilege::Helper &helper,
			const std::function<void(const Progress &)> &tell)
		: options_(options), helper_(helper), tell_(tell), plan_(plan), notices_(plan.notices), head_(std::move(head)),
		  end_ns_(options.started_ns + static_cast<uint64_t>(options.budget_s * (1 - kReserve) * 1e9) - kWakesNs),
		  visits_(in_order_of_probes(visits_of(plan.cells), plan.cells)),
		  budget_(end_ns_, least_of(visits_, plan.cells, options.messages)),
		  opener_(plan_, options.messages, slots_, helper_, middleware_), cells_(plan.cells.size()),
		  states_(plan.cells.size()), searches_(plan.cells.size()), counted_(plan.cells.size())
	{
		head_.cells = plan.cells;
		for (const model::Cell &cell : plan.cells)
			lead_ins_.push_back(lead_in_of(cell));
		head_.budget_s = options.budget_s;
		load_capture();
		head_.wakes = measure_wakes(cpus_);
		untraced_ = capture::untraced_interrupts(cpus_);
		lines_.emplace(cpus_, options.budget_s).look();
		rundir::check_head(head_);
		open_cells();
	}

	SessionResult run()
	{
		uint32_t round = 0;
		while (goes_on() && begin_pair()) {
			lines_->look_if_due();
			open_anew();
			for (const uint32_t end = round + 2; round < end && goes_on(); round++) {
				progress_.round = round + 1;
				progress_.rounds_expected = budget_.rounds_expected();
				run_round(round);
			}
			budget_.end_pair(icepath_now_ns());
			rehearse();
		}
		if (helper_works_)
			detach();
		if (blocks_ == 0) {
			stop_if_interrupted();
			throw Failure(ExitCode::Invalid, fmt::format("nothing could be measured: {}", fmt::join(failures_, "; ")));
		}
		for (size_t i = 0; i < states_.size() && !interrupted; i++)
			if (states_[i].now == State::Failed)
				give_up(i, "there was no time to begin its processes anew");
		name_cells_without_data();
		model::Tail tail;
		tail.finished_utc = utc_now();
		tail.interrupted = interrupted || !broken_off_.empty();
		tail.rounds = round;
		tail.notices = notices_;
		lines_->look();
		tail.cache_lines = lines_->told();
		tail.wakes = measure_wakes(cpus_);
		tail.steal = steal_;
		tail.untraced_interrupts = capture::counted_since(untraced_, capture::untraced_interrupts(cpus_));
		for (size_t i = 0; i < cells_.size(); i++)
			tail.failed_openings.push_back(opener_.of(i).failed);
		writer_->finish(tail);
		const bool has_data = std::ranges::any_of(
			counted_, [](const std::array<uint64_t, 2> &messages) { return messages[0] + messages[1] > 0; });
		return {interrupted, broken_off_, round, failed_, has_data, selection_};
	}

private:
	// Those with the same probes stand together, so that a probed round attaches little.
	static std::vector<Visit> in_order_of_probes(std::vector<Visit> visits, const std::vector<model::Cell> &cells)
	{
		std::stable_sort(visits.begin(), visits.end(),
						 [&](const Visit &a, const Visit &b) { return probes_of(a, cells) < probes_of(b, cells); });
		return visits;
	}

	static capture::ProbeSet probes_of(const Visit &visit, const std::vector<model::Cell> &cells)
	{
		capture::ProbeSet probes = 0;
		for (const size_t i : visit)
			probes |= capture::needed_by(cells[i]);
		return probes;
	}

	static std::vector<uint64_t> least_of(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells,
										  uint32_t count)
	{
		std::vector<uint64_t> least;
		for (const Visit &visit : visits)
			least.push_back(least_visit_ns(visit, cells, count));
		return least;
	}

	void load_capture()
	{
		std::set<uint32_t> cpus;
		for (const model::Cell &cell : head_.cells)
			cpus.insert(cell.cpus.begin(), cell.cpus.end());
		cpus_.assign(cpus.begin(), cpus.end());
		privilege::Helper::Loaded loaded = helper_.load(cpus_, options_.records_per_slot, options_.forced_tier);
		head_.probes = probe_uses(head_.cells, loaded);
		available_ = loaded.available;
		selection_ = loaded.selection;
		slots_ = SlotsView(std::move(loaded.slots), loaded.slot_bytes, loaded.slot_count, cpus_);
	}

	void open_cells()
	{
		for (size_t i = 0; i < cells_.size(); i++)
			if (plan_.cells[i].limits)
				searches_[i].emplace(rate::terms_of(plan_.cells[i]));
		for (size_t v = 0; v < visits_.size(); v++)
			open_visit(v);
		end_visits_without_cells();
	}

	void open_visit(size_t v)
	{
		uint64_t took_ns = 0;
		for (const size_t i : visits_[v]) {
			if (interrupted || states_[i].now == State::Over)
				continue;
			if (const auto death = cells_[i] ? cells_[i]->death() : std::nullopt) {
				give_up(i, *death);
				continue;
			}
			const uint32_t failed = opener_.of(i).failed;
			try {
				cells_[i] = opener_.open(i, std::move(cells_[i]));
				states_[i] = {State::Fresh, states_[i].now == State::Failed};
				if (opener_.of(i).done == 1)
					head_.cells[i].granted = cells_[i]->granted();
				took_ns += opener_.of(i).took_ns;
				if (opener_.of(i).failed > failed)
					tell_once(fmt::format("{}: its processes were begun again after one try in vain: {}",
										  model::title(head_.cells[i]), opener_.of(i).why_failed));
			} catch (const privilege::HelperDied &died) {
				give_up(i, died.what());
				throw;
			} catch (const Failure &failure) {
				give_up(i, failure.what());
			}
		}
		budget_.opened(v, took_ns);
	}

	// Between pairs of rounds, so that a block with probes is compared with one without them of the same processes.
	void open_anew()
	{
		for (size_t v = 0; v < visits_.size() && helper_works_ && !interrupted; v++) {
			const bool failed =
				std::ranges::any_of(visits_[v], [&](size_t i) { return states_[i].now == State::Failed; });
			if (!budget_.opening_is_due(v) && !failed)
				continue;
			try {
				open_visit(v);
			} catch (const privilege::HelperDied &died) {
				without_helper(died, v);
			}
		}
	}

	bool is_sparse(const Visit &visit) const { return head_.cells[visit.front()].pattern == model::Pattern::Sparse; }

	// Sparse blocks are long: beside others they rest while theirs have taken a good half of the time.
	bool begin_pair()
	{
		const bool all_sparse = std::ranges::all_of(visits_, [&](const Visit &visit) { return is_sparse(visit); });
		sparse_rests_ = !all_sparse && sparse_ns_ > others_ns_ + others_ns_ / 4;
		for (size_t v = 0; v < visits_.size(); v++)
			budget_.takes_part(v, !(sparse_rests_ && is_sparse(visits_[v])));
		if (!budget_.begin_pair(icepath_now_ns()))
			return false;
		// Once begun it goes on, whatever is learnt of how many pairs there will be: its blocks don't tell the search.
		confirms_rates_ =
			confirms_rates_ || rate::is_time_to_confirm(progress_.round / 2, budget_.rounds_expected() / 2);
		return true;
	}

	void end_visits_without_cells()
	{
		for (size_t v = 0; v < visits_.size(); v++)
			if (std::ranges::all_of(visits_[v], [&](size_t i) { return states_[i].now == State::Over; }))
				budget_.is_over(v);
	}

	void tell_once(const std::string &notice)
	{
		if (std::find(notices_.begin(), notices_.end(), notice) == notices_.end())
			notices_.push_back(notice);
	}

	void give_up(size_t cell, const std::string &why)
	{
		failures_.push_back(fmt::format(
			"{} {}: {}", model::title(head_.cells[cell]),
			progress_.round ? fmt::format("ended in round {}", progress_.round) : "couldn't be started", why));
		tell_once(failures_.back());
		cells_[cell].reset();
		states_[cell].now = State::Over;
		if (progress_.round > 0) // else some are still to be opened
			end_visits_without_cells();
		failed_++;
	}

	bool goes_on() const { return !interrupted && broken_off_.empty() && some_cell_lives(); }

	// Its next pair has fresh processes.
	void try_again(size_t cell, const std::string &why)
	{
		tell_once(fmt::format("{}: a block failed in round {}, and its processes were begun anew: {}",
							  model::title(head_.cells[cell]), progress_.round, why));
		cells_[cell].reset();
		states_[cell].now = State::Failed;
	}

	bool some_cell_lives() const
	{
		return std::ranges::any_of(states_, [](const CellState &cell) { return cell.now != State::Over; });
	}

	// A cell that failed or that the user interrupted has said why.
	void name_cells_without_data()
	{
		for (size_t i = 0; i < cells_.size(); i++) {
			if (!cells_[i] || interrupted || (counted_[i][0] && (counted_[i][1] || !helper_works_)))
				continue;
			if (options_.always_probed && counted_[i][1])
				continue;
			const char *where = counted_[i][0] || options_.always_probed ? "with probes, so there is no breakdown"
																		 : "without probes, so there is no latency";
			tell_once(fmt::format("{}: nothing behind a block's lead-in was received {}: measure longer (-d)",
								  cells_[i]->title(), where));
			failed_++;
		}
	}

	void rehearse()
	{
		if (!options_.rehearse_report || interrupted || !budget_.rehearsal_is_due())
			return;
		const uint64_t begin_ns = icepath_now_ns();
		options_.rehearse_report();
		budget_.rehearsed(icepath_now_ns() - begin_ns);
	}

	Visit living(const Visit &visit) const
	{
		Visit left;
		std::copy_if(visit.begin(), visit.end(), std::back_inserter(left),
					 [&](size_t i) { return cells_[i] != nullptr; });
		return left;
	}

	void run_round(uint32_t round)
	{
		progress_.probed = (is_probed(round) || options_.always_probed) && helper_works_;
		for (size_t n = 0; n < visits_.size(); n++) {
			const size_t v = goes_back(round) ? visits_.size() - 1 - n : n;
			Visit visit = living(visits_[v]);
			if (goes_back(round))
				std::reverse(visit.begin(), visit.end());
			if (visit.empty() || !goes_on() || !budget_.fits(v, icepath_now_ns()))
				continue;
			if (sparse_rests_ && is_sparse(visit))
				continue;
			if (searches_[visit.front()] && !has_time_to_search(v, visit.front()))
				continue;
			tell_progress(visit);
			try {
				run_visit(v, visit, round);
			} catch (const privilege::HelperDied &died) {
				without_helper(died, v);
			}
		}
	}

	// Cells stay as they are: nobody pins processes that are begun now.
	void without_helper(const privilege::HelperDied &died, size_t v)
	{
		tell_once(fmt::format("round {}, {}: {}", progress_.round, model::title(head_.cells[visits_[v].front()]),
							  died.what()));
		helper_works_ = false;
		progress_.probed = false;
		if (died.probes_may_be_attached())
			broken_off_ = died.what();
	}

	void tell_progress(const Visit &visit)
	{
		progress_.cell = cells_[visit.front()]->title();
		if (visit.size() > 1)
			progress_.cell += fmt::format(" and {} beside it", visit.size() - 1);
		const uint64_t now_ns = icepath_now_ns();
		progress_.seconds_left = end_ns_ > now_ns ? static_cast<double>(end_ns_ - now_ns) / 1e9 : 0;
		tell_(progress_);
	}

	// Slow rates take longer than was planned.
	bool has_time_to_search(size_t v, size_t i)
	{
		const double hz =
			confirms_rates_ ? searches_[i]->best_hz().value_or(searches_[i]->next_hz()) : searches_[i]->next_hz();
		const uint64_t needed_ns = searching_block_ns(head_.cells[i], hz);
		if (needed_ns > budget_.block_ns(v))
			budget_.needs(v, needed_ns);
		return budget_.fits(v, icepath_now_ns());
	}

	void attach_for(const Visit &visit)
	{
		if (!helper_works_)
			return;
		const capture::ProbeSet available = helper_.attach(progress_.probed ? probes_of(visit, head_.cells) : 0);
		for (size_t probe = 0; probe < capture::kProbes.size(); probe++)
			if ((available_ & ~available & capture::bit(probe)) != 0)
				tell_once(fmt::format("{} couldn't be attached after all: what rests on it is inferred or absent",
									  capture::kProbes[probe].name));
		available_ = available;
	}

	// Blocks without probes search, as long as it takes to judge them. Those with probes run at the best rate known so far and
	// steer nothing: what probes cost is no property of the cell.
	void set_rate(BlockWish &wish, size_t i)
	{
		const model::Cell &cell = head_.cells[i];
		const rate::RateSearch &search = *searches_[i];
		const std::optional<double> best_hz = search.best_hz();
		wish.confirms = confirms_rates_ && best_hz;
		const double hz = wish.probed || wish.confirms ? best_hz.value_or(search.next_hz()) : search.next_hz();
		wish.rate_hz = hz;
		wish.count = wish.probed ? options_.messages : rate::messages_at(rate::terms_of(cell), hz);
		// Who hasn't sent all in twice the time is hopelessly late.
		constexpr uint64_t kSlackNs = 20'000'000;
		wish.duration_ns = 2 * searching_block_ns(cell, hz) + kSlackNs;
	}

	BlockWish wish_for(size_t i, uint32_t round, uint64_t duration_ns)
	{
		BlockWish wish;
		wish.number = ++begun_;
		wish.lead_in = lead_ins_[i];
		wish.duration_ns = duration_ns;
		wish.count = most_messages(head_.cells[i], wish.duration_ns, options_.messages);
		wish.at_least = kUsefulMessages;
		wish.probed = progress_.probed;
		// What counts makes switches longer, and so a rate look lower than it is.
		wish.count_hardware = counts_hardware(round) && !wish.probed && !searches_[i];
		if (searches_[i])
			set_rate(wish, i);
		return wish;
	}

	std::vector<model::Block> measure(size_t v, const Visit &visit, uint32_t round)
	{
		std::vector<LiveCell *> cells;
		std::vector<BlockWish> wishes;
		for (size_t n = 0; n < visit.size(); n++) {
			cells.push_back(cells_[visit[n]].get());
			wishes.push_back(wish_for(visit[n], round, budget_.block_ns(v)));
			wishes[n].first_after_ns = first_after_ns(head_.cells[visit[n]], n, visit.size());
		}
		std::list<Injected> injected;
		for (size_t n = 0; n < visit.size(); n++)
			injected.emplace_back(options_, visit[n], *cells[n]);
		const BlockCost cost(cpus_, helper_.pid());
		std::vector<model::Block> blocks = run_together(cells, wishes, slots_, &helper_, &interrupted);
		injected.clear();
		for (model::Block &block : blocks)
			cost.tell(block);
		if (blocks[0].steal_ns) {
			steal_ = steal_.value_or(model::Steal{});
			steal_->ns += *blocks[0].steal_ns;
			steal_->of_ns += cpus_.size() * (blocks[0].finish.monotonic_ns - blocks[0].begin.monotonic_ns);
		}
		for (size_t n = 0; n < visit.size(); n++) {
			blocks[n].cell = static_cast<uint32_t>(visit[n]);
			blocks[n].round = round;
			blocks[n].opening = opener_.of(visit[n]).done - 1;
			if (interrupted && blocks[n].end == model::BlockEnd::Failed)
				blocks[n].end = model::BlockEnd::Interrupted;
		}
		return blocks;
	}

	// False: a block of this cell can't be had in the time that is left.
	bool lengthen(size_t v, size_t i, const model::Block &block)
	{
		const auto &sends = block.flows[0].sends;
		const uint64_t begin_ns = sends.empty() ? block.begin.monotonic_ns : sends[0].send_ns;
		const uint64_t took_ns = std::max(block.finish.monotonic_ns, begin_ns) - begin_ns;
		const uint64_t message_ns = took_ns / std::max<uint64_t>(1, sends.size());
		lead_ins_[i] = lead_in_of(head_.cells[i], message_ns);
		budget_.needs(v, least_block_ns(message_ns, lead_ins_[i], options_.messages));
		if (budget_.fits(v, icepath_now_ns()))
			return true;
		const double needed_s = static_cast<double>(budget_.block_ns(v)) / 1e9;
		give_up(i,
				fmt::format("it is so slow that a block takes {:.1f} s: measure it alone, for {:.0f} s or longer (-d)",
							needed_s, std::ceil(options_.budget_s + 2 * needed_s)));
		return false;
	}

	// False: the cell failed.
	bool is_warm(size_t v, size_t i, uint32_t round)
	{
		if (std::exchange(states_[i].now, State::Live) == State::Live)
			return true;
		const uint64_t begin_ns = icepath_now_ns();
		model::Block block = std::move(
			run_together({cells_[i].get()}, {warm_up(head_.cells[i], ++begun_)}, slots_, nullptr, &interrupted)
				.front());
		budget_.warmed_up(v, icepath_now_ns() - begin_ns);
		if (block.end != model::BlockEnd::Failed || interrupted)
			return true;
		block.cell = static_cast<uint32_t>(i);
		block.round = round;
		block.opening = opener_.of(i).done - 1;
		keep(block);
		return false;
	}

	void run_visit(size_t v, const Visit &visit, uint32_t round)
	{
		if (!is_sparse(visit) && !is_warm(v, visit.front(), round))
			return;
		attach_for(visit);
		std::vector<model::Block> blocks = measure(v, visit, round);
		const auto is_empty = [&] {
			return blocks.front().end != model::BlockEnd::Failed && counted_in(blocks.front()) == 0;
		};
		// Once it may have been held up by something else; twice it is slow.
		for (const bool twice : {false, true}) {
			if (visit.size() > 1 || !is_empty() || interrupted)
				break;
			if (twice && !lengthen(v, visit.front(), blocks.front()))
				return;
			blocks = measure(v, visit, round);
		}
		const auto to_deadline = [&](const model::Block &block) {
			return block.end == model::BlockEnd::Deadline && !searches_[block.cell];
		};
		(is_sparse(visit) ? sparse_ns_ : others_ns_) +=
			blocks.front().finish.monotonic_ns - blocks.front().begin.monotonic_ns;
		budget_.block_took(v, blocks.front().finish.monotonic_ns - blocks.front().begin.monotonic_ns,
						   std::any_of(blocks.begin(), blocks.end(), to_deadline));
		for (const model::Block &block : blocks)
			keep(block);
	}

	void keep(const model::Block &block)
	{
		const size_t i = block.cell;
		if (!writer_)
			writer_ = std::make_unique<rundir::Writer>(options_.directory, head_);
		writer_->add(block);
		if (searches_[i] && !block.confirms)
			if (const auto verdict = rate::judge(block, head_.cells[i]))
				searches_[i]->told(*block.rate_hz, verdict->held);
		blocks_++;
		counted_[i][block.probed] += counted_in(block);
		const auto daemon_end = middleware_.daemon_end(plan_.plugin_of_cell[i]);
		if (block.end != model::BlockEnd::Failed && !daemon_end) {
			progress_.latency_p50_us = block_p50_us(block);
			states_[i].tried_again = false;
		} else if (!daemon_end && helper_works_ && !states_[i].tried_again && cells_[i]->failure_may_pass()) {
			try_again(i, block.failure);
		} else {
			give_up(i, daemon_end.value_or(block.failure));
		}
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
	const plan::Plan &plan_;
	std::vector<std::string> notices_, failures_; // each once
	std::string broken_off_; // why the run can't go on
	model::Head head_;
	const uint64_t end_ns_; // when the report shall stand
	const std::vector<Visit> visits_; // of a round, forth
	Budget budget_; // by visit
	SlotsView slots_;
	std::unique_ptr<rundir::Writer> writer_; // nothing before the first block
	Middleware middleware_{&helper_, &interrupted, options_.root_space}; // its daemons end after the cells
	CellOpener opener_;
	std::vector<std::unique_ptr<LiveCell>> cells_; // beside head_.cells; null while a cell isn't open
	std::vector<CellState> states_; // beside cells_
	std::vector<uint32_t> lead_ins_; // beside cells_: of the blocks to come
	std::vector<std::optional<rate::RateSearch>> searches_; // beside cells_: of max-rate
	Progress progress_;
	std::vector<std::array<uint64_t, 2>> counted_; // messages in unprobed and in probed blocks, beside cells_
	uint64_t begun_ = 0, blocks_ = 0; // blocks_: those that are kept
	size_t failed_ = 0;
	uint64_t sparse_ns_ = 0, others_ns_ = 0; // that their blocks took
	bool sparse_rests_ = false; // in this pair
	bool confirms_rates_ = false; // those that were found; the search is over
	bool helper_works_ = true;
	capture::Selection selection_;
	capture::ProbeSet available_ = 0;
	std::vector<uint32_t> cpus_; // of all cells
	std::optional<model::Steal> steal_;
	std::vector<model::InterruptCount> untraced_; // before the first block
	std::optional<CacheLines> lines_; // once the CPUs are known
};

} // namespace

void interrupt_session() { interrupted = true; }

void stop_if_interrupted()
{
	if (interrupted)
		throw Failure(ExitCode::Interrupted, "interrupted before anything was measured: nothing was kept");
}

SessionResult run_session(const plan::Plan &plan, model::Head head, const SessionOptions &options,
						  privilege::Helper &helper, const std::function<void(const Progress &)> &tell)
{
	return Session(plan, std::move(head), options, helper, tell).run();
}

} // namespace icepath::run
