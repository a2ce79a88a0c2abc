// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is measured: one target under one load, between sides that have their places.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/load.h"
#include "profiler/model/qos.h"

namespace icepath::model {

// Where the sides of a cell are: each a process of its own, each a thread of one process, or all of them in one thread,
// which sends and then receives by itself.
enum class Between : uint8_t { Processes, Threads, OneThread };

// The words of the command line, of reports and of the container, by the enum's value.
inline constexpr const char *kBetweenNames[] = {"processes", "threads", "one-thread"};
constexpr std::string_view name(Between between) { return kBetweenNames[static_cast<size_t>(between)]; }

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

// Of all sides, each once.
inline std::vector<uint32_t> cpus_of(const std::vector<Cell> &cells)
{
	std::set<uint32_t> cpus;
	for (const Cell &cell : cells)
		cpus.insert(cell.cpus.begin(), cell.cpus.end());
	return {cpus.begin(), cpus.end()};
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

} // namespace icepath::model
