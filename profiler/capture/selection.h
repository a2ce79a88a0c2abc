// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds by trying which candidate of each probe this kernel accepts.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/capture/probes.h"

namespace icepath::capture {

// The result for one probe.
struct Trial {
	bool works = false;
	Candidate candidate; // the one that works
	// Why preferred candidates don't: "fentry skb_queue_tail: loading: Operation not permitted"
	std::string why_not;
};

// Whether the kernel has what is refused, and somebody with more rights might get it.
bool is_want_of_rights(std::string_view reason);

// "fentry skb_queue_tail"
std::string described(const Candidate &candidate);

// Loads and attaches one probe by its first working candidate, and removes it again. Needs CAP_BPF and CAP_PERFMON.
// `forced` as in in_order().
Trial try_probe(size_t probe, std::optional<Tier> forced = {});

using Selection = std::array<Trial, kProbes.size()>;

// Does this for all probes, except tracepoints in the kernel's BTF, which are known to work. Functions are tried,
// because BTF has some that can't be probed. If the kernel refuses a whole tier, only a few of its functions are tried.
Selection select_probes(std::optional<Tier> forced = {});

} // namespace icepath::capture
