// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/untraced_interrupts.h"

#include <algorithm>
#include <array>
#include <string>

#include "cpuset/interrupt_table.h"

namespace icepath::capture {
namespace {

// Rows of arch/x86/kernel/irq.c that pass a tracepoint of kProbes: local_timer, reschedule, call_function (TLB: a part
// of it), irq_work and nmi_handler (PMI: a part of it). Also rows that don't count a CPU's interrupts.
constexpr std::array<std::string_view, 11> kTold = {"LOC", "RES", "CAL", "TLB", "IWI", "NMI",
													"PMI", "RTR", "MCP", "ERR", "MIS"};

// A device's row begins with its number, and passes irq_handler_entry.
bool is_untraced(std::string_view label)
{
	return label.find_first_not_of("0123456789") != std::string_view::npos &&
		   std::ranges::find(kTold, label) == kTold.end();
}

// Rows that `wanted` accepts by their label.
template <class Wanted>
std::vector<model::InterruptCount> rows_of(const cpuset::InterruptTable &table, const std::vector<uint32_t> &cpus,
										   Wanted wanted)
{
	std::vector<model::InterruptCount> found;
	for (const cpuset::InterruptRow &row : table.rows) {
		if (!wanted(row.label))
			continue;
		model::InterruptCount &counted = found.emplace_back(model::InterruptCount{row.label, row.name, 0});
		for (size_t i = 0; i < row.counts.size(); i++)
			if (std::ranges::find(cpus, table.cpus[i]) != cpus.end())
				counted.count += row.counts[i];
	}
	return found;
}

} // namespace

std::vector<model::InterruptCount> untraced_interrupts(std::string_view table, const std::vector<uint32_t> &cpus)
{
	return rows_of(cpuset::parse_interrupts(table), cpus, is_untraced);
}

std::vector<model::InterruptCount> untraced_interrupts(const std::vector<uint32_t> &cpus)
{
	return rows_of(cpuset::read_interrupts(), cpus, is_untraced);
}

std::vector<model::InterruptCount> all_interrupts(const std::vector<uint32_t> &cpus)
{
	return rows_of(cpuset::read_interrupts(), cpus,
				   [](const std::string &label) { return label != "ERR" && label != "MIS"; });
}

std::vector<model::InterruptCount> counted_since(const std::vector<model::InterruptCount> &before,
												 std::vector<model::InterruptCount> now)
{
	for (model::InterruptCount &row : now) {
		const auto then = std::ranges::find(before, row.label, &model::InterruptCount::label);
		row.count -= then == before.end() ? 0 : std::min(then->count, row.count);
	}
	std::erase_if(now, [](const model::InterruptCount &row) { return row.count == 0; });
	return now;
}

} // namespace icepath::capture
