// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/event_counts.h"

#include <algorithm>

namespace icepath::analysis {

using model::Counters;
using model::kCounterFields;

std::optional<double> CounterTotal::per_message() const
{
	return messages > 0 ? std::optional(counted / static_cast<double>(messages)) : std::nullopt;
}

std::optional<double> CounterTotal::running_share() const
{
	if (messages == 0 || running_ns >= enabled_ns)
		return std::nullopt;
	return static_cast<double>(running_ns) / static_cast<double>(enabled_ns);
}

const CounterTotal &SideCounters::of(model::Count Counters::*count) const
{
	const auto *field = std::ranges::find(kCounterFields, count, &model::CounterField::count);
	return totals[static_cast<size_t>(field - kCounterFields)];
}

bool SideCounters::has_hardware() const
{
	for (size_t i = 0; i < totals.size(); ++i)
		if (kCounterFields[i].hardware && totals[i].messages > 0)
			return true;
	return false;
}

std::optional<double> instructions_per_cycle(std::initializer_list<const SideCounters *> sides)
{
	double all_instructions = 0, all_cycles = 0;
	for (const SideCounters *side : sides) {
		const CounterTotal &instructions = side->of(&Counters::instructions), &cycles = side->of(&Counters::cycles);
		// Counts from different blocks, or in different modes, can't be related.
		if (cycles.messages == 0 || instructions.messages != cycles.messages)
			return std::nullopt;
		all_instructions += instructions.counted;
		all_cycles += cycles.counted;
	}
	return all_cycles > 0 ? std::optional(all_instructions / all_cycles) : std::nullopt;
}

void CounterTotals::add_to(SideCounters &end, const std::vector<const model::BlockSide *> &sides, uint64_t messages)
{
	for (size_t i = 0; i < std::size(kCounterFields); ++i) {
		CounterTotal &total = end.totals[i], block;
		bool whole = true; // otherwise a part of the sides would be taken for all
		for (const model::BlockSide *side : sides) {
			const model::Count &count = side->counters.*kCounterFields[i].count;
			const auto value = model::scaled(count, kCounterFields[i]);
			if (count.error != model::kNotAsked) {
				asked = true;
				total.absence = model::absence(count, kCounterFields[i]);
			}
			whole = whole && value;
			block.counted += value.value_or(0);
			block.enabled_ns += count.enabled_ns;
			block.running_ns += count.running_ns;
		}
		if (!whole)
			continue;
		total.counted += block.counted;
		total.messages += messages;
		total.enabled_ns += block.enabled_ns;
		total.running_ns += block.running_ns;
	}
	for (const model::BlockSide *side : sides)
		end.user_only = end.user_only || side->counters.user_only != 0;
}

void CounterTotals::add(const model::Block &block, const model::Graph &graph, uint64_t messages)
{
	if (messages == 0)
		return;
	std::array<std::vector<const model::BlockSide *>, 2> of_ends;
	for (size_t side = 0; side < block.sides.size(); ++side)
		of_ends[model::begins(graph, side) ? 0 : 1].push_back(&block.sides[side]);
	for (size_t end = 0; end < ends.size(); ++end)
		add_to(ends[end], of_ends[end], messages);
}

} // namespace icepath::analysis
