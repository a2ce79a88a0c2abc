// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "icepath/plugin.h"
#include "profiler/failure.h"

namespace icepath::plan {
namespace {

using rundir::Pattern;
using rundir::Wait;

icepath_wait bit_of(Wait wait)
{
	switch (wait) {
	case Wait::Block:
		return ICEPATH_WAIT_BLOCK;
	case Wait::Poll:
		return ICEPATH_WAIT_POLL;
	case Wait::Epoll:
		return ICEPATH_WAIT_EPOLL;
	}
	return ICEPATH_WAIT_BLOCK;
}

bool wants_all(const Wishes &wishes)
{
	return wishes.targets.empty() || wishes.targets == std::vector<std::string>{"all"};
}

std::vector<const Target *> choose(const Wishes &wishes, const std::vector<Target> &targets, Plan &plan)
{
	std::vector<const Target *> chosen;
	if (wants_all(wishes)) {
		for (const Target &target : targets) {
			if (target.why_not.empty())
				chosen.push_back(&target);
			else
				plan.notices.push_back(fmt::format("{} left out: {}", target.name, target.why_not));
		}
		return chosen;
	}
	for (const std::string &wanted : wishes.targets) {
		const auto found =
			std::find_if(targets.begin(), targets.end(), [&](const Target &target) { return target.name == wanted; });
		if (found == targets.end()) {
			std::vector<std::string> names;
			for (const Target &target : targets)
				names.push_back(target.name);
			throw Failure(ExitCode::Usage,
						  fmt::format("unknown transport \"{}\": there are {}", wanted, fmt::join(names, ", ")));
		}
		if (!found->why_not.empty())
			throw Failure(ExitCode::MachineCannot, fmt::format("{} doesn't work here: {}", wanted, found->why_not));
		chosen.push_back(&*found);
	}
	return chosen;
}

std::vector<uint64_t> sizes_for(const Wishes &wishes, Pattern pattern)
{
	if (!wishes.sizes.empty())
		return wishes.sizes;
	return pattern == Pattern::PingPong ? std::vector<uint64_t>{64, 4096} : std::vector<uint64_t>{64};
}

} // namespace

std::string_view name(Pattern pattern) { return pattern == Pattern::PingPong ? "pingpong" : "oneway"; }

std::string_view name(Wait wait)
{
	switch (wait) {
	case Wait::Block:
		return "block";
	case Wait::Poll:
		return "poll";
	case Wait::Epoll:
		return "epoll";
	}
	return "?";
}

Plan make(const Wishes &wishes, const std::vector<Target> &targets, uint32_t cpu_sender, uint32_t cpu_receiver)
{
	Plan plan;
	const std::vector<const Target *> chosen = choose(wishes, targets, plan);
	const bool all = wants_all(wishes);
	for (const Pattern pattern : wishes.patterns) {
		for (const Wait wait : wishes.waits) {
			for (const Target *target : chosen) {
				// The floor of the stamps has one wait only, and is worth having beside every other.
				const bool floor = (target->capabilities & ICEPATH_NOT_IPC) != 0;
				const bool only_wait = floor && (target->waits & bit_of(wait)) == 0 && wait == wishes.waits.front();
				if ((target->waits & bit_of(wait)) == 0 && !only_wait) {
					if (!floor)
						plan.notices.push_back(
							fmt::format("{} can't wait by {}: left out there", target->name, name(wait)));
					continue;
				}
				for (const uint64_t size : sizes_for(wishes, pattern)) {
					if (size == 0 || size > target->max_payload_bytes) {
						const std::string why =
							fmt::format("{} can't carry {} bytes: its limit is {} ({})", target->name, size,
										target->max_payload_bytes, target->max_payload_why);
						if (!all || size == 0)
							throw Failure(ExitCode::Usage, why);
						plan.notices.push_back(why + "; left out");
						continue;
					}
					rundir::Cell cell;
					cell.target = target->name;
					cell.pattern = pattern;
					cell.wait = only_wait ? Wait::Poll : wait;
					cell.payload_bytes = size;
					if (const uint64_t part = target->max_part_bytes; part != 0)
						cell.parts = static_cast<uint32_t>((size + part - 1) / part);
					if (pattern == Pattern::OneWay)
						cell.rate_hz = wishes.rate_hz;
					cell.mechanisms = target->mechanisms;
					cell.capabilities = target->capabilities;
					cell.cpu_sender = cpu_sender;
					cell.cpu_receiver = cpu_receiver;
					for (const bool injected : {false, true}) {
						if (injected && !wishes.injection.any())
							continue;
						cell.injection = injected ? wishes.injection : rundir::Injection{};
						plan.cells.push_back(cell);
						plan.plugin_of_cell.push_back(target->plugin);
					}
				}
			}
		}
	}
	if (plan.cells.empty())
		throw Failure(ExitCode::Usage,
					  "nothing is left to measure: " + fmt::format("{}", fmt::join(plan.notices, "; ")));
	return plan;
}

} // namespace icepath::plan
