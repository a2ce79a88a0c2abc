// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine that a run was made on, and what was isolated of it.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace icepath::model {

// A missing value or an empty text wasn't recorded.
struct Host {
	std::string hostname, kernel, kernel_version, machine; // uname(2)
	std::string cpu_model, clocksource;
	std::string user; // who ran icepath
	std::optional<uint64_t> cpus_online, memory_bytes;
	std::optional<bool> preempt_rt, hypervisor;
	std::optional<bool> nohz_full; // the kernel can stop the tick of busy CPUs (CONFIG_NO_HZ_FULL), if booted so
	std::optional<bool> plain_root; // root without an invoking user
	// Whether sides could run under SCHED_FIFO, if asked to; and those of middleware, which has a user namespace.
	std::optional<bool> fifo, fifo_of_middleware;
	// Weaknesses of the CPU, and what the kernel does about each; without those that the CPU doesn't have.
	std::vector<std::pair<std::string, std::string>> mitigations;
	friend bool operator==(const Host &, const Host &) = default;
};

// As cpuset::Level and cpuset::StepState.
enum class IsolationLevel : uint8_t { None, Soft, Full };
inline constexpr const char *kIsolationLevelNames[] = {"none", "soft", "full"};
enum class IsolationState : uint8_t { Done, AlreadySo, NotPossible, Left };
inline constexpr const char *kIsolationStateNames[] = {"done", "already_so", "not_possible", "left"};

// As cpuset::Step.
struct IsolationStep {
	std::string name;
	IsolationState state = IsolationState::Left;
	std::string found, remedy;
	friend bool operator==(const IsolationStep &, const IsolationStep &) = default;
};

// Something that may disturb a run, as cpuset::IsolationItem.
struct Disturbance {
	std::string name;
	bool quiet = false; // it can't disturb
	std::string found, effect, remedy;
	friend bool operator==(const Disturbance &, const Disturbance &) = default;
};

struct Isolation {
	std::optional<uint32_t> sender_cpu, receiver_cpu;
	std::string housekeeping_cpus, daemon_cpus; // "0-3,5"
	std::string why; // why these CPUs were taken
	std::optional<IsolationLevel> level; // nothing, and no steps: the run doesn't tell
	std::vector<IsolationStep> steps;
	std::optional<std::vector<Disturbance>> items; // nothing: not looked for
	friend bool operator==(const Isolation &, const Isolation &) = default;
};

} // namespace icepath::model
