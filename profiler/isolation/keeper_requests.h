// SPDX-License-Identifier: Apache-2.0
#pragma once
// What icepath and its keeper say to each other: no path and no value of a knob.
#include <array>
#include <cstdint>

namespace icepath::isolation {

inline constexpr size_t kMaxIsolatedCpus = 64; // as many as the root helper watches

struct KeeperRequest {
	enum class Kind : uint32_t {
		PutBack, // what a killed one has left, or what Isolate has done: the texts say what couldn't be
		Isolate, // once; the CPUs on which the run measures. The texts are steps
		Admit, // with the pidfd of a worker, which goes where others are kept out
		Look, // the texts are what others have changed since; `lost`: the CPUs aren't the run's alone any more
	} kind;
	uint32_t cpu_count;
	std::array<uint32_t, kMaxIsolatedCpus> cpus;
};

// A reply is as many of these as the first one counts.
struct KeeperReply {
	int32_t exit_code; // not 0: it failed, and `text` says why
	uint32_t follow; // how many more there are
	uint32_t lost;
	uint32_t state; // of a step: cpuset::StepState
	std::array<char, 24> name; // of a step
	std::array<char, 480> text, remedy;
};

} // namespace icepath::isolation
