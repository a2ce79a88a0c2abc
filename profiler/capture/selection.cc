// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/selection.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "profiler/capture/bpf_object.h"

namespace icepath::capture {
namespace {

constexpr const char *kMissing = "not in this kernel";

bool is_missing(const Candidate &candidate, const Choice &choice)
{
	return candidate.target == choice.renamed || !is_in_kernel(candidate);
}

// Why it doesn't work, or empty.
std::string try_attach(const capture_bpf *loaded, const Candidate &candidate)
{
	bpf_link *link = bpf_program__attach(program_of(loaded, candidate));
	if (!link)
		return fmt::format("attaching: {}", std::strerror(errno));
	bpf_link__destroy(link);
	return {};
}

std::string try_candidate(const Candidate &candidate, const Choice &choice)
{
	if (is_missing(candidate, choice))
		return kMissing;
	const BpfObject bpf = open_bpf_object({candidate});
	if (const int error = capture_bpf__load(bpf.get()))
		return fmt::format("loading: {}", std::strerror(-error));
	return try_attach(bpf.get(), candidate);
}

Trial first_that_works(const Probe &probe, const Choice &choice,
					   const std::function<std::string(const Candidate &)> &why_not)
{
	Trial trial;
	for (const Candidate &candidate : in_order(probe, choice.forced)) {
		if (candidate.program.empty())
			break;
		const std::string reason = why_not(candidate);
		if (reason.empty()) {
			trial.works = true;
			trial.candidate = candidate;
			return trial;
		}
		trial.why_not += fmt::format("{}{}: {}", trial.why_not.empty() ? "" : "; ", described(candidate), reason);
	}
	if (trial.why_not.empty()) // of all candidates, none is of the tier that was asked for
		trial.why_not = "no tracepoint tells it";
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

// Why each of a tier's programs doesn't work, or empty.
using Reasons = std::map<std::string_view, std::string>;

// All at once, as reading the kernel's BTF is most of the work; one by one where something among them is refused.
Reasons try_tier(Tier tier, const Choice &choice)
{
	Reasons reasons;
	std::vector<Candidate> there;
	for (const Candidate &candidate : candidates_of(tier)) {
		if (is_missing(candidate, choice))
			reasons[candidate.program] = kMissing;
		else
			there.push_back(candidate);
	}
	const BpfObject bpf = open_bpf_object(there);
	const bool loads = capture_bpf__load(bpf.get()) == 0;
	// A kernel that refuses one function of a tier refuses all, but one may also be inlined: a few are tried.
	constexpr size_t kTries = 3;
	size_t tried = 0;
	bool any = false;
	std::string refusal;
	for (const Candidate &candidate : there) {
		if (!loads && !any && tried == kTries) {
			reasons[candidate.program] = refusal;
			continue;
		}
		tried++;
		refusal = loads ? try_attach(bpf.get(), candidate) : try_candidate(candidate, choice);
		any |= refusal.empty();
		reasons[candidate.program] = refusal;
	}
	return reasons;
}

} // namespace

std::string described(const Candidate &candidate)
{
	return fmt::format("{} {}", name(candidate.tier), candidate.target);
}

Trial try_probe(size_t probe, const Choice &choice)
{
	return first_that_works(kProbes[probe], choice,
							[&](const Candidate &candidate) { return try_candidate(candidate, choice); });
}

Selection select_probes(const Choice &choice)
{
	std::array<std::optional<Reasons>, std::size(kTierNames)> tried;
	const auto why_not = [&](const Candidate &candidate) -> std::string {
		if (candidate.tier == Tier::Tracepoint)
			return is_missing(candidate, choice) ? kMissing : "";
		auto &reasons = tried[static_cast<size_t>(candidate.tier)];
		if (!reasons)
			reasons = try_tier(candidate.tier, choice);
		return reasons->at(candidate.program);
	};
	Selection selection;
	for (size_t i = 0; i < kProbes.size(); i++)
		selection[i] = first_that_works(kProbes[i], choice, why_not);
	return selection;
}

} // namespace icepath::capture
