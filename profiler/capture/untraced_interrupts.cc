// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/untraced_interrupts.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace icepath::capture {
namespace {

// Rows of arch/x86/kernel/irq.c that pass a tracepoint of kProbes: local_timer, reschedule, call_function (TLB: a part
// of it), irq_work and nmi_handler (PMI: a part of it). Also rows that don't count a CPU's interrupts.
constexpr std::array<std::string_view, 11> kTold = {"LOC", "RES", "CAL", "TLB", "IWI", "NMI",
													"PMI", "RTR", "MCP", "ERR", "MIS"};

// A device's row begins with its number, and passes irq_handler_entry.
bool is_told(std::string_view label)
{
	return label.find_first_not_of("0123456789") == std::string_view::npos ||
		   std::ranges::find(kTold, label) != kTold.end();
}

bool is_number(const std::string &word)
{
	return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

// "           CPU0       CPU2": the online CPUs, in this order.
std::vector<uint32_t> columns(const std::string &heading)
{
	std::istringstream words(heading);
	std::vector<uint32_t> cpus;
	for (std::string word; words >> word;)
		if (word.starts_with("CPU") && is_number(word.substr(3)) && word.size() < 10)
			cpus.push_back(static_cast<uint32_t>(std::stoul(word.substr(3))));
	return cpus;
}

// Rows that `wanted` accepts by their label.
template <class Wanted>
std::vector<model::InterruptCount> rows_of(std::string_view table, const std::vector<uint32_t> &cpus, Wanted wanted)
{
	std::istringstream lines{std::string(table)};
	std::string line;
	std::getline(lines, line);
	const std::vector<uint32_t> online = columns(line);
	std::vector<model::InterruptCount> found;
	while (std::getline(lines, line)) {
		std::istringstream words(line);
		model::InterruptCount row;
		if (!(words >> row.label) || !row.label.ends_with(':'))
			continue;
		row.label.pop_back();
		if (!wanted(row.label))
			continue;
		std::string word;
		for (size_t i = 0; i < online.size() && words >> word && is_number(word) && word.size() < 20; i++)
			if (std::ranges::find(cpus, online[i]) != cpus.end())
				row.count += std::stoull(word);
		std::getline(words >> std::ws, row.name);
		found.push_back(std::move(row));
	}
	return found;
}

std::string table_of_this_machine()
{
	std::ifstream file("/proc/interrupts");
	return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::vector<model::InterruptCount> untraced_interrupts(std::string_view table, const std::vector<uint32_t> &cpus)
{
	return rows_of(table, cpus, [](const std::string &label) { return !is_told(label); });
}

std::vector<model::InterruptCount> untraced_interrupts(const std::vector<uint32_t> &cpus)
{
	return untraced_interrupts(table_of_this_machine(), cpus);
}

std::vector<model::InterruptCount> all_interrupts(const std::vector<uint32_t> &cpus)
{
	return rows_of(table_of_this_machine(), cpus,
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
