// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of probes: the layers that rest on each, the cells that need it, and its candidates. Only here are the
// programs of ebpf/capture.bpf.c named.
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/model/cell.h"
#include "profiler/model/layers.h"

namespace icepath::capture {

// The kinds of probes, in the order of icepath_tier, which records have. Tracepoints are stable; functions may be
// renamed or inlined.
enum class Tier : uint8_t { Tracepoint, Fentry, Kprobe };
inline constexpr const char *kTierNames[] = {"tracepoint", "fentry", "kprobe"};
constexpr std::string_view name(Tier tier) { return kTierNames[static_cast<size_t>(tier)]; }

// Why a cell needs a probe. Each probe is in one group; a cell attaches whole groups.
enum class Group : uint8_t {
	Scheduling, // every probed cell: which threads slept, what woke them, what had the CPU
	Interrupts, // every probed cell: what interrupted running threads, and the context of a waking
	SocketReady,
	DeviceQueue,
	SocketTaken, // only if a receiver polls: it may take a message before sk_data_ready is called
	LocalQueue, // messages get into the receive queues of UNIX sockets
	TcpQueue,
	Packets, // whether a softirq handles packets
	TcpPackets, // whose, of TCP
	UdpTaken, // if a receiver polls, as SocketTaken
	PipeQueue,
	MessageQueue, // POSIX
	MessageTaken,
	Streams, // where in its stream a running program's call ends
	Calls, // of a library, whose plug-in can't stamp them
	Threads, // of followed processes: attached while there are any, also between blocks
	Blocking, // every probed cell: what a thread slept for that wasn't a message
};

// One way to attach a probe.
struct Candidate {
	Tier tier = Tier::Tracepoint;
	std::string_view program; // function in capture.bpf.c
	std::string_view target; // tracepoint, without the "btf_trace_" of its BTF type, or kernel function
	std::string_view second = {}; // a program that does what the first one was skipped for; empty: none
	// Programs at further functions, each of them where this kernel has it; empty ones: none.
	std::array<std::string_view, 3> beside = {};
	bool operator==(const Candidate &) const = default;
};

inline constexpr size_t kMostCandidates = 4;
using Candidates = std::array<Candidate, kMostCandidates>; // by preference; an entry without a program ends it

using model::Layer;
using model::Part;

// A layer or a part of it.
struct Use {
	Layer layer{};
	Part part = Part::None; // None: the whole layer
	friend constexpr bool operator==(const Use &, const Use &) = default;
};

// What rests on a probe.
struct Uses {
	static constexpr size_t kMost = 5;
	constexpr Uses(std::initializer_list<Use> of, std::string_view when = "") : count(of.size()), note(when)
	{
		std::ranges::copy(of, all.begin());
	}
	std::array<Use, kMost> all{};
	size_t count;
	std::string_view note; // the condition: "when a pipe has it"; empty: always
	// "sender.kernel, network/notify (when a pipe has it)"
	std::string text() const;
	// How it serves a layer: a part ("notify"), the note, or "" for the whole layer. Nothing if it doesn't.
	std::optional<std::string_view> of(Layer layer) const;
	friend constexpr bool operator==(const Uses &, const Uses &) = default;
};

struct Probe {
	std::string_view name; // stable: its tracepoint or, without one, its function
	Group group;
	Uses uses; // what depends on it
	std::string_view instead; // the less exact evidence used if no candidate works
	Candidates candidates;
};

inline constexpr std::string_view kNothingInstead = "nothing"; // what depends on it is absent
inline constexpr std::string_view kCallsInstead = "the waking, if the receiver slept, or else inferred: after the "
												  "sending call began, and no later than it or the taking "
												  "call came back";
inline constexpr std::string_view kAnnouncementInstead = "its announcement (sk_data_ready), which comes later";
inline constexpr std::string_view kReturnInstead = "the call's return";
inline constexpr std::string_view kBlockedInstead = "blocked, without a part";
inline constexpr std::string_view kInterruptInstead = "nothing: such a softirq counts as an interrupt";
inline constexpr std::string_view kSocketsInstead = "nothing: `icepath attach` refuses to watch programs";
inline constexpr std::string_view kTickInstead = "nothing: timers that aren't known otherwise count as the tick";
inline constexpr std::string_view kUserInstead = "nothing: all of the library's calls counts as the user's";

// With the tracepoint of its name as its only candidate.
constexpr Probe on_tracepoint(std::string_view program, std::string_view tracepoint, Group group, Uses uses)
{
	return {tracepoint, group, uses, kNothingInstead, {Candidate{Tier::Tracepoint, program, tracepoint}}};
}

// On a kernel function.
constexpr Probe on_function(std::string_view function, std::string_view fentry, std::string_view kprobe, Group group,
							Uses uses, std::string_view instead)
{
	return {function,
			group,
			uses,
			instead,
			{Candidate{Tier::Fentry, fentry, function}, Candidate{Tier::Kprobe, kprobe, function}}};
}

// On what a thread was doing as it went to sleep.
constexpr Probe on_blocking(std::string_view program, std::string_view tracepoint, Uses uses)
{
	return {tracepoint, Group::Blocking, uses, kBlockedInstead, {Candidate{Tier::Tracepoint, program, tracepoint}}};
}

inline constexpr std::array<Probe, 47> kProbes = {{
	on_tracepoint("on_sched_waking", "sched_waking", Group::Scheduling,
				  Uses{{{Layer::Wakeup},
						{Layer::SenderKernel, Part::Notify},
						{Layer::Network, Part::Notify},
						{Layer::RelayUser},
						{Layer::RelayKernel}}}),
	on_tracepoint("on_sched_wakeup", "sched_wakeup", Group::Scheduling, Uses{{{Layer::Wakeup}, {Layer::Runqueue}}}),
	on_tracepoint("on_sched_switch", "sched_switch", Group::Scheduling,
				  Uses{{{Layer::Runqueue}, {Layer::Preempted}, {Layer::Blocked}}}),
	on_tracepoint("on_sched_exit", "sched_exit_tp", Group::Scheduling,
				  Uses{{{Layer::Runqueue}, {Layer::Preempted}}, "after a task that the kernel hides"}),
	on_tracepoint("on_sched_migrate_task", "sched_migrate_task", Group::Scheduling,
				  Uses{{{Layer::Interrupt}}, "which CPU a thread ran on"}),
	on_tracepoint("on_cpu_idle", "cpu_idle", Group::Scheduling, Uses{{{Layer::Wakeup, Part::IdleExit}}}),
	on_tracepoint("on_softirq_entry", "softirq_entry", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_softirq_exit", "softirq_exit", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_irq_handler_entry", "irq_handler_entry", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_irq_handler_exit", "irq_handler_exit", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_local_timer_entry", "local_timer_entry", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_local_timer_exit", "local_timer_exit", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_reschedule_entry", "reschedule_entry", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_reschedule_exit", "reschedule_exit", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_call_function_single_entry", "call_function_single_entry", Group::Interrupts,
				  Uses{{{Layer::Wakeup, Part::Ipi}}}),
	on_tracepoint("on_call_function_single_exit", "call_function_single_exit", Group::Interrupts,
				  Uses{{{Layer::Wakeup, Part::Ipi}}}),
	on_tracepoint("on_call_function_entry", "call_function_entry", Group::Interrupts,
				  Uses{{{Layer::Interrupt}, {Layer::Wakeup, Part::Ipi}}}),
	on_tracepoint("on_call_function_exit", "call_function_exit", Group::Interrupts,
				  Uses{{{Layer::Interrupt}, {Layer::Wakeup, Part::Ipi}}}),
	on_tracepoint("on_irq_work_entry", "irq_work_entry", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_irq_work_exit", "irq_work_exit", Group::Interrupts, Uses{{{Layer::Interrupt}}}),
	on_tracepoint("on_nmi_handler", "nmi_handler", Group::Interrupts, Uses{{{Layer::Interrupt}}, "NMI"}),
	{"sk_data_ready",
	 Group::SocketReady,
	 Uses{{{Layer::SenderKernel}, {Layer::RelayKernel}, {Layer::Network}, {Layer::Queue}}, "when a socket is ready"},
	 kCallsInstead,
	 {Candidate{Tier::Tracepoint, "on_sk_data_ready", "sk_data_ready", "after_sk_data_ready"},
	  Candidate{Tier::Fentry, "fentry_sock_def_readable", "sock_def_readable"},
	  Candidate{Tier::Kprobe, "kprobe_sock_def_readable", "sock_def_readable"}}},
	on_tracepoint("on_net_dev_queue", "net_dev_queue", Group::DeviceQueue, Uses{{{Layer::Network}}}),
	{"skb_copy_datagram_iovec",
	 Group::SocketTaken,
	 Uses{{{Layer::Propagation}}, "when a poller took it"},
	 kReturnInstead,
	 {Candidate{Tier::Tracepoint, "on_skb_copy_datagram_iovec", "skb_copy_datagram_iovec"},
	  Candidate{Tier::Fentry, "fentry_skb_copy_datagram_iter", "skb_copy_datagram_iter"},
	  Candidate{Tier::Kprobe, "kprobe_skb_copy_datagram_iter", "skb_copy_datagram_iter"}}},
	on_function("skb_queue_tail", "fentry_skb_queue_tail", "kprobe_skb_queue_tail", Group::LocalQueue,
				Uses{{{Layer::SenderKernel}, {Layer::Queue}, {Layer::Propagation}}, "when a UNIX socket has it"},
				kAnnouncementInstead),
	on_function("tcp_queue_rcv", "fentry_tcp_queue_rcv", "kprobe_tcp_queue_rcv", Group::TcpQueue,
				Uses{{{Layer::Network}, {Layer::Queue}, {Layer::Propagation}}, "when a TCP socket has it"},
				kAnnouncementInstead),
	on_function("__skb_recv_udp", "fexit_skb_recv_udp", "kretprobe_skb_recv_udp", Group::UdpTaken,
				Uses{{{Layer::Propagation}}, "when a poller took a datagram"}, kReturnInstead),
	{"pipe_write",
	 Group::PipeQueue,
	 Uses{{{Layer::SenderKernel}, {Layer::Queue}}, "when a pipe has it"},
	 kCallsInstead,
	 {Candidate{Tier::Fentry, "fentry_pipe_write", "pipe_write"},
	  Candidate{Tier::Fentry, "fentry_anon_pipe_write", "anon_pipe_write"},
	  Candidate{Tier::Kprobe, "kprobe_pipe_write", "pipe_write"},
	  Candidate{Tier::Kprobe, "kprobe_anon_pipe_write", "anon_pipe_write"}}},
	on_function("mutex_unlock", "fentry_mutex_unlock", "kprobe_mutex_unlock", Group::PipeQueue,
				Uses{{{Layer::SenderKernel}, {Layer::Queue}}, "when a pipe has it"}, kCallsInstead),
	on_function("msg_insert", "fentry_msg_insert", "kprobe_msg_insert", Group::MessageQueue,
				Uses{{{Layer::SenderKernel}, {Layer::Queue}}, "when a message queue has it"}, kCallsInstead),
	on_function("wake_q_add_safe", "fentry_wake_q_add_safe", "kprobe_wake_q_add_safe", Group::MessageQueue,
				Uses{{{Layer::SenderKernel}}, "when a sleeping receiver of a message queue has it"}, kCallsInstead),
	on_function("store_msg", "fentry_store_msg", "kprobe_store_msg", Group::MessageTaken,
				Uses{{{Layer::Propagation}}, "when a poller took it from a message queue"}, kReturnInstead),
	{"sys_enter",
	 Group::Calls,
	 Uses{{{Layer::SenderKernel}, {Layer::ReceiverKernel}}, "of a library's calls"},
	 kUserInstead,
	 {Candidate{Tier::Tracepoint, "on_sys_enter", "sys_enter"}}},
	{"sys_exit",
	 Group::Calls,
	 Uses{{{Layer::SenderKernel}, {Layer::ReceiverKernel}}, "of a library's calls"},
	 kUserInstead,
	 {Candidate{Tier::Tracepoint, "on_sys_exit", "sys_exit"}}},
	{"sock_send_length",
	 Group::Streams,
	 Uses{{{Layer::SenderKernel}, {Layer::Queue}}, "of running programs, by positions in streams"},
	 kSocketsInstead,
	 {Candidate{Tier::Tracepoint, "on_sock_send_length", "sock_send_length"},
	  Candidate{Tier::Fentry,
				"fexit_unix_stream_sendmsg",
				"unix_stream_sendmsg",
				{},
				{"fexit_tcp_sendmsg", "fexit_unix_stream_sendpage", "fexit_tcp_sendpage"}}}},
	{"sock_recv_length",
	 Group::Streams,
	 Uses{{{Layer::ReceiverKernel}, {Layer::Queue}}, "of running programs, by positions in streams"},
	 kSocketsInstead,
	 {Candidate{Tier::Tracepoint, "on_sock_recv_length", "sock_recv_length"},
	  Candidate{Tier::Fentry, "fexit_unix_stream_recvmsg", "unix_stream_recvmsg", {}, {"fexit_tcp_recvmsg"}}}},
	{"hrtimer_expire_entry",
	 Group::Interrupts,
	 Uses{{{Layer::Interrupt}}, "which timer it is"},
	 kTickInstead,
	 {Candidate{Tier::Tracepoint, "on_hrtimer_expire_entry", "hrtimer_expire_entry"}}},
	{"timer_expire_entry",
	 Group::Interrupts,
	 Uses{{{Layer::Interrupt}}, "which timers a softirq ran"},
	 kTickInstead,
	 {Candidate{Tier::Tracepoint, "on_timer_expire_entry", "timer_expire_entry"}}},
	{"netif_receive_skb",
	 Group::Packets,
	 Uses{{{Layer::SenderKernel, Part::Softirq},
		   {Layer::RelayKernel, Part::Softirq},
		   {Layer::ReceiverKernel, Part::Softirq}},
		  "packets that they handle"},
	 kInterruptInstead,
	 {Candidate{Tier::Tracepoint, "on_netif_receive_skb", "netif_receive_skb"}}},
	{"tcp_probe",
	 Group::TcpPackets,
	 Uses{{{Layer::SenderKernel, Part::Softirq},
		   {Layer::RelayKernel, Part::Softirq},
		   {Layer::ReceiverKernel, Part::Softirq}},
		  "TCP's acknowledgements"},
	 kInterruptInstead,
	 {Candidate{Tier::Tracepoint, "on_tcp_probe", "tcp_probe"}}},
	on_tracepoint("on_task_newtask", "task_newtask", Group::Threads,
				  Uses{{{Layer::RelayUser}, {Layer::RelayKernel}}, "threads of libraries and daemons"}),
	on_blocking("on_page_fault_user", "page_fault_user", Uses{{{Layer::Blocked, Part::Fault}}}),
	on_blocking("on_page_fault_kernel", "page_fault_kernel", Uses{{{Layer::Blocked, Part::Fault}}}),
	on_blocking("on_mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_begin",
				Uses{{{Layer::Blocked, Part::Reclaim}}}),
	on_blocking("on_mm_vmscan_direct_reclaim_end", "mm_vmscan_direct_reclaim_end",
				Uses{{{Layer::Blocked, Part::Reclaim}}}),
	on_blocking("on_mm_vmscan_memcg_reclaim_begin", "mm_vmscan_memcg_reclaim_begin",
				Uses{{{Layer::Blocked, Part::Reclaim}}}),
	on_blocking("on_mm_vmscan_memcg_reclaim_end", "mm_vmscan_memcg_reclaim_end",
				Uses{{{Layer::Blocked, Part::Reclaim}}}),
}};

// Index in kProbes; kProbes.size() if there is no such name.
constexpr size_t number_of(std::string_view probe)
{
	size_t number = 0;
	while (number < kProbes.size() && kProbes[number].name != probe)
		number++;
	return number;
}

// Without these there is no breakdown.
constexpr bool is_essential(const Probe &probe)
{
	return probe.name == "sched_switch" || probe.name == "sched_waking" || probe.name == "sched_wakeup";
}

// Whether a skipped run of its program affects that instant only. The others keep state for later runs, of a task, a
// CPU or a thread to follow, so later records may be wrong as well. A waking is also kept, until its task's switch-in,
// but that record has the waking's time, which reveals it (decode/decode.cc).
constexpr bool is_of_an_instant(const Probe &probe)
{
	return probe.group == Group::SocketReady || probe.group == Group::SocketTaken || probe.group == Group::LocalQueue ||
		   probe.group == Group::TcpQueue || probe.name == "sched_waking" || probe.name == "sched_wakeup";
}

// The candidates of a probe in the order of trying. A forced tier puts its own candidates first and drops all others
// but the tracepoint; nothing if neither exists.
Candidates in_order(const Probe &probe, std::optional<Tier> forced);

// Bit i is kProbes[i].
using ProbeSet = uint64_t;
static_assert(kProbes.size() <= 64);

constexpr ProbeSet bit(size_t probe) { return ProbeSet{1} << probe; }

// The probes on which a cell's layers rest.
ProbeSet needed_by(const model::Cell &cell);
ProbeSet needed_by_running_programs(); // that may talk over anything

} // namespace icepath::capture
