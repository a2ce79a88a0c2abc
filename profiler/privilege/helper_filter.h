// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace icepath::privilege {

struct Attaching {
	bool perf_events; // probes attach to perf events, as kprobes do
	bool samples; // it starts and stops timers that it has opened
	bool lists; // it runs iterators that it has loaded
};

// For a process that has loaded its BPF programs, under no_new_privs: from now on it attaches and detaches them,
// answers requests, and reads what its user may read. Any other system call fails with EPERM: no execution of programs,
// no further BPF program, no memory both writable and executable, no signal, no connection (seccomp(2)). Throws
// RightsKept (rights.h) if the kernel refuses the filter.
void allow_capturing_calls_only(const Attaching &attaching);

} // namespace icepath::privilege
