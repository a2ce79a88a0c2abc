// SPDX-License-Identifier: Apache-2.0
#include "cpuset/interrupt_table.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace icepath::cpuset {
namespace {

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

} // namespace

InterruptTable parse_interrupts(std::string_view text)
{
	std::istringstream lines{std::string(text)};
	std::string line;
	std::getline(lines, line);
	InterruptTable table{columns(line), {}};
	while (std::getline(lines, line)) {
		std::istringstream words(line);
		InterruptRow row;
		if (!(words >> row.label) || !row.label.ends_with(':'))
			continue;
		row.label.pop_back();
		std::string word;
		while (row.counts.size() < table.cpus.size() && words >> word && is_number(word) && word.size() < 20)
			row.counts.push_back(std::stoull(word));
		std::getline(words >> std::ws, row.name);
		table.rows.push_back(std::move(row));
	}
	return table;
}

InterruptTable read_interrupts(const std::string &root)
{
	std::ifstream file(root + "/proc/interrupts");
	return parse_interrupts(std::string{std::istreambuf_iterator<char>(file), {}});
}

} // namespace icepath::cpuset
