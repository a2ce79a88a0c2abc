// SPDX-License-Identifier: Apache-2.0
#pragma once
// A BPF program that does nothing but let time pass, wherever it is attached.
#include <linux/bpf.h>

#include <cstdint>

namespace icepath::selftest {

// It returns `result` after so long. Loaded once in a process, since the verifier takes long to follow it; the descriptor stays. Throws
// Failure(MachineCannot). One thread.
int spinning_program(bpf_prog_type type, uint32_t ns, int32_t result);

} // namespace icepath::selftest
