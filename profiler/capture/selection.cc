// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/selection.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "profiler/capture/bpf_object.h"

namespace icepath::capture {
namespace {

constexpr const char *kMissing = "not in this kernel";

bool has_capability(unsigned capability)
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
	return syscall(SYS_capget, &header, sets.data()) == 0 &&
		   (sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

// Why no program of the tier works. Empty: only the kernel's verdict on each can tell.
std::string why_no(Tier tier)
{
	if (tier != Tier::Kprobe)
		return {};
	// Without this PMU libbpf looks into tracefs, where it fails for reasons that have nothing to do with it.
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		return "the kernel was built without CONFIG_KPROBE_EVENTS";
	// Kernels up to 6.12 attach kprobes that then run no program (tests/vm, kprobe).
	return has_capability(CAP_SYS_ADMIN) ? "" : "needs CAP_SYS_ADMIN, which only runs as root have";
}

// Returns why it doesn't work, or an empty text.
std::string try_attach(const capture_bpf *loaded, const Candidate &candidate)
{
	std::vector<bpf_program *> programs = beside(loaded, candidate);
	programs.push_back(program_of(loaded, candidate));
	for (const bpf_program *program : programs) {
		bpf_link *link = bpf_program__attach(program);
		if (!link)
			return fmt::format("attaching: {}", std::strerror(errno));
		bpf_link__destroy(link);
	}
	return {};
}

std::string try_candidate(const Candidate &candidate)
{
	if (std::string reason = why_no(candidate.tier); !reason.empty())
		return reason;
	for (int loads = 1;; loads++) {
		const BpfObject bpf = open_bpf_object({candidate});
		try {
			const std::string refusal = why_not_loaded(bpf.get(), candidate);
			return refusal.empty() ? try_attach(bpf.get(), candidate) : refusal;
		} catch (const LoadInterrupted &) {
			if (loads == kMostLoads)
				throw;
		}
	}
}

std::string about(const Candidate &candidate, const std::string &reason)
{
	return reason.empty() ? "" : fmt::format("{}: {}", described(candidate), reason);
}

Trial first_that_works(const Probe &probe, std::optional<Tier> forced,
					   const std::function<std::string(const Candidate &)> &why_not)
{
	Trial trial;
	for (const Candidate &candidate : in_order(probe, forced)) {
		if (candidate.program.empty())
			break;
		const std::string reason = why_not(candidate);
		if (reason.empty()) {
			trial.works = true;
			trial.candidate = candidate;
			return trial;
		}
		if (trial.why_not.find(reason) == std::string::npos) // a reason of a whole tier: once
			trial.why_not += (trial.why_not.empty() ? "" : "; ") + reason;
	}
	if (trial.why_not.empty()) // no candidate is of the forced tier
		trial.why_not = "no tracepoint shows it";
	return trial;
}

std::vector<Candidate> candidates_of(Tier tier)
{
	std::vector<Candidate> found;
	for (const Probe &probe : kProbes)
		for (const Candidate &candidate : probe.candidates)
			if (!candidate.program.empty() && candidate.tier == tier)
				found.push_back(candidate);
	return found;
}

// By program: why it doesn't work, or empty.
using Reasons = std::map<std::string_view, std::string>;

// Tries all programs at once, because reading the kernel's BTF is most of the work, and one by one if one of them is
// refused.
Reasons try_tier(Tier tier)
{
	Reasons reasons;
	std::vector<Candidate> there;
	for (const Candidate &candidate : candidates_of(tier)) {
		if (is_in_kernel(candidate))
			there.push_back(candidate);
		else
			reasons[candidate.program] = about(candidate, kMissing);
	}
	const BpfObject bpf = why_no(tier).empty() ? load_despite_signals([&] { return open_bpf_object(there); }) : nullptr;
	const bool loads = bpf != nullptr;
	// A kernel that refuses one function of a tier refuses all of them. But a function may also be inlined, so a few
	// are tried.
	const size_t tries = loads ? there.size() : std::min<size_t>(3, there.size());
	bool any = false;
	std::string refusal;
	for (size_t i = 0; i < there.size() && (i < tries || any); i++) {
		refusal = loads ? try_attach(bpf.get(), there[i]) : try_candidate(there[i]);
		any |= refusal.empty();
		reasons[there[i].program] = about(there[i], refusal);
	}
	if (!any)
		for (const Candidate &candidate : there)
			reasons[candidate.program] =
				fmt::format("{} no {} ({})", is_want_of_rights(refusal) ? "this user may use" : "this kernel allows",
							name(tier), refusal);
	return reasons;
}

} // namespace

bool is_want_of_rights(std::string_view reason)
{
	const auto says = [&](const char *text) { return reason.find(text) != std::string_view::npos; };
	if (says("verifier:")) // the verifier's refusals are EACCES as well
		return false;
	return says(std::strerror(EPERM)) || says(std::strerror(EACCES)) || says("CAP_");
}

std::string described(const Candidate &candidate)
{
	return fmt::format("{} {}", name(candidate.tier), candidate.target);
}

Trial try_probe(size_t probe, std::optional<Tier> forced)
{
	return first_that_works(kProbes[probe], forced, [&](const Candidate &candidate) {
		return about(candidate, is_in_kernel(candidate) ? try_candidate(candidate) : kMissing);
	});
}

Selection select_probes(std::optional<Tier> forced)
{
	std::array<std::optional<Reasons>, std::size(kTierNames)> tried;
	const auto why_not = [&](const Candidate &candidate) -> std::string {
		if (candidate.tier == Tier::Tracepoint)
			return about(candidate, is_in_kernel(candidate) ? "" : kMissing);
		auto &reasons = tried[static_cast<size_t>(candidate.tier)];
		if (!reasons)
			reasons = try_tier(candidate.tier);
		return reasons->at(candidate.program);
	};
	Selection selection;
	for (size_t i = 0; i < kProbes.size(); i++)
		selection[i] = first_that_works(kProbes[i], forced, why_not);
	return selection;
}

} // namespace icepath::capture
