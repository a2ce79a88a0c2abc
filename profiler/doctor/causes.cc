// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/causes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "profiler/capture/selection.h"

namespace icepath::doctor {
namespace {

// Checks belong to the first cause with a name that theirs begins with.
struct KnownCause {
	std::string_view name;
	std::array<std::string_view, 6> checks;
	std::string_view remedy; // instead of that of a check, and not possible here; empty: there is none
};

constexpr std::array<KnownCause, 12> kCauses = {{
	{"rights", {"kernel", "btf", "privileges", "lockdown", "sampling"}, ""},
	{"refused", {"refused probe "}, ""},
	{"probes", {"probe "}, "another kernel: Debian's has them; or icepath calibrate"},
	{"interrupts", {"interrupts"}, ""},
	{"other runs", {"other runs"}, ""},
	{"shared CPUs",
	 {"cpus", "isolation other_tasks", "isolation interrupts", "isolation housekeeping", "isolation smt_sibling",
	  "isolation rt_throttling"},
	 ""},
	{"tick", {"isolation timer_tick"}, ""},
	{"idle states", {"soft idle_states", "isolation idle_states", "isolation frequency"}, ""},
	{"locked memory", {"soft "}, ""},
	{"--isolate full", {"full"}, ""},
	{"clock", {"clock", "isolation clock"}, ""},
	{"hardware", {"isolation hypervisor", "counters", "threads", "architecture"}, ""},
}};

constexpr std::string_view kProbe = "probe ";

bool has(const KnownCause &cause, const Check &check)
{
	const bool is_refused = check.name.starts_with(kProbe) && capture::is_want_of_rights(check.found);
	const std::string check_name = (is_refused ? "refused " : "") + check.name;
	return std::ranges::any_of(cause.checks,
							   [&](std::string_view name) { return !name.empty() && check_name.starts_with(name); });
}

// Layers follow from their probes, and probes from rights.
bool follows(const Check &check, const std::vector<Check> &checks)
{
	if (check.name.starts_with("layer "))
		return true;
	return check.name.starts_with(kProbe) && std::ranges::any_of(checks, [](const Check &other) {
			   return (other.name == "privileges" || other.name == "btf") && other.verdict == Verdict::Fail;
		   });
}

// A step of --isolate full has its name: others may be possible.
std::string found_text(const Check &check)
{
	constexpr std::string_view kFull = "full ";
	if (check.name.starts_with(kFull))
		return check.name.substr(kFull.size()) + ": " + check.found;
	return check.name.starts_with(kProbe) ? check.name.substr(kProbe.size()) : check.found;
}

Cause begun(const KnownCause &known, const Check &check)
{
	Cause cause{std::string(known.name), check.verdict, {}, {}};
	if (!known.remedy.empty())
		cause.remedies.push_back({std::string(known.remedy), Possible::NotHere});
	return cause;
}

void add(const Check &check, Cause &cause, bool has_own_remedy)
{
	cause.verdict = std::max(cause.verdict, check.verdict);
	cause.found.push_back(found_text(check));
	if (has_own_remedy || check.remedy.empty())
		return;
	if (cause.remedies.empty() || check.possible < cause.remedies.front().possible)
		cause.remedies.insert(cause.remedies.begin(), {check.remedy, check.possible});
}

} // namespace

std::vector<Cause> causes(const std::vector<Check> &checks)
{
	std::array<std::optional<Cause>, kCauses.size() + 1> found; // the last: unknown cause
	for (const Check &check : checks) {
		if (check.verdict == Verdict::Ok || follows(check, checks))
			continue;
		const auto *known = std::ranges::find_if(kCauses, [&](const KnownCause &cause) { return has(cause, check); });
		std::optional<Cause> &cause = found[static_cast<size_t>(known - kCauses.begin())];
		const bool is_known = known != kCauses.end();
		if (!cause)
			cause = is_known ? begun(*known, check) : Cause{check.name, check.verdict, {}, {}};
		add(check, *cause, is_known && !known->remedy.empty());
	}
	std::vector<Cause> all;
	for (std::optional<Cause> &cause : found)
		if (cause)
			all.push_back(std::move(*cause));
	return all;
}

} // namespace icepath::doctor
