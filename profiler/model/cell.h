// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is measured: one target under one load, between sides that have their places.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/factors.h"
#include "profiler/model/graph.h"
#include "profiler/model/load.h"
#include "profiler/model/mechanism.h"
#include "profiler/model/qos.h"

namespace icepath::model {

// Where within a call, as a share of its time from its begin, a message gets into the queue and out of it: what `icepath
// calibrate` found of the target's calls on this machine. 0 to 1.
struct CallShares {
	double ready = 1; // of the sending call
	double taken = 1; // of the taking call
	friend bool operator==(const CallShares &, const CallShares &) = default;
};

// What CPUs that have nothing to do are up to while it is measured: cpuset::KeptAwake.
enum class IdleStates : uint8_t {
	Own, // what the machine has them do
	Held, // kept from states that take time to leave
};
inline constexpr const char *kIdleStatesNames[] = {"own", "held"};
inline std::string_view name(IdleStates states) { return kIdleStatesNames[static_cast<size_t>(states)]; }

inline constexpr const char *kTransport = "transport", *kAdapter = "adapter";

struct Cell {
	std::string target; // "uds-stream"
	std::string kind = kTransport; // or kAdapter
	std::string library; // "iceoryx 2.0.3"; empty: the kernel's
	Pattern pattern = Pattern::PingPong;
	Wait wait = Wait::Block;
	uint64_t payload_bytes = 64;
	uint32_t parts = 1; // that a message goes in, where the target's calls carry less than it
	// Of oneway, fanout and sparse, and of all senders of fanin together: throughput sends as fast as it can.
	std::optional<double> rate_hz;
	std::optional<RateLimits> limits; // max-rate only: each block has a rate of its own
	Mechanisms mechanisms; // the target's
	Traits traits; // likewise
	Qos qos; // asked for; the rest is the adapter's choice
	Qos granted; // what the connected ends have: icepath_plugin::granted; none: it isn't known
	Levels levels;
	IdleStates idle_states = IdleStates::Own;
	Graph graph = star(1, {0, 1}, Between::Processes, true); // of a pattern that answers; at least two sides
	std::optional<CallShares> calibrated; // only where a message goes in one call
};

inline size_t senders_of(const Cell &cell) { return senders_of(cell.graph); }
inline size_t receivers_of(const Cell &cell) { return receivers_of(cell.graph); }
inline bool begins(const Cell &cell, size_t side) { return begins(cell.graph, side); }
inline Between between(const Cell &cell) { return between(cell.graph); }

inline std::vector<uint32_t> cpus_by_side(const Cell &cell)
{
	std::vector<uint32_t> cpus;
	for (const Side &side : cell.graph.sides)
		cpus.push_back(side.cpu);
	return cpus;
}

// Of all sides, each once.
inline std::vector<uint32_t> cpus_of(const std::vector<Cell> &cells)
{
	std::set<uint32_t> cpus;
	for (const Cell &cell : cells)
		for (const Side &side : cell.graph.sides)
			cpus.insert(side.cpu);
	return {cpus.begin(), cpus.end()};
}

// Messages of one sender that are due in a second; nothing: each as soon as it can be sent.
inline std::optional<double> due_hz(const Cell &cell)
{
	if (cell.pattern == Pattern::Burst)
		return static_cast<double>(cell.levels.demand) * 1e9 / static_cast<double>(cell.levels.recovery_ns);
	return cell.rate_hz ? std::optional(*cell.rate_hz / static_cast<double>(senders_of(cell))) : std::nullopt;
}

// Whether its messages are due at set times.
inline bool is_paced(const Cell &cell) { return cell.limits || due_hz(cell); }

} // namespace icepath::model
