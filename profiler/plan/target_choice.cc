// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/target_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "profiler/failure.h"
#include "profiler/plan/unknown_target.h"

namespace icepath::plan {
namespace {

// The targets of a run that names none: one or two of each kind, so that a minute has enough rounds for all.
constexpr std::string_view kUsual[] = {"uds-stream", "uds-seqpacket", "uds-dgram", "mqueue", "tcp",
									   "udp",        "pipe",          "shm-ring",  "null"};

// Messages that are sent now and then are few, so that a minute hardly tells more targets apart.
constexpr std::string_view kFirstOfKind[] = {"uds-stream", "tcp", "shm-ring", "null"};

bool is_usual(const Target &target) { return std::ranges::find(kUsual, target.name) != std::end(kUsual); }

// Words that stand for several targets.
struct Word {
	std::string_view name;
	bool (*holds)(const Target &);
};
constexpr Word kWords[] = {{"all", [](const Target &) { return true; }},
						   {"all-transports", [](const Target &target) { return !is_middleware(target); }},
						   {"all-installed", is_middleware}};

const Word *word_of(std::string_view wanted)
{
	const auto *const found = std::ranges::find(kWords, wanted, &Word::name);
	return found == std::end(kWords) ? nullptr : found;
}

// Adds the targets for which `holds` that work here; a notice names the others.
void choose_all(const std::vector<Target> &targets, const std::function<bool(const Target &)> &holds,
				std::vector<const Target *> &chosen, Plan &plan)
{
	for (const Target &target : targets) {
		if (!holds(target))
			continue;
		if (target.why_not.empty())
			add_once(chosen, &target);
		else
			add_once(plan.notices, fmt::format("{} left out: {}", target.name, target.why_not));
	}
}

} // namespace

bool is_first_of_kind(const Target &target)
{
	return std::ranges::find(kFirstOfKind, target.name) != std::end(kFirstOfKind);
}

bool is_middleware(const Target &target) { return !target.library_version.empty(); }

bool is_named(const Wishes &wishes, const Target &target)
{
	return std::ranges::find(wishes.targets, target.name) != wishes.targets.end();
}

std::vector<const Target *> choose(const Wishes &wishes, const std::vector<Target> &targets, Plan &plan)
{
	std::vector<const Target *> chosen;
	if (wishes.targets.empty()) {
		const bool usual = std::ranges::any_of(targets, is_usual);
		choose_all(targets, [&](const Target &target) { return !usual || is_usual(target); }, chosen, plan);
	}
	for (const std::string &wanted : wishes.targets) {
		if (const Word *word = word_of(wanted)) {
			choose_all(targets, word->holds, chosen, plan);
			continue;
		}
		const auto found =
			std::find_if(targets.begin(), targets.end(), [&](const Target &target) { return target.name == wanted; });
		const auto is_of_group = [&](const Target &target) { return target.name.starts_with(wanted + "/"); };
		if (found == targets.end() && std::ranges::any_of(targets, is_of_group)) {
			choose_all(targets, is_of_group, chosen, plan);
			continue;
		}
		if (found == targets.end())
			throw Failure(ExitCode::Usage, unknown_target(wanted, targets, wishes.not_loaded));
		if (found->why_not.empty()) {
			add_once(chosen, &*found);
			continue;
		}
		add_once(plan.missing, wanted);
		add_once(plan.notices, fmt::format("{} doesn't work here, and is left out: {}", wanted, found->why_not));
	}
	if (chosen.empty() && !plan.missing.empty())
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("nothing is left to measure: {}", fmt::join(plan.notices, "; ")));
	return chosen;
}

} // namespace icepath::plan
