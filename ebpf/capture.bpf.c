// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The capture: what happens to the run's workers, on their CPUs and on their sockets, folded into the records of
 * records.h.
 *
 * Its parts: slots.bpf.h is what all programs share, the others are the programs by what they watch. Which of them are
 * loaded is decided by profiler/capture/probes.h.
 *
 * Tracepoints are tp_btf: direct calls without the per-CPU bpf_prog_active guard of perf tracepoints, which drops a
 * program that an interrupt nests in another one; fentry and fexit are alike. One that nests in itself is still skipped; the
 * kernel counts that (recursion_misses), and user space reports it as loss. A kprobe that an interrupt hits while another
 * one's handler runs is dropped before any program is asked (kprobe_running()), and counted with the kprobe only since 6.7
 * (misses.cc): what rests on kprobes is never exact.
 */
#include "vmlinux.h" /* first: all others name its types */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#include "slots.bpf.h" /* which the others use */

#include "faults.bpf.h"
#include "softirqs.bpf.h"
/* which the next asks */
#include "scheduling.bpf.h"

#include "sockets.bpf.h" /* before the others, which use what it logs and names sockets with */

#include "interrupts.bpf.h"

#include "calls.bpf.h"
#include "queues.bpf.h"
