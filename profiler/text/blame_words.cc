// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/blame_words.h"

#include <fmt/format.h>

#include "profiler/stats/quantity.h"

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

namespace {

std::string listed(const explain::Taken &taken, size_t named, const std::string &of_first)
{
	std::string text;
	uint64_t others_ns = 0;
	for (size_t i = 0; i < taken.size(); ++i)
		if (i < named)
			text += fmt::format("{}{} {}", i == 0 ? "" : ", ", i == 0 && !of_first.empty() ? of_first : taken[i].first,
								stats::duration(static_cast<double>(taken[i].second)));
		else
			others_ns += taken[i].second;
	if (others_ns > 0)
		text += fmt::format(", {} more {}", taken.size() - named, stats::duration(static_cast<double>(others_ns)));
	return text;
}

} // namespace

std::string words_of(const explain::Blame &blame, const explain::Taken &taken, uint64_t ns)
{
	using Kind = path::Culprit::Kind;
	constexpr size_t kNamed = 2;
	constexpr double kPracticallyAll = 0.99;
	std::string who = words_of(blame);
	if (who.empty())
		return listed(taken, kNamed, "");
	const bool had_cpu = blame.kind == Kind::Task && !blame.woke && !taken.empty();
	if (!had_cpu || static_cast<double>(taken[0].second) >= kPracticallyAll * static_cast<double>(ns))
		return who;
	return listed(taken, kNamed, who); // it had most of it, so it is the first
}

} // namespace icepath::text
