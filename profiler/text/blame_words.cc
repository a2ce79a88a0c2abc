// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/blame_words.h"

#include <fmt/format.h>

namespace icepath::text {

std::string words_of(const explain::Blame &blame)
{
	using Kind = path::Culprit::Kind;
	const std::string cpu = blame.cpu ? fmt::format("CPU {}", *blame.cpu) : "its CPU";
	switch (blame.kind) {
	case Kind::None:
		return "";
	case Kind::Interrupt:
		return !blame.woke ? blame.name : "woken by " + (blame.is_own_timer ? "its own timer" : blame.name);
	case Kind::IdleCpu:
		return cpu + " was idle";
	case Kind::Throttled:
		return "throttled: the CPU was idle, and a control group of the cell had used up its quota in this block";
	case Kind::Unknown:
		return "by unknown";
	case Kind::Task:
		break;
	}
	const std::string task = blame.tid ? fmt::format("{} ({})", blame.name, *blame.tid) : blame.name;
	return blame.woke ? "woken by " + task : fmt::format("{} ran {}", cpu, task);
}

} // namespace icepath::text
