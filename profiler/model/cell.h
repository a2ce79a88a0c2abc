// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell: one target under one load, between sides with their places.
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

// When a message enters and leaves the queue, as a share (0 to 1) of the call's time from its begin: what `icepath
// calibrate` measured of the target's calls on this machine.
struct CallShares {
	double ready = 1; // of the sending call
	double taken = 1; // of the taking call
	friend bool operator==(const CallShares &, const CallShares &) = default;
};

// The state of idle CPUs while the cell is measured: cpuset::KeptAwake.
enum class IdleStates : uint8_t {
	Own, // as the machine has them
	Held, // kept from states that take time to leave
};
inline constexpr const char *kIdleStatesNames[] = {"own", "held"};
inline std::string_view name(IdleStates states) { return kIdleStatesNames[static_cast<size_t>(states)]; }

inline constexpr const char *kTransport = "transport", *kAdapter = "adapter";

// What a target can do besides what its cell does.
struct Offers {
	SetOf<Wait> waits; // in the cell's pattern
	uint32_t qos = 0; // bits 1u << icepath_qos_policy that may be asked for
	bool daemon = false; // it needs one
	friend bool operator==(const Offers &, const Offers &) = default;
};

struct Cell {
	std::string target; // "uds-stream"
	std::string arm = {}; // one of Head::arms; empty: the run has none
	std::string kind = kTransport; // or kAdapter
	std::string library; // "iceoryx 2.0.3"; empty for the kernel's transports
	std::string summary; // what the target is and how it is set up, by its plug-in; empty: not recorded
	Pattern pattern = Pattern::PingPong;
	Wait wait = Wait::Block;
	uint64_t payload_bytes = 64;
	uint32_t parts = 1; // pieces of a message, where one call of the target carries less than the message
	// Of oneway, fanout, sparse, and of all senders of fanin together. throughput has none: it sends as fast as it can.
	std::optional<double> rate_hz;
	std::optional<RateLimits> limits; // max-rate only; each of its blocks has its own rate
	Mechanisms mechanisms; // the target's
	Traits traits; // the target's
	std::optional<Offers> offers; // the target's; nothing: not recorded
	Qos qos; // as asked for; the adapter chooses the rest
	Qos granted; // of the connected ends, by icepath_plugin::granted; no value: not known
	Levels levels;
	IdleStates idle_states = IdleStates::Own;
	Graph graph = star(1, {0, 1}, Between::Processes, true); // default: of a pattern that answers. At least two sides
	std::optional<CallShares> calibrated; // only where a message fits one call
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

// The CPUs of all sides, ascending, each once.
inline std::vector<uint32_t> cpus_of(const std::vector<Cell> &cells)
{
	std::set<uint32_t> cpus;
	for (const Cell &cell : cells)
		for (const Side &side : cell.graph.sides)
			cpus.insert(side.cpu);
	return {cpus.begin(), cpus.end()};
}

// Rate at which one sender's messages are due. Nothing: each is sent as soon as possible.
inline std::optional<double> due_hz(const Cell &cell)
{
	if (cell.pattern == Pattern::Burst)
		return static_cast<double>(cell.levels.demand) * 1e9 / static_cast<double>(cell.levels.recovery_ns);
	return cell.rate_hz ? std::optional(*cell.rate_hz / static_cast<double>(senders_of(cell))) : std::nullopt;
}

inline bool is_paced(const Cell &cell) { return cell.limits || due_hz(cell); }

} // namespace icepath::model
