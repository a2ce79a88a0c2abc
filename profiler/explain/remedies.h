// SPDX-License-Identifier: Apache-2.0
#pragma once
// What would help against the time that a difference is made of: one table from causes to what can be changed, each
// with the targets, waits, kernels and machines that it applies to. text/remedy_words.h words them.
//
// A new remedy or way takes an id and a row here, its words there, and its name in docs/explain-schema.json.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/model/cell.h"
#include "profiler/model/run.h"

namespace icepath::explain {

// What takes the time. Files have the names: none is ever changed.
enum class RemedyId : uint8_t {
	OwnCode,
	OwnTimer,
	Tick,
	DeepIdle,
	OwnThread,
	Task,
	OtherTarget,
	SharedCpu,
	DeviceInterrupt,
	Softirq,
	Throttled,
	Nagle,
	HeldByWindow,
	FullQueue,
	BusyReceiver,
	SpuriousWakeup,
	PageFault,
	Lock,
	Waking,
	// Of what isn't explained: what would tell more.
	Unknown, // no record shows who had the CPU
	ByChance, // causes that may be there by chance
	NoCause,
	Count
};
inline constexpr std::array<std::string_view, static_cast<size_t>(RemedyId::Count)> kRemedyNames = {
	"own_code",      "own_timer",        "tick",       "deep_idle", "own_thread", "task",           "other_target",
	"shared_cpu",    "device_interrupt", "softirq",    "throttled", "nagle",      "held_by_window", "full_queue",
	"busy_receiver", "spurious_wakeup",  "page_fault", "lock",      "waking",     "unknown",        "by_chance",
	"no_cause"};
constexpr std::string_view name_of(RemedyId id) { return kRemedyNames.at(static_cast<size_t>(id)); }

// What can be changed, or what says more. Files have the names: none is ever changed.
enum class Way : uint8_t {
	SampleStacks, // --stacks
	ReadStacks, // the run has them
	HandleInCallback, // -w callback
	WaitByEpoll,
	WaitByPoll,
	WaitBySpin,
	FreeLibraryThreads,
	FreeDaemon, // --daemon-cpus
	Isolate, // --isolate full
	ReadFifo, // the run has the same cell by --sched fifo
	RunFifo, // --sched fifo
	TakeOtherCpus, // --cpus
	StopThem, // the tasks, for the time of the run
	TakeCpuForEach, // --cpus, one for each side
	MeasureAlone, // without other targets
	MoveInterrupts, // smp_affinity_list
	StopTick, // nohz_full=, rcu_nocbs=
	HoldAwake, // /dev/cpu_dma_latency
	RaiseQuota, // cpu.max
	SetNoDelay, // TCP_NODELAY
	ChangeCongestionControl,
	DeepenQueue, // --qos depth=
	EnlargeSendBuffer, // SO_SNDBUF
	LengthenUnixQueue, // net.unix.max_dgram_qlen
	EnlargeTcpBuffers,
	EnlargePipe,
	LowerRate, // --rate
	SpeedUpReceiver,
	UseDatagrams, // uds-dgram in place of uds-stream
	LockMemory, // mlockall()
	ReadReleaser, // report -v names who released a lock
	OwnMachine, // without a hypervisor
	MeasureLonger, // -d
	Count
};
inline constexpr std::array<std::string_view, static_cast<size_t>(Way::Count)> kWayNames = {"sample_stacks",
																							"read_stacks",
																							"handle_in_callback",
																							"wait_by_epoll",
																							"wait_by_poll",
																							"wait_by_spin",
																							"free_library_threads",
																							"free_daemon",
																							"isolate",
																							"read_fifo",
																							"run_fifo",
																							"take_other_cpus",
																							"stop_them",
																							"take_cpu_for_each",
																							"measure_alone",
																							"move_interrupts",
																							"stop_tick",
																							"hold_awake",
																							"raise_quota",
																							"set_nodelay",
																							"change_congestion_control",
																							"deepen_queue",
																							"enlarge_send_buffer",
																							"lengthen_unix_queue",
																							"enlarge_tcp_buffers",
																							"enlarge_pipe",
																							"lower_rate",
																							"speed_up_receiver",
																							"use_datagrams",
																							"lock_memory",
																							"read_releaser",
																							"own_machine",
																							"measure_longer"};
constexpr std::string_view name_of(Way way) { return kWayNames.at(static_cast<size_t>(way)); }

struct Symptoms {
	const Difference &difference;
	const std::vector<Cause> &causes; // of the same messages
	const model::Cell &cell; // that has the time
	const model::Head &head; // of the run: what its kernel and machine have
	bool has_stacks = false; // of the cell
	bool no_delay = false; // all its TCP sockets had TCP_NODELAY
	double of_probes_ns = 0; // what probes may add to the difference, at most. Which rows have it isn't known
};

// Names of causes, the greatest first.
struct CauseNames {
	std::vector<std::string> names; // some of them
	size_t more = 0;
	bool told = true; // false: all together are told, and not which
	std::vector<std::string> told_names = {}; // but for these
};
// Of causes in the order of their growth.
CauseNames some_names_of(const std::vector<Cause> &causes);

struct Remedy {
	RemedyId id = RemedyId::OwnCode;
	double share = 0, ns = 0; // of the difference
	std::vector<Way> ways = {}; // any of them; empty: nothing of the target's or the machine's shortens it
	CauseNames of = {}; // whose time it is; empty where it isn't of named causes
	std::optional<double> needed_s = {}; // of Way::MeasureLonger: how long a run tells
};

// Remedies only for what takes a tenth of the difference or more, or is known to cost more than its share, told from
// zero. The greatest first. Ways that the target or the machine can't have, as far as the run says, are left out, and
// remedies that need one and have none.
std::vector<Remedy> remedies_of(const Symptoms &symptoms);

// Of a cell of a run.
std::vector<Remedy> remedies_of(const Difference &difference, const std::vector<Cause> &causes,
								const analysis::CellResult &cell, const model::Head &head, double of_probes_ns = 0);

} // namespace icepath::explain
