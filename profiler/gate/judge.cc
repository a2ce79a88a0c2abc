// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "profiler/analysis/named_cells.h"
#include "profiler/model/printable.h"

namespace icepath::gate {
namespace {

bool holds(Comparison comparison, double value, double limit)
{
	switch (comparison) {
	case Comparison::Below:
		return value < limit;
	case Comparison::AtMost:
		return value <= limit;
	case Comparison::Above:
		return value > limit;
	case Comparison::AtLeast:
		return value >= limit;
	case Comparison::Equal:
		return value == limit;
	}
	return false;
}

// Messages that never came only make a time longer. Of a tail, they are others than those whose layers are known.
bool is_beyond_anyway(const Expectation &expected, const Measured &measured)
{
	const bool is_upper = expected.comparison == Comparison::Below || expected.comparison == Comparison::AtMost;
	const bool is_of_all = kind_of(expected.figure).unit == Unit::Time && expected.figure != Figure::Cpu &&
						   expected.figure != Figure::TailLayer;
	if (!is_upper || !is_of_all)
		return false;
	if (expected.figure == Figure::Max) // the longest that came is exact
		return measured.value > expected.limit;
	return measured.interval && measured.interval->low > expected.limit;
}

void decide(const Expectation &expected, const Measured &measured, Outcome &outcome)
{
	outcome.status = Status::Undecided;
	outcome.reason = measured.reason;
	if (measured.reason == Reason::LostMessages && is_beyond_anyway(expected, measured)) {
		outcome.status = Status::Missed;
		outcome.reason = Reason::None;
	}
	if (measured.reason != Reason::None)
		return;
	const auto &interval = measured.interval;
	if (interval && interval->low < interval->high && interval->low <= expected.limit &&
		expected.limit <= interval->high) {
		outcome.reason = Reason::Interval;
		return;
	}
	outcome.status = holds(expected.comparison, measured.value, expected.limit) ? Status::Met : Status::Missed;
}

// What is met in spite of what is missing isn't known to be.
void doubt(const analysis::RunResult &result, bool is_whole, Outcome &outcome)
{
	if (outcome.status != Status::Met)
		return;
	Reason doubt = Reason::None;
	if (!is_whole)
		doubt = Reason::NotWhole;
	else if (result.cells[*outcome.cell].blocks.failed > 0)
		doubt = Reason::FailedBlocks;
	if (doubt == Reason::None)
		return;
	outcome.status = Status::Undecided;
	outcome.reason = doubt;
}

void judge_cell(const analysis::RunResult &result, Outcome outcome, Judgement &judgement)
{
	const Expectation &expected = judgement.expectation_of(outcome);
	outcome.measured = figure_of(result, *outcome.cell, expected, outcome.reason);
	if (outcome.measured) {
		decide(expected, *outcome.measured, outcome);
		doubt(result, judgement.is_whole, outcome);
	}
	judgement.outcomes.push_back(outcome);
}

// Patterns that no cell's key matches.
std::vector<std::string> unmatched(const Gate &gate, const std::vector<GatedCell> &among)
{
	std::vector<std::string> all;
	std::ranges::copy_if(gate.cells, std::back_inserter(all), [&](const std::string &pattern) {
		return std::ranges::none_of(among, [&](const GatedCell &cell) { return means(pattern, cell); });
	});
	return all;
}

void refuse_comparisons(const Gate &gate)
{
	for (const Expectation &expected : gate.expectations)
		if (expected.compares())
			throw Failure(
				ExitCode::Usage,
				fmt::format("{}: \"{}\" compares two builds or runs, and gates judge the cells of one run: icepath "
							"compare tells such a difference, and ratio(KEY) compares two cells of a run",
							gate.name, expected.text));
}

} // namespace

bool Judgement::only_warns(const Outcome &outcome) const
{
	// What is missing isn't a matter of chance.
	const bool by_chance = outcome.reason == Reason::Interval || outcome.reason == Reason::NoInterval ||
						   outcome.reason == Reason::FewOpenings;
	return outcome.status == Status::Undecided && by_chance && gate_of(outcome).undecided == Undecided::Warns;
}

size_t Judgement::count(Status status) const
{
	return static_cast<size_t>(std::ranges::count(outcomes, status, &Outcome::status));
}

std::vector<GatedCell> gated_cells(const analysis::RunResult &result)
{
	std::vector<model::Cell> cells;
	for (const analysis::CellResult &cell : result.cells)
		cells.push_back(cell.cell);
	return gated_cells(cells, result.head.arms);
}

Judgement judge(const analysis::RunResult &result, std::vector<Gate> gates)
{
	Judgement judgement;
	judgement.gates = std::move(gates);
	judgement.is_whole = result.is_whole();
	judgement.keys = analysis::keys_of(result);
	const std::vector<GatedCell> gated = gated_cells(result);
	for (size_t g = 0; g < judgement.gates.size(); ++g) {
		const Gate &gate = judgement.gates[g];
		refuse_comparisons(gate);
		std::vector<size_t> cells;
		for (size_t i = 0; i < gated.size(); ++i)
			if (gate.holds(gated[i]))
				cells.push_back(i);
		for (const std::string &pattern : unmatched(gate, gated))
			judgement.outcomes.push_back({g, 0, std::nullopt, Status::Missing, Reason::NoCell, std::nullopt, pattern});
		for (size_t e = 0; e < gate.expectations.size(); ++e)
			for (const size_t cell : cells)
				judge_cell(result, {g, e, cell, Status::Missing, Reason::None, std::nullopt}, judgement);
	}
	return judgement;
}

ExitCode exit_code(const Judgement &judgement)
{
	if (judgement.count(Status::Missing) > 0 || judgement.outcomes.empty())
		return ExitCode::Usage;
	if (judgement.count(Status::Missed) > 0)
		return ExitCode::TargetMissed;
	const bool decided = std::ranges::all_of(judgement.outcomes, [&](const Outcome &outcome) {
		return outcome.status == Status::Met || judgement.only_warns(outcome);
	});
	return decided && judgement.is_whole ? ExitCode::Ok : ExitCode::Invalid;
}

void check_gates(const std::vector<Gate> &gates, const std::vector<GatedCell> &cells)
{
	constexpr size_t kNamed = 3;
	for (const Gate &gate : gates) {
		refuse_comparisons(gate);
		const std::vector<std::string> lacking = unmatched(gate, cells);
		if (lacking.empty())
			continue;
		std::vector<std::string> some;
		for (const GatedCell &cell : cells)
			if (some.size() < kNamed)
				some.push_back(cell.key);
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: no cell of this run has a key like \"{}\": it has \"{}\"{}", gate.name,
								  model::printable(lacking.front()), fmt::join(some, "\", \""),
								  cells.size() > kNamed ? " and others" : ""));
	}
}

} // namespace icepath::gate
