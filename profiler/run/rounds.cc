// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/rounds.h"

#include <algorithm>
#include <numeric>

#include "profiler/model/cell_key.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {
namespace {

// In this time a message arrives and its receiver sleeps again, unless the machine stalls.
constexpr uint64_t kTurnNs = 10'000'000;
// Time for all workers to be asked and to be ready, before the first message.
constexpr uint64_t kSettleNs = 20'000'000;

uint64_t period_ns(const model::Cell &cell) { return static_cast<uint64_t>(1e9 / *cell.rate_hz); }

bool takes_turns(const model::Cell &cell)
{
	return cell.pattern == model::Pattern::Sparse && !model::never_sleeps(cell.wait);
}

bool has_room(const Visit &visit, const std::vector<model::Cell> &cells, const model::Cell &more)
{
	size_t sides = more.graph.sides.size();
	for (const size_t i : visit)
		sides += cells[i].graph.sides.size();
	return takes_turns(cells[visit.front()]) && cells[visit.front()].rate_hz == more.rate_hz &&
		   cells[visit.front()].idle_states == more.idle_states && (visit.size() + 1) * kTurnNs <= period_ns(more) &&
		   sides <= privilege::kMaxBlockWorkers;
}

} // namespace

std::vector<Visit> visits_of(const std::vector<model::Cell> &cells)
{
	std::vector<Visit> visits;
	for (size_t i = 0; i < cells.size(); i++) {
		const auto with_room = std::find_if(visits.begin(), visits.end(), [&](const Visit &visit) {
			return takes_turns(cells[i]) && has_room(visit, cells, cells[i]);
		});
		if (with_room == visits.end())
			visits.push_back({i});
		else
			with_room->push_back(i);
	}
	return visits;
}

std::vector<size_t> with_other_arms(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells)
{
	std::vector<model::CellKey> keys;
	std::vector<size_t> firsts(visits.size());
	std::iota(firsts.begin(), firsts.end(), size_t{0});
	if (std::ranges::all_of(cells, [](const model::Cell &cell) { return cell.arm.empty(); }))
		return firsts;
	firsts.clear();
	for (const Visit &visit : visits) {
		model::CellKey &key = keys.emplace_back(model::key_of(cells[visit.front()]));
		key.arm.clear();
		firsts.push_back(static_cast<size_t>(std::ranges::find(keys, key) - keys.begin()));
	}
	return firsts;
}

std::vector<size_t> order_of_visits(uint32_t round, const std::vector<size_t> &firsts)
{
	// Of sixteen rounds those pairs are 1 and 2, 4 and 9, 10 and 12.
	const uint32_t pairs = 3 * (round / 16) + (round % 16 > 2 ? 1 : 0) + (round % 16 > 9 ? 1 : 0);
	std::vector<size_t> order(firsts.size());
	std::iota(order.begin(), order.end(), size_t{0});
	for (auto begin = order.begin(); begin != order.end();) {
		const auto end = std::find_if(begin, order.end(), [&](size_t v) { return firsts[v] != firsts[*begin]; });
		std::rotate(begin, begin + static_cast<ptrdiff_t>(pairs % static_cast<size_t>(end - begin)), end);
		begin = end;
	}
	if (goes_back(round))
		std::ranges::reverse(order);
	return order;
}

uint64_t first_after_ns(const model::Cell &cell, size_t n, size_t cells)
{
	return cells > 1 ? kSettleNs + period_ns(cell) * n / cells : 0;
}

} // namespace icepath::run
