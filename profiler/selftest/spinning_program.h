// SPDX-License-Identifier: Apache-2.0
#pragma once
// A BPF program that only lets time pass, wherever it is attached.
#include <linux/bpf.h>

#include <cstdint>

#include "profiler/channel.h"

namespace icepath::selftest {

// It returns `result` after `ns`. Throws Failure(MachineCannot).
Fd spinning_program(bpf_prog_type type, uint64_t ns, int32_t result);

} // namespace icepath::selftest
