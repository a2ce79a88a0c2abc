// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which setting refuses something to whoever measures, where the kernel says no more than "Operation not permitted".
#include <optional>
#include <string>
#include <vector>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

struct Restrictions {
	// kernel_lockdown(7): "none", "integrity", "confidentiality"; empty: the kernel has none. Nothing: unknown, as
	// securityfs isn't mounted.
	std::optional<std::string> lockdown = {};
	std::optional<int> perf_event_paranoid = {},
					   unprivileged_bpf_disabled = {}; // of /proc/sys/kernel; nothing: unknown
	bool has_filter = false; // of system calls, as in a container
	std::vector<std::string> missing = {}; // of CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN, in this process
	bool has_user_namespace = false; // of its own: capabilities don't count outside of it
};

// `root` is put before paths, for tests.
Restrictions read_restrictions(const std::string &root = "");

// "CAP_BPF (kernel.unprivileged_bpf_disabled=2), CAP_PERFMON (kernel.perf_event_paranoid=3)": with the setting that
// makes each of these missing capabilities necessary.
std::string named_with_settings(const std::vector<std::string> &capabilities, const Restrictions &restrictions);

// What refuses a probe for want of rights, as far as it is known, and what to do.
struct Refusal {
	std::string cause, remedy;
	Possible possible = Possible::Now;
};
Refusal refusal_of(const std::string &why_not, const Restrictions &restrictions);

// `probes_work`: at least one does.
Check lockdown_check(const Restrictions &restrictions, bool probes_work);
// For a user without root: whether `run --stacks` may have its timers.
Check sampling_check(const Restrictions &restrictions);

} // namespace icepath::doctor
