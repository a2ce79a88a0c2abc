// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a run besides its blocks: the head of the container, written first.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/rundir/qos.h"

namespace icepath::rundir {

enum class Pattern : uint8_t { PingPong, OneWay, Throughput, Burst, FanOut, MaxRate, ReqRep, Sparse, FanIn };
enum class Wait : uint8_t { Block, Poll, Epoll, Spin };
// Where the sides of a cell are: each a process of its own, each a thread of one process, or all of them in one thread,
// which sends and then receives by itself.
enum class Between : uint8_t { Processes, Threads, OneThread };

// The words of the command line, of reports and of the container, by the enum's value.
inline constexpr const char *kPatternNames[] = {"pingpong", "oneway", "throughput", "burst", "fanout",
												"max-rate", "reqrep", "sparse",     "fanin"};
inline constexpr const char *kWaitNames[] = {"block", "poll", "epoll", "spin"};
inline constexpr const char *kBetweenNames[] = {"processes", "threads", "one-thread"};
constexpr std::string_view name(Pattern pattern) { return kPatternNames[static_cast<size_t>(pattern)]; }
constexpr std::string_view name(Wait wait) { return kWaitNames[static_cast<size_t>(wait)]; }
constexpr std::string_view name(Between between) { return kBetweenNames[static_cast<size_t>(between)]; }

// Whether the receiver answers each message before the next one is sent: message n of side 0 by messages n·r to n·r + r-1 of
// side 1, where r is Cell::responses.
constexpr bool is_answered(Pattern pattern) { return pattern == Pattern::PingPong || pattern == Pattern::ReqRep; }
// Whether the receiver looks again instead of sleeping.
constexpr bool never_sleeps(Wait wait) { return wait == Wait::Poll || wait == Wait::Spin; }

// A delay that is put into a cell on purpose, to prove that the breakdown finds it.
struct Injection {
	uint64_t sender_user_ns = 0; // busy work between `send` and the sending call
	uint64_t receiver_busy_ns = 0; // busy work after `recv`, before asking again
	bool any() const { return sender_user_ns != 0 || receiver_busy_ns != 0; }
};

// `demand` messages are due at once, and as many again each `recovery_ns`, whether the receiver has recovered or not.
struct Burst {
	uint32_t demand = 1; // at least 1
	uint64_t recovery_ns = 1e9; // above 0
	friend bool operator==(const Burst &, const Burst &) = default;
};

// What a rate must keep to in a block: no larger share of messages lost, and a p99 no longer, counted from the time at which
// each message was due: a sender that falls behind its schedule doesn't send at that rate.
struct RateLimits {
	double max_loss = 0; // 0 to below 1
	uint64_t max_p99_ns = 1'000'000; // above 0
	friend bool operator==(const RateLimits &, const RateLimits &) = default;
};

// Where within a call, as a share of its time from its begin, a message gets into the queue and out of it: what `icepath
// calibrate` found of the target's calls on this machine. 0 to 1.
struct CallShares {
	double ready = 1; // of the sending call
	double taken = 1; // of the taking call
	friend bool operator==(const CallShares &, const CallShares &) = default;
};

inline constexpr const char *kTransport = "transport", *kAdapter = "adapter";

struct Cell {
	std::string target; // "uds-stream"
	std::string kind = kTransport; // or kAdapter
	std::string library; // "iceoryx 2.0.3"; empty: the kernel's
	Pattern pattern = Pattern::PingPong;
	Wait wait = Wait::Block;
	Between between = Between::Processes;
	uint64_t payload_bytes = 64;
	uint32_t parts = 1; // that a message goes in, where the target's calls carry less than it
	// Of oneway, fanout and sparse, and of all senders of fanin together: throughput sends as fast as it can.
	std::optional<double> rate_hz;
	std::optional<Burst> burst; // burst only
	std::optional<RateLimits> limits; // max-rate only: each block has a rate of its own
	uint32_t mechanisms = 0; // icepath_mechanism bits of the target
	uint32_t capabilities = 0; // icepath_capability bits
	Qos qos; // asked for; the rest is the adapter's choice
	Qos granted; // what the connected ends have: icepath_plugin::granted; none: it isn't known
	uint32_t responses = 1; // to each message that is answered; above 0, and 1 in pingpong
	uint32_t idle_channels = 0; // open between the first two that exchange messages, and never used
	std::vector<uint32_t> cpus = {0, 1}; // of each side: the senders, then the receivers; at least two
	Injection injection;
	std::optional<CallShares> calibrated; // only where a message goes in one call
};

// Who measures: first those that begin (one, in a fan-in several), then those that receive (one, in a fan-out several). Each is
// a thread of its own, but for Between::OneThread, where two sides are one thread and have one CPU.
inline size_t sides_of(const Cell &cell) { return cell.cpus.size(); }
inline size_t senders_of(const Cell &cell) { return cell.pattern == Pattern::FanIn ? sides_of(cell) - 1 : 1; }
inline size_t receivers_of(const Cell &cell) { return sides_of(cell) - senders_of(cell); }
inline bool begins(const Cell &cell, size_t side) { return side < senders_of(cell); }

// Messages from one side to another. Two sides that exchange messages share a channel.
struct Flow {
	uint32_t from = 0, to = 1; // sides
	uint32_t channel = 0; // see sides_of_channel()
	friend bool operator==(const Flow &, const Flow &) = default;
};
inline size_t channels_of(const Cell &cell) { return sides_of(cell) - 1; }
// Who begins, and who receives: each sender with each receiver, of which one kind has one.
inline std::array<uint32_t, 2> sides_of_channel(const Cell &cell, uint32_t channel)
{
	const auto senders = static_cast<uint32_t>(senders_of(cell));
	return {channel % senders, senders + channel / senders};
}
// Of every channel the flow from who begins, then, where the pattern answers, those back. The order is that of a block's flows.
inline std::vector<Flow> flows_of(const Cell &cell)
{
	std::vector<Flow> flows;
	for (const bool back : {false, true})
		for (uint32_t channel = 0; channel < channels_of(cell) && (!back || is_answered(cell.pattern)); channel++) {
			const auto [begins, receives] = sides_of_channel(cell, channel);
			flows.push_back(back ? Flow{receives, begins, channel} : Flow{begins, receives, channel});
		}
	return flows;
}

// Messages of one sender that are due in a second; nothing: each as soon as it can be sent.
inline std::optional<double> due_hz(const Cell &cell)
{
	if (cell.burst)
		return cell.burst->demand * 1e9 / static_cast<double>(cell.burst->recovery_ns);
	return cell.rate_hz ? std::optional(*cell.rate_hz / static_cast<double>(senders_of(cell))) : std::nullopt;
}

// Whether its messages are due at set times.
inline bool is_paced(const Cell &cell) { return cell.limits || due_hz(cell); }

// A layer, and what it rests on in this run; `tier` is "tracepoint", "stamp", … or "none" with the reason in `probe`.
struct ProbeUse {
	std::string layer, probe, tier;
};

// How late a thread that slept on a CPU ran again, by a timer that was due, with nothing of the run going on: what a CPU that halts
// needs to come back is in every latency of who waits asleep, and differs between machines and between hours.
struct CpuWake {
	uint32_t cpu = 0;
	uint64_t p50_ns = 0, p90_ns = 0;
	friend bool operator==(const CpuWake &, const CpuWake &) = default;
};

// What a hypervisor took from the run's CPUs, all of them together, while blocks went on, by the kernel's account.
struct Steal {
	uint64_t ns = 0, of_ns = 0;
	friend bool operator==(const Steal &, const Steal &) = default;
};

// How long a cache line takes from one CPU to another and back, between two threads that spin, with nothing of the run going on.
// It is longer the less the CPUs share: a core, a cache, a socket. Where a hypervisor moves its CPUs it changes, and all latencies
// between them with it.
struct LineTime {
	uint64_t at_ns = 0, round_trip_ns = 0; // at: CLOCK_MONOTONIC
	friend bool operator==(const LineTime &, const LineTime &) = default;
};
struct CacheLine {
	uint32_t from_cpu = 0, to_cpu = 1;
	std::vector<LineTime> times = {}; // before the first block, now and then between blocks, and after the last
	friend bool operator==(const CacheLine &, const CacheLine &) = default;
};

// A row of /proc/interrupts, over the run's CPUs.
struct InterruptCount {
	std::string label, name; // "HYP", "Hypervisor callback interrupts"
	uint64_t count = 0;
	friend bool operator==(const InterruptCount &, const InterruptCount &) = default;
};

// Of the container: 2 has sides and flows of any number.
inline constexpr uint32_t kFormatVersion = 2;

struct Head {
	uint32_t format_version = kFormatVersion;
	std::string icepath_version;
	std::string command_line;
	std::string started_utc; // ISO 8601
	std::string host_json; // kernel, cpu model, clock source, mitigations …: free-form JSON object
	std::string isolation_json; // what was and wasn't isolated: free-form JSON object
	std::vector<ProbeUse> probes;
	std::vector<Cell> cells;
	double budget_s = 60;
	std::vector<CpuWake> wakes = {}; // of the run's CPUs, before the first block
};

// Written last; its absence marks a partial run.
struct Tail {
	std::string finished_utc;
	bool interrupted = false;
	uint32_t rounds = 0;
	std::vector<std::string> notices; // what the user must know: failed cells, loss, dropped storage
	std::vector<CpuWake> wakes = {}; // of the run's CPUs, after the last block
	std::optional<Steal> steal = {};
	// Of what no probe tells, from before the first block to after the last.
	std::vector<InterruptCount> untraced_interrupts = {};
	std::vector<CacheLine> cache_lines = {}; // from the run's first CPU to each of the others
	std::vector<uint32_t> failed_openings =
		{}; // by cell: fresh processes that weren't ready to measure; tried again or given up
};

} // namespace icepath::rundir
