// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who sends to whom in a cell, and where each of them is. Any shape; star() makes those of the patterns.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace icepath::model {

// Where the sides of a cell are: each a process of its own, each a thread of one process, or all of them in one thread,
// which sends and then receives by itself.
enum class Between : uint8_t { Processes, Threads, OneThread };

// The words of the command line, of reports and of the container, by the enum's value.
inline constexpr const char *kBetweenNames[] = {"processes", "threads", "one-thread"};
constexpr std::string_view name(Between between) { return kBetweenNames[static_cast<size_t>(between)]; }

// Who measures. Processes and threads have numbers of the cell's own; sides with the same thread are one thread.
struct Side {
	uint32_t process = 0, thread = 0, cpu = 0;
	friend bool operator==(const Side &, const Side &) = default;
};

// What joins two sides: who begins, and who receives what that sends.
struct Channel {
	uint32_t begins = 0, receives = 1; // sides
	friend bool operator==(const Channel &, const Channel &) = default;
};

// The messages along a channel in one direction.
struct Flow {
	uint32_t from = 0, to = 1; // sides: the channel's
	uint32_t channel = 0;
	friend bool operator==(const Flow &, const Flow &) = default;
};

struct Graph {
	std::vector<Side> sides; // first those that begin
	std::vector<Channel> channels;
	std::vector<Flow> flows; // of every channel the flow from who begins, then, where the pattern answers, those back
	friend bool operator==(const Graph &, const Graph &) = default;
};

// One side with each of the others: a sender with its receivers, or a receiver with its senders. `cpus`: of the senders, then of the
// receivers, of one of which there is one; at least two.
Graph star(size_t senders, const std::vector<uint32_t> &cpus, Between between, bool is_answered);

Between between(const Graph &graph);
bool begins(const Graph &graph, size_t side); // a channel
size_t senders_of(const Graph &graph);
size_t receivers_of(const Graph &graph);

} // namespace icepath::model
