// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of probes: what each is attached to, which layer rests on it, and which cells need it. The one place that
// names the programs of ebpf/capture.bpf.c.
#include <array>
#include <cstdint>
#include <string_view>

#include "profiler/rundir/run.h"

namespace icepath::capture {

// Why a cell needs a probe. A probe belongs to one group; a cell attaches whole groups.
enum class Group : uint8_t {
	Scheduling, // every probed cell: who slept, who woke it, who had the CPU
	Interrupts, // every probed cell: what was carved out of running threads, and the context of a waking
	SocketReady,
	DeviceQueue,
	SocketTaken, // only where a receiver polls: it may take a message before sk_data_ready is called
};

struct Probe {
	std::string_view program;    // in capture.bpf.c
	std::string_view tracepoint; // without the "btf_trace_" of its BTF type
	Group group;
	std::string_view layers; // what can't be told without it
};

inline constexpr std::array<Probe, 24> kProbes = {{
	{"on_sched_waking", "sched_waking", Group::Scheduling, "wakeup, sender.kernel/notify, network/notify"},
	{"on_sched_wakeup", "sched_wakeup", Group::Scheduling, "wakeup, runqueue"},
	{"on_sched_switch", "sched_switch", Group::Scheduling, "runqueue, preempted, blocked"},
	{"on_sched_exit", "sched_exit_tp", Group::Scheduling, "runqueue, preempted (after a task that the kernel hides)"},
	{"on_sched_migrate_task", "sched_migrate_task", Group::Scheduling, "interrupt (which CPU a thread ran on)"},
	{"on_cpu_idle", "cpu_idle", Group::Scheduling, "wakeup/idle_exit"},
	{"on_softirq_entry", "softirq_entry", Group::Interrupts, "interrupt"},
	{"on_softirq_exit", "softirq_exit", Group::Interrupts, "interrupt"},
	{"on_irq_handler_entry", "irq_handler_entry", Group::Interrupts, "interrupt"},
	{"on_irq_handler_exit", "irq_handler_exit", Group::Interrupts, "interrupt"},
	{"on_local_timer_entry", "local_timer_entry", Group::Interrupts, "interrupt"},
	{"on_local_timer_exit", "local_timer_exit", Group::Interrupts, "interrupt"},
	{"on_reschedule_entry", "reschedule_entry", Group::Interrupts, "interrupt"},
	{"on_reschedule_exit", "reschedule_exit", Group::Interrupts, "interrupt"},
	{"on_call_function_single_entry", "call_function_single_entry", Group::Interrupts, "wakeup/ipi"},
	{"on_call_function_single_exit", "call_function_single_exit", Group::Interrupts, "wakeup/ipi"},
	{"on_call_function_entry", "call_function_entry", Group::Interrupts, "interrupt, wakeup/ipi"},
	{"on_call_function_exit", "call_function_exit", Group::Interrupts, "interrupt, wakeup/ipi"},
	{"on_irq_work_entry", "irq_work_entry", Group::Interrupts, "interrupt"},
	{"on_irq_work_exit", "irq_work_exit", Group::Interrupts, "interrupt"},
	{"on_nmi_handler", "nmi_handler", Group::Interrupts, "interrupt (NMI)"},
	{"on_sk_data_ready", "sk_data_ready", Group::SocketReady, "sender.kernel, network, queue (when a socket is ready)"},
	{"on_net_dev_queue", "net_dev_queue", Group::DeviceQueue, "network"},
	{"on_skb_copy_datagram_iovec", "skb_copy_datagram_iovec", Group::SocketTaken,
	 "propagation (when a poller took it)"},
}};

// Without these there is no breakdown at all.
constexpr bool is_essential(const Probe &probe)
{
	return probe.tracepoint == "sched_switch" || probe.tracepoint == "sched_waking" ||
		   probe.tracepoint == "sched_wakeup";
}

// Bit i stands for kProbes[i].
using ProbeSet = uint32_t;
static_assert(kProbes.size() <= 32);

constexpr ProbeSet bit(size_t probe) { return ProbeSet{1} << probe; }

// The probes that a cell's layers rest on.
ProbeSet needed_by(const rundir::Cell &cell);

} // namespace icepath::capture
