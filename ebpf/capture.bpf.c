// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The capture: folds what happens to the run's workers, on their CPUs and on their sockets, into the records of
 * records.h.
 *
 * slots.bpf.h is shared by all programs; the other parts are the programs, by what they watch.
 * profiler/capture/probes.h decides which of them are loaded.
 *
 * Tracepoints are tp_btf: direct calls without the per-CPU bpf_prog_active guard of perf tracepoints, which drops a
 * program that an interrupt nests in another one. The same holds for fentry and fexit. A program that nests in itself
 * is still skipped; the kernel counts that (recursion_misses), and user space reports it as loss. sk_data_ready has a
 * second program, which does what the first was skipped for (sockets.bpf.h). A kprobe that an interrupt hits while
 * another one's handler runs is dropped before any program is called (kprobe_running()), and counted only since 6.7,
 * with the kprobe (skip_times.cc). So what rests on kprobes is never exact.
 */
#include "vmlinux.h" /* first: all others name its types */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "ends.h"
#include "records.h"
#include "shift.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#include "rights.bpf.h" /* used by slots.bpf.h */
/* used by all others */
#include "slots.bpf.h"

#include "objects.bpf.h" /* before those that log and name objects */

#include "faults.bpf.h"
#include "softirqs.bpf.h"
#include "stacks.bpf.h"
/* used by scheduling.bpf.h */
#include "scheduling.bpf.h"

#include "streams.bpf.h" /* before those that note what is queued */

#include "attach.bpf.h"

#include "sockets.bpf.h" /* before the others, which log with it */

#include "interrupts.bpf.h"

#include "calls.bpf.h"
#include "queues.bpf.h"
#include "sampling.bpf.h"
