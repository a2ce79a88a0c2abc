// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/timer_functions.h"

#include <algorithm>
#include <charconv>

namespace icepath::capture {

// A line is "ffffffff81000000 t hrtimer_wakeup", perhaps with a tab and "[module]".
TimerFunctions timer_functions(std::string_view kallsyms)
{
	TimerFunctions found{};
	for (size_t i = 0; i < kTimerFunctions.size(); ++i)
		found[i].timer = kTimerFunctions[i].timer;
	while (!kallsyms.empty()) {
		const size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
		const std::string_view line = kallsyms.substr(0, end);
		kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
		const size_t type = line.find(' ');
		const size_t begin = type == std::string_view::npos ? type : line.find(' ', type + 1);
		if (begin == std::string_view::npos || line.substr(type + 1, begin - type - 1).find_first_of("tT") != 0)
			continue;
		std::string_view name = line.substr(begin + 1, line.find_first_of(" \t", begin + 1) - begin - 1);
		if (name == kTickBefore6_9)
			name = kTimerFunctions[0].name;
		const auto known = std::ranges::find(kTimerFunctions, name, &TimerFunction::name);
		if (known == kTimerFunctions.end())
			continue;
		icepath_timer_function &function = found.at(static_cast<size_t>(known - kTimerFunctions.begin()));
		uint64_t address = 0;
		const std::string_view digits = line.substr(0, type);
		const char *digits_end = digits.data() + digits.size();
		if (function.address == 0 && std::from_chars(digits.data(), digits_end, address, 16).ptr == digits_end)
			function.address = address;
	}
	return found;
}

} // namespace icepath::capture
