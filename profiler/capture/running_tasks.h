// SPDX-License-Identifier: Apache-2.0
#pragma once
// BPF iterators, which run once for each task, or for each of its open files.

struct bpf_program;

namespace icepath::capture {

// Runs the loaded program for everything that its section names. Throws Failure(MachineCannot).
void run_over_all(bpf_program *iterator);

} // namespace icepath::capture
