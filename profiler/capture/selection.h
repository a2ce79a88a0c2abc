// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which candidate of each probe this kernel takes, found by trying.
#include <array>
#include <optional>
#include <string>

#include "profiler/capture/probes.h"

namespace icepath::capture {

// What became of one probe.
struct Trial {
	bool works = false;
	Candidate candidate; // by which, where it works
	// Of the candidates that would have come first: "fentry skb_queue_tail: loading: Operation not permitted"
	std::string why_not;
};

// "fentry skb_queue_tail"
std::string described(const Candidate &candidate);

// Loads and attaches one probe alone, by the first of its candidates that works, and takes it away again. Needs CAP_BPF and
// CAP_PERFMON. `forced` as in in_order().
Trial try_probe(size_t probe, std::optional<Tier> forced = {});

using Selection = std::array<Trial, kProbes.size()>;

// For all probes, without trying what is known to work: a tracepoint that the kernel's BTF has. Functions are tried, as BTF
// has some that can't be probed; of a tier that the kernel refuses altogether, only a few.
Selection select_probes(std::optional<Tier> forced = {});

} // namespace icepath::capture
