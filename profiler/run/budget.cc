// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/rate/search.h"

namespace icepath::run {
namespace {

constexpr uint64_t kLongestBlockNs = 150'000'000;
constexpr uint64_t kShortestBlockNs = 10'000'000;
// Wanted if blocks stay long enough: as many as a p99 needs (stats::kBlocksBeyond), and one for hardware counters.
constexpr uint32_t kWantedPairs = 6;

// Openings take at most kOpeningShare of a visit's time. Where that allows too few for a useful interval (Student's t
// is 2.8 with 4 degrees of freedom), they take at most kMostOpeningShare.
constexpr double kOpeningShare = 0.2, kMostOpeningShare = 0.6;
constexpr uint32_t kWantedOpenings = 5, kLeastOpenings = 3; // kLeastOpenings: as stats::kMinBlocks
// An opening lasts two pairs, in which drift cancels, where that leaves this many openings.
constexpr uint32_t kManyOpenings = 8;

// Estimates until something was measured. check_budget() has only these.
constexpr double kReportShare = 0.1;
constexpr double kBlockOverheadNs = 2e6;
constexpr double kStartS = 0.25, kStartOfCellS = 0.015;

// A sender starts worker::kStartNs after it was asked to, and a loaded machine is late.
constexpr double kLate = 1.05, kSetOutNs = 3e6;

// Least time per message, by the cell's rate and delays.
double planned_message_ns(const model::Cell &cell)
{
	const double sender_ns = static_cast<double>(cell.levels.sender_user_ns),
				 receiver_ns = static_cast<double>(cell.levels.receiver_busy_ns);
	if (model::is_answered(cell.pattern))
		return sender_ns + receiver_ns;
	const std::optional<double> due_hz = model::due_hz(cell);
	const double message_ns = model::between(cell) == model::Between::OneThread
								  ? sender_ns + receiver_ns
								  // the sides work at the same time
								  : std::max(sender_ns, receiver_ns * static_cast<double>(model::senders_of(cell)));
	return std::max(message_ns, due_hz ? 1e9 / *due_hz : 0);
}

uint64_t messages_needed(uint32_t warm_up, uint32_t count) { return warm_up + std::min(count, kUsefulMessages); }

} // namespace

uint32_t warm_up_of(const model::Cell &cell, uint64_t message_ns)
{
	// The first sparse message shows the probes where each thread sleeps. There is nothing to warm up.
	if (cell.pattern == model::Pattern::Sparse)
		return 1;
	// A library may make hundreds of calls for a large message, each a record: the warm-up mustn't fill the log.
	const bool takes_many_records =
		cell.mechanisms.has(model::Mechanism::LibraryCalls) && cell.payload_bytes > (256u << 10);
	// Messages of a burst follow each other immediately, whatever the time between bursts.
	const uint64_t in_time =
		cell.pattern == model::Pattern::Burst ? kWarmUp : kWarmUpNs / std::max<uint64_t>(1, message_ns);
	return static_cast<uint32_t>(std::clamp<uint64_t>(in_time, 1, takes_many_records ? kWarmUp / 4 : kWarmUp));
}

uint32_t warm_up_of(const model::Cell &cell)
{
	return warm_up_of(cell, static_cast<uint64_t>(planned_message_ns(cell)));
}

uint64_t searching_block_ns(const model::Cell &cell, double hz)
{
	const uint32_t messages = kWarmUp + rate::messages_at(rate::terms_of(cell), hz);
	return static_cast<uint64_t>(static_cast<double>(rate::scheduled_ns(messages, hz)) * kLate + kSetOutNs);
}

uint64_t least_block_ns(const model::Cell &cell, uint32_t count)
{
	if (cell.limits)
		return searching_block_ns(cell, rate::RateSearch(rate::terms_of(cell)).next_hz());
	const double message_ns = planned_message_ns(cell);
	// Whole bursts: the warm-up may take a part of the first.
	const uint64_t burst = cell.levels.demand;
	const uint64_t messages = (messages_needed(warm_up_of(cell), count) + burst - 1) / burst * burst;
	const double ns = (static_cast<double>(messages) * kLate + 1) * message_ns + kSetOutNs;
	return std::max(kShortestBlockNs, static_cast<uint64_t>(ns));
}

uint64_t least_visit_ns(const Visit &visit, const std::vector<model::Cell> &cells, uint32_t count)
{
	uint64_t longest_ns = 0;
	for (size_t n = 0; n < visit.size(); n++)
		longest_ns = std::max(longest_ns, least_block_ns(cells[visit[n]], count) +
											  first_after_ns(cells[visit[n]], n, visit.size()));
	return longest_ns;
}

std::vector<uint64_t> least_visits_ns(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells,
									  uint32_t count)
{
	std::vector<uint64_t> least;
	for (const Visit &visit : visits)
		least.push_back(least_visit_ns(visit, cells, count));
	return least;
}

uint64_t least_block_ns(uint64_t message_ns, uint32_t warm_up, uint32_t count)
{
	constexpr double kMargin = 1.2;
	return std::max(kShortestBlockNs, static_cast<uint64_t>(static_cast<double>(messages_needed(warm_up, count)) *
															static_cast<double>(message_ns) * kMargin));
}

uint32_t most_messages(const model::Cell &cell, uint64_t block_ns, uint32_t count)
{
	if (cell.pattern == model::Pattern::Sparse)
		return std::min(count, kUsefulMessages); // further ones are better spent on another block
	const uint64_t message_ns = cell.levels.receiver_busy_ns * model::senders_of(cell);
	if (model::is_answered(cell.pattern) || message_ns == 0)
		return count;
	const uint64_t fit = block_ns / message_ns, warm_up = warm_up_of(cell);
	return static_cast<uint32_t>(std::min<uint64_t>(count, fit > warm_up ? fit - warm_up : 1));
}

double needed_s(const std::vector<model::Cell> &cells, uint32_t count, uint32_t pairs)
{
	double pair_s = 0;
	for (const Visit &visit : visits_of(cells))
		pair_s += 2 * (static_cast<double>(least_visit_ns(visit, cells, count)) + kBlockOverheadNs) / 1e9;
	return kStartS + kStartOfCellS * static_cast<double>(cells.size()) + pairs * pair_s * (1 + kReportShare);
}

void check_budget(double budget_s, const std::vector<model::Cell> &cells, uint32_t count)
{
	const double least_s = needed_s(cells, count, 1);
	if (least_s <= budget_s)
		return;
	std::pair<uint64_t, size_t> longest;
	for (const Visit &visit : visits_of(cells))
		longest = std::max(longest, {least_visit_ns(visit, cells, count), visit.front()});
	const model::Cell &cell = cells[longest.second];
	const bool sparse = cell.pattern == model::Pattern::Sparse;
	const std::string others = cells.size() > 1 ? fmt::format(" and {} other cells", cells.size() - 1) : "";
	const std::string rate = !cell.rate_hz ? ""
							 : sparse      ? fmt::format(" at a --sparse-period of {:g} ms", 1000 / *cell.rate_hz)
										   : fmt::format(" at --rate {:g}", *cell.rate_hz);
	throw Failure(
		ExitCode::Usage,
		fmt::format("--duration: {:g} s can't hold one block with and one without probes of {}{}, where {} needs "
					"{:.2g} s a block{}: give -d {:.0f} or more{}{}",
					budget_s, model::title(cell), others, cells.size() > 1 ? "the first" : "it",
					static_cast<double>(longest.first) / 1e9, rate, std::ceil(least_s * 1.1),
					!cell.rate_hz ? ""
					: sparse      ? ", a shorter --sparse-period"
								  : ", a higher --rate",
					cells.size() > 1 ? ", or fewer cells (-t, -s, --patterns)" : ""));
}

Budget::Budget(uint64_t end_ns, const std::vector<uint64_t> &least_ns, const std::vector<size_t> &together)
	: end_ns_(end_ns), report_share_(kReportShare)
{
	for (size_t v = 0; v < least_ns.size(); v++)
		visits_.push_back({.together = together.empty() ? v : together[v], .least_ns = least_ns[v]});
	overhead_ns_ = 2 * kBlockOverheadNs * static_cast<double>(visits_.size());
}

uint64_t Budget::block_ns(const Pace &visit, uint64_t limit_ns) const { return std::max(limit_ns, visit.least_ns); }

uint64_t Budget::block_ns(size_t visit) const { return block_ns(visits_[visit], limit_ns_); }

double Budget::pair_ns(uint64_t limit_ns) const
{
	double blocks_ns = 0;
	for (const Pace &visit : visits_) {
		if (visit.over || visit.rests)
			continue;
		const uint64_t allowed_ns = block_ns(visit, limit_ns);
		blocks_ns += static_cast<double>(visit.took_ns ? std::min(visit.took_ns, allowed_ns) : allowed_ns);
	}
	return 2 * blocks_ns + overhead_ns_ + openings_ns();
}

// Mean time of openings per pair.
double Budget::openings_ns() const
{
	double sum = 0;
	for (const Pace &visit : visits_)
		if (!visit.over && !visit.rests && visit.pairs_each > 0)
			sum += static_cast<double>(visit.open_ns) / visit.pairs_each;
	return sum;
}

double Budget::own_ns(const Pace &visit) const
{
	const uint64_t allowed_ns = block_ns(visit, limit_ns_);
	const auto share = std::ranges::count_if(visits_, [](const Pace &one) { return !one.over && !one.rests; });
	return 2 * static_cast<double>(visit.took_ns ? std::min(visit.took_ns, allowed_ns) : allowed_ns) +
		   overhead_ns_ / static_cast<double>(std::max<int64_t>(1, share));
}

uint32_t Budget::pairs_each(const Pace &visit) const
{
	// A visit that rests in some pairs has fewer.
	const auto pairs = static_cast<uint32_t>(uint64_t{pairs_expected_} * visit.pairs / (pairs_ + 1));
	const uint32_t group = pairs >= 2 * kManyOpenings ? 2 : 1;
	double open_ns = 0, own = 0;
	for (const Pace &one : visits_)
		if (one.together == visit.together && !one.over && !one.rests) {
			open_ns += static_cast<double>(one.open_ns);
			own += own_ns(one);
		}
	const auto affordable = [&](double share) {
		return std::max<double>(group, std::ceil(open_ns * (1 - share) / (share * own)));
	};
	const uint32_t most = std::max(group, pairs / kWantedOpenings);
	if (affordable(kOpeningShare) <= most)
		return (static_cast<uint32_t>(affordable(kOpeningShare)) + group - 1) / group * group;
	const double dear = affordable(kMostOpeningShare);
	if (visit.openings < kLeastOpenings && dear * kLeastOpenings > pairs)
		return 0;
	return std::max(most, static_cast<uint32_t>(std::min<double>(dear, pairs)));
}

uint64_t Budget::limit_for(double wanted_ns) const
{
	uint64_t low = kShortestBlockNs, high = kLongestBlockNs;
	while (low < high) {
		const uint64_t middle = low + (high - low + 1) / 2;
		if (pair_ns(middle) <= wanted_ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

uint64_t Budget::left_ns(uint64_t now_ns) const
{
	if (now_ns >= end_ns_)
		return 0;
	const double left = static_cast<double>(end_ns_ - now_ns) - report_share_ * static_cast<double>(captured_ns_);
	return static_cast<uint64_t>(std::max(0.0, left / (1 + report_share_)));
}

bool Budget::begin_pair(uint64_t now_ns)
{
	const auto left = static_cast<double>(left_ns(now_ns));
	left_at_begin_ns_ = left;
	const bool first = pairs_ == 0;
	if (first) {
		// Visits longer than any limit don't take part in each pair, so the others share the time.
		const bool some_are_long = std::ranges::any_of(
			visits_, [](const Pace &visit) { return !visit.over && visit.least_ns > kLongestBlockNs; });
		nominal_ns_ = limit_for(left / (some_are_long ? kWantedPairs - 1 : kWantedPairs));
	}
	// First the number of pairs that brings blocks closest to the planned length, then blocks that fill the time. Far
	// shorter blocks would say little.
	const uint64_t shortest_ns = first ? kShortestBlockNs : std::max(kShortestBlockNs, nominal_ns_ / 3);
	auto fit = static_cast<uint32_t>(std::max(1.0, std::round(left / pair_ns(nominal_ns_))));
	while (fit > 0 && pair_ns(shortest_ns) > left / fit)
		fit--;
	pairs_expected_ = pairs_ + std::max(fit, first ? 1u : 0u);
	if (pairs_expected_ == pairs_)
		return false;
	limit_ns_ = fit ? limit_for(left / fit) : kShortestBlockNs;
	pair_began_ns_ = now_ns;
	opened_ns_ = 0;
	for (Pace &visit : visits_) {
		if (!visit.over && !visit.rests)
			visit.pairs++, visit.pairs_opened++;
		visit.pairs_each = pairs_each(visit);
	}
	in_pair_ = true;
	return true;
}

void Budget::opened(size_t visit, uint64_t took_ns)
{
	Pace &pace = visits_[visit];
	pace.open_ns = took_ns;
	pace.openings++;
	pace.pairs_opened = in_pair_ ? 1 : 0;
	opened_ns_ += took_ns;
}

void Budget::warmed_up(size_t visit, uint64_t took_ns)
{
	visits_[visit].open_ns += took_ns;
	opened_ns_ += took_ns;
}

bool Budget::opening_is_due(size_t visit) const
{
	const Pace &pace = visits_[visit];
	const bool between_groups = pace.pairs_each < 2 || pairs_ % 2 == 0;
	return !pace.over && !pace.rests && pace.pairs_each > 0 && pace.pairs_opened > pace.pairs_each && between_groups;
}

void Budget::end_pair(uint64_t now_ns)
{
	const uint64_t all_ns = now_ns - pair_began_ns_, took_ns = all_ns - std::min(all_ns, opened_ns_);
	captured_ns_ += took_ns;
	const double blocks_ns = pair_ns(limit_ns_) - overhead_ns_ - openings_ns();
	const double overhead_ns = std::max(0.0, static_cast<double>(took_ns) - blocks_ns);
	overhead_ns_ = pairs_ ? (overhead_ns_ + overhead_ns) / 2 : overhead_ns;
	pairs_++;
	in_pair_ = false;
}

void Budget::block_took(size_t visit, uint64_t took_ns, bool to_deadline)
{
	uint64_t &known = visits_[visit].took_ns;
	if (to_deadline)
		known = known ? std::max(known, took_ns) : 0;
	else
		known = known ? (known + took_ns) / 2 : took_ns;
}

void Budget::needs(size_t visit, uint64_t least_ns)
{
	visits_[visit].slow = true;
	visits_[visit].least_ns = std::max(visits_[visit].least_ns, least_ns);
	const double fit =
		std::clamp(left_at_begin_ns_ / pair_ns(limit_ns_), 1.0, static_cast<double>(pairs_expected_ - pairs_));
	pairs_expected_ = pairs_ + static_cast<uint32_t>(fit);
}

bool Budget::fits(size_t visit, uint64_t now_ns) const
{
	return !visits_[visit].slow || left_ns(now_ns) >= block_ns(visit);
}

void Budget::is_over(size_t visit) { visits_[visit].over = true; }

void Budget::takes_part(size_t visit, bool does) { visits_[visit].rests = !does; }

// After 2 pairs, 8, 32 …, while at least half of the pairs are to come: all together cost less than the report.
bool Budget::rehearsal_is_due() const
{
	const uint32_t due = rehearsed_after_ ? 4 * rehearsed_after_ : 2;
	return pairs_ >= due && pairs_expected_ >= 2 * pairs_;
}

void Budget::rehearsed(uint64_t took_ns)
{
	rehearsed_after_ = pairs_;
	report_share_ = static_cast<double>(took_ns) / static_cast<double>(std::max<uint64_t>(1, captured_ns_));
}

void Budget::rehearsal_failed() { rehearsed_after_ = pairs_; }

} // namespace icepath::run
