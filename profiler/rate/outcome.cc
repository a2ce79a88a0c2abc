// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "profiler/stats/percentile.h"

namespace icepath::rate {

bool Outcome::uses(double hz) const
{
	if (!found.statistics_hz)
		return false;
	const int below = level_of(*found.statistics_hz) - level_of(hz);
	return below == 0 || below == 1;
}

bool Outcome::uses(const model::Block &block) const
{
	return block.rate_hz && uses(*block.rate_hz) && (block.confirms || !confirmed_by_enough());
}

size_t Outcome::held_again() const
{
	return static_cast<size_t>(
		std::ranges::count_if(confirmations, [](const Attempt &attempt) { return attempt.verdict.held; }));
}

void OutcomeOf::add(const model::Block &block)
{
	const std::optional<Verdict> verdict = judge(block, cell_);
	if (!verdict)
		return;
	const Attempt attempt{block.window->round, *block.rate_hz, *verdict};
	if (block.confirms) {
		outcome_.confirmations.push_back(attempt);
		return;
	}
	outcome_.attempts.push_back(attempt);
	Tally &tally = tallies_[level_of(*block.rate_hz)];
	++tally.blocks;
	tally.held += verdict->held;
}

Outcome OutcomeOf::take()
{
	outcome_.found = found_rate(tallies_, terms_);
	return std::move(outcome_);
}

std::optional<Verdict> judge(const model::Block &block, const model::Cell &cell)
{
	const bool to_its_end = block.end == model::BlockEnd::Count, late = block.end == model::BlockEnd::Deadline;
	if (!cell.limits || !block.rate_hz || block.window->probed || !(to_its_end || late))
		return std::nullopt;
	std::unordered_map<uint64_t, uint64_t> due_ns; // by seq, of messages that haven't arrived yet
	for (const model::SendStamp &send : block.flows[0].sends)
		if ((send.flags & model::kStampWarmUp) == 0)
			due_ns.emplace(send.seq, send.intended_ns);
	Verdict verdict;
	verdict.sent = due_ns.size();
	std::vector<uint64_t> latencies;
	for (const model::RecvStamp &recv : block.flows[0].recvs)
		if (const auto due = due_ns.find(recv.seq); due != due_ns.end()) {
			latencies.push_back(recv.recv_ns > due->second ? recv.recv_ns - due->second : 0);
			due_ns.erase(due);
		}
	verdict.lost = due_ns.size();
	std::ranges::sort(latencies);
	if (stats::supported(latencies.size(), stats::kP99))
		verdict.p99_ns = stats::percentile(latencies, stats::kP99);
	const bool lost_too_many =
		static_cast<double>(verdict.lost) > cell.limits->max_loss * static_cast<double>(verdict.sent) * (1 + 1e-12);
	// A block with too few messages for a p99 decides nothing, unless it lost too many or was late.
	if (!late && !lost_too_many && !verdict.p99_ns)
		return std::nullopt;
	verdict.held = to_its_end && !lost_too_many && *verdict.p99_ns <= cell.limits->max_p99_ns;
	return verdict;
}

} // namespace icepath::rate
