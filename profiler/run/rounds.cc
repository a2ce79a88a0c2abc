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

// Of each cell, the first one that differs from it by arms alone: its own number where there is none.
std::vector<size_t> first_arms(const std::vector<model::Cell> &cells)
{
	std::vector<model::CellKey> keys;
	std::vector<size_t> firsts;
	for (const model::Cell &cell : cells) {
		model::CellKey &key = keys.emplace_back(model::key_of(cell));
		key.arm.clear();
		firsts.push_back(cell.arm.empty() ? keys.size() - 1
										  : static_cast<size_t>(std::ranges::find(keys, key) - keys.begin()));
	}
	return firsts;
}

bool have_room(const Visit &visit, const std::vector<model::Cell> &cells, const Visit &more)
{
	size_t sides = 0, daemons = 0; // at most: each arm has its own, which its cells share
	for (const Visit &all : {visit, more})
		for (const size_t i : all) {
			sides += cells[i].graph.sides.size();
			daemons += !cells[i].arm.empty() && cells[i].kind == model::kAdapter ? 1 : 0;
		}
	const model::Cell &one = cells[more.front()], &other = cells[visit.empty() ? more.front() : visit.front()];
	return takes_turns(one) && takes_turns(other) && one.rate_hz == other.rate_hz &&
		   one.idle_states == other.idle_states && (visit.size() + more.size()) * kTurnNs <= period_ns(one) &&
		   sides <= privilege::kMaxBlockWorkers &&
		   sides + daemons <= privilege::kMaxBlockWorkers + privilege::kMaxBlockDaemons;
}

} // namespace

std::vector<Visit> visits_of(const std::vector<model::Cell> &cells)
{
	std::vector<Visit> visits, arms_of_cells(cells.size());
	const std::vector<size_t> firsts = first_arms(cells);
	for (size_t i = 0; i < cells.size(); i++)
		arms_of_cells[firsts[i]].push_back(i);
	std::vector<bool> is_split; // by visit: the cell's other arms are in further ones
	for (const Visit &arms : arms_of_cells) {
		if (arms.empty())
			continue;
		size_t with_room = 0;
		while (with_room < visits.size() && (is_split[with_room] || !have_room(visits[with_room], cells, arms)))
			with_room++;
		if (with_room < visits.size()) {
			visits[with_room].insert(visits[with_room].end(), arms.begin(), arms.end());
		} else if (have_room({}, cells, arms)) {
			visits.push_back(arms);
		} else {
			for (const size_t i : arms)
				visits.push_back({i});
		}
		is_split.resize(visits.size(), visits.back().size() < arms.size());
	}
	return visits;
}

std::vector<size_t> with_other_arms(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells)
{
	const std::vector<size_t> of_cells = first_arms(cells);
	std::vector<size_t> firsts;
	for (const Visit &visit : visits)
		firsts.push_back(static_cast<size_t>(
			std::ranges::find(visits, of_cells[visit.front()], [](const Visit &one) { return one.front(); }) -
			visits.begin()));
	return firsts;
}

std::vector<size_t> order_of(uint32_t round, const std::vector<size_t> &firsts)
{
	// Of sixteen rounds those pairs are 1 and 2, 4 and 9, 10 and 12.
	const uint32_t before = 3 * (round / 16), pairs = before + (round % 16 > 2 ? 1 : 0) + (round % 16 > 9 ? 1 : 0);
	std::vector<size_t> order(firsts.size());
	std::iota(order.begin(), order.end(), size_t{0});
	for (auto begin = order.begin(); begin != order.end();) {
		const auto end = std::find_if(begin, order.end(), [&](size_t v) { return firsts[v] != firsts[*begin]; });
		const auto arms = static_cast<uint32_t>(end - begin);
		// Once all have been the first as often, any of them begins: fresh processes come every so many rounds, which
		// would always meet the same one.
		const uint32_t any = before / std::lcm(3u, arms) * 2654435761u >> 15;
		std::rotate(begin, begin + static_cast<ptrdiff_t>((pairs + any) % arms), end);
		begin = end;
	}
	if (goes_back(round))
		std::ranges::reverse(order);
	return order;
}

Visit in_order(uint32_t round, const Visit &visit, const std::vector<model::Cell> &cells)
{
	std::vector<model::Cell> of_visit;
	for (const size_t i : visit)
		of_visit.push_back(cells[i]);
	Visit ordered;
	for (const size_t n : order_of(round, first_arms(of_visit)))
		ordered.push_back(visit[n]);
	return ordered;
}

uint64_t first_after_ns(const model::Cell &cell, size_t n, size_t cells)
{
	return cells > 1 ? kSettleNs + period_ns(cell) * n / cells : 0;
}

} // namespace icepath::run
