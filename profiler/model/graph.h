// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which sides of a cell send to which, and where they run. Any shape; star() makes those of the patterns.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace icepath::model {

// Where the sides of a cell are: in one process each, in one thread each of one process, or all in one thread, which
// sends and then receives by itself.
enum class Between : uint8_t { Processes, Threads, OneThread };

// The words of the command line, of reports and of the container, by the enum's value.
inline constexpr const char *kBetweenNames[] = {"processes", "threads", "one-thread"};
constexpr std::string_view name(Between between) { return kBetweenNames[static_cast<size_t>(between)]; }

// A thread that measures. Processes and threads are numbered within the cell; sides with the same thread number share a
// thread.
struct Side {
	uint32_t process = 0, thread = 0, cpu = 0;
	friend bool operator==(const Side &, const Side &) = default;
};

// Joins two sides: the one that sends first, and the one that receives this.
struct Channel {
	uint32_t begins = 0, receives = 1; // sides
	friend bool operator==(const Channel &, const Channel &) = default;
};

struct Flow {
	uint32_t from = 0, to = 1; // sides: those of the channel
	uint32_t channel = 0;
	friend bool operator==(const Flow &, const Flow &) = default;
};

struct Graph {
	std::vector<Side> sides; // those that begin a channel come first
	std::vector<Channel> channels;
	// For every channel the flow from the side that begins it, then, where the pattern answers, those in the other
	// direction.
	std::vector<Flow> flows;
	friend bool operator==(const Graph &, const Graph &) = default;
};

// One side joined with each other: one sender with its receivers, or one receiver with its senders. `cpus` has those of
// the senders, then those of the receivers; at least two.
Graph star(size_t senders, const std::vector<uint32_t> &cpus, Between between, bool is_answered);

Between between(const Graph &graph);
bool begins(const Graph &graph, size_t side); // whether the side begins a channel
size_t senders_of(const Graph &graph);
size_t receivers_of(const Graph &graph);

} // namespace icepath::model
