// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages between icepath and its keeper. None has a path. The only values in them are limits, within bounds
// (tune.h).
#include <array>
#include <cstdint>

#include "profiler/isolation/tune.h"

namespace icepath::isolation {

inline constexpr size_t kMaxIsolatedCpus = 64; // as many as the root helper watches

inline constexpr size_t kMaxTunings = 8;

struct KeeperRequest {
	enum class Kind : uint32_t {
		PutBack, // undo Isolate, or the changes of a killed keeper; the texts say what couldn't be undone
		Isolate, // once, with the measured CPUs, or none after Tune; the texts are steps
		Admit, // with the pidfd of a worker, which is moved into the partition
		Look, // the texts are the changes of others since; `lost`: others may use the CPUs again
		Tune, // once, before Isolate, with limits to raise; the texts are steps
	} kind;
	uint32_t cpu_count;
	std::array<uint32_t, kMaxIsolatedCpus> cpus;
	uint32_t tuning_count, reserved;
	std::array<Tuning, kMaxTunings> tunings;
};

// A reply is one KeeperReply and as many more as that one says: at most so many in all.
inline constexpr size_t kMostReplies = 1000;

struct KeeperReply {
	int32_t exit_code; // not 0: it failed, and `text` says why
	uint32_t follow; // how many more there are
	uint32_t lost;
	uint32_t state; // of a step: cpuset::StepState
	std::array<char, 24> name; // of a step
	std::array<char, 480> text, remedy;
};

} // namespace icepath::isolation
