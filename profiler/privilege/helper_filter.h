// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace icepath::privilege {

struct Attaching {
	bool perf_events; // probes are attached to perf events, as kprobes are
	int lock_folder; // in which it may remove a file; -1: in none
};

// For a process that has loaded its BPF programs, and that no_new_privs holds: from now on it attaches and detaches them, answers
// requests, and reads what its user may read. Any other system call fails with EPERM: no program of its own, no further BPF program, no
// memory that is both written and run, no signal, no connection (seccomp(2)). Throws Failure(MachineCannot) where the kernel doesn't
// take it.
void allow_capturing_calls_only(const Attaching &attaching);

} // namespace icepath::privilege
