// SPDX-License-Identifier: Apache-2.0
#pragma once
// Single messages with their paths: a cell's slowest, and those that were asked for.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/path/path.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

// A message with its path, and what it takes to explain it: one of the slowest with a complete path, or one that was
// asked for.
struct WorstMessage {
	path::Path path;
	uint32_t cell = 0, round = 0;
	uint64_t seq = 0;
	bool back = false; // pingpong: the answer, from side 1 to side 0
	std::map<uint32_t, std::string> task_names; // of its threads and culprits
	// By segment of the path: where its thread ran, or ran next. Nothing: no record tells.
	std::vector<std::optional<uint32_t>> cpus;
	uint64_t latency_ns() const { return path.recv_ns - path.send_ns; }
};

// Of a run of `icepath attach`: the tid of the thread that sent it, and when it did.
struct MessageName {
	uint32_t round = 0;
	uint64_t seq = 0;
	bool back = false; // the answer
};

// Without its name. `path`: of `seen`.
WorstMessage followed(const path::Path &path, const path::Observations &seen);

struct FollowedMessages {
	std::vector<WorstMessage> slowest; // with a complete path, the slowest first: at most kSlowest
	std::vector<WorstMessage> asked; // the deliveries of the name: several if it had several receivers

	static constexpr size_t kSlowest = 5;
	void add_slow(const resolve::ResolvedBlock &resolved, const model::Cell &cell);
	// A message of fanout has a delivery for each receiver.
	void add_asked(const resolve::ResolvedBlock &resolved, const model::Cell &cell, const MessageName &name);
	// The slowest message with a complete path; nullptr: there is none.
	const WorstMessage *worst() const { return slowest.empty() ? nullptr : &slowest.front(); }
};

} // namespace icepath::analysis
