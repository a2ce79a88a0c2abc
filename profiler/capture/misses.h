// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bpf/libbpf.h>

#include <cstdint>

namespace icepath::capture {

// How often the kernel skipped this program since loading because it was already running. Since 6.7 also how often a
// kprobe link's breakpoint was hit while another one's handler ran (kprobes_inc_nmissed_count()).
uint64_t misses_of(const bpf_program *program, const bpf_link *link);

} // namespace icepath::capture
