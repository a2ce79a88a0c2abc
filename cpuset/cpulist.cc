// SPDX-License-Identifier: Apache-2.0
#include "cpuset/cpulist.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace icepath::cpuset {
namespace {

std::string_view trim(std::string_view text)
{
	constexpr std::string_view kBlank = " \t\n";
	const size_t first = text.find_first_not_of(kBlank);
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

} // namespace

std::optional<uint32_t> parse_cpu(std::string_view text)
{
	uint32_t cpu = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
	if (error != std::errc{} || end != text.data() + text.size() || cpu > kMaxCpu)
		return std::nullopt;
	return cpu;
}

std::optional<CpuList> parse_cpulist(std::string_view text)
{
	text = trim(text);
	if (text.empty() || text == "(null)")
		return CpuList{};
	std::set<uint32_t> cpus;
	for (;;) {
		const size_t comma = text.find(',');
		const std::string_view range = text.substr(0, comma);
		const size_t dash = range.find('-');
		const auto first = parse_cpu(range.substr(0, dash));
		const auto last = dash == std::string_view::npos ? first : parse_cpu(range.substr(dash + 1));
		if (!first || !last || *first > *last)
			return std::nullopt;
		for (uint32_t cpu = *first; cpu <= *last; ++cpu)
			cpus.insert(cpu);
		if (comma == std::string_view::npos)
			return CpuList(cpus.begin(), cpus.end());
		text.remove_prefix(comma + 1);
	}
}

std::string format_cpulist(const CpuList &cpus)
{
	std::string text;
	for (size_t first = 0; first < cpus.size();) {
		size_t last = first;
		while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
			++last;
		if (!text.empty())
			text += ',';
		text += std::to_string(cpus[first]);
		if (last > first)
			text += '-' + std::to_string(cpus[last]);
		first = last + 1;
	}
	return text;
}

bool contains(const CpuList &cpus, uint32_t cpu) { return std::binary_search(cpus.begin(), cpus.end(), cpu); }

} // namespace icepath::cpuset
