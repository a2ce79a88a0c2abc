// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delays of `icepath selftest`: what each is, in which cells it is injected, and where its time must be found. The
// only definition: the injectors, the matrix and the command take their names from here.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/layers.h"
#include "profiler/model/load.h"

namespace icepath::selftest {

// Delays that the workers inject themselves.
struct Delays {
	uint64_t sender_user_ns = 0, receiver_busy_ns = 0; // model::Levels
};

struct Burst {
	uint64_t demand = 1, recovery_ns = 1'000'000'000; // model::Levels
};

struct Landing {
	model::Layer layer;
	std::optional<model::Part> part{}; // none: the whole layer
};

// The traffic that is measured with and without the injection.
struct Traffic {
	const char *target;
	double rate_hz = 0; // per direction
	std::optional<Burst> burst{}; // instead of a rate
	const char *target_without = nullptr; // NULL: `target`
	// The workers run with SCHED_FIFO, so that only tasks of the kernel and of the injection take their CPUs.
	bool shielded = true;
	// A task that yields to all others keeps the sender's CPU from idling, with and without the injection.
	bool sender_awake = false;
};

struct Injection {
	const char *name;
	const char *what; // one line
	Traffic traffic;
	Delays without, with;
	std::vector<Landing> lands; // where the difference must be found
	// The culprit that must be named, as in reports; empty: none.
	const char *culprit = "";
	// Injected from outside, in its blocks, by the injector of its name (injector.h), instead of by the workers.
	bool from_outside = false;
	// A relay of the project's own stamps each message that it passes on (added_time.h).
	bool stamped_relay = false;
	// Why it may add nothing here; empty: it adds something wherever it is injected.
	const char *why_nothing = "";
	// The probe without which its messages' paths are unknown; empty: none.
	const char *needs_probe = "";
};

const std::vector<Injection> &injections();

inline constexpr const char *kDeepIdle = "deep-idle"; // the one during which CPUs aren't kept awake

// The named injections, in the table's order; all without names. Throws Failure(Usage) for an unknown name.
std::vector<const Injection *> injections_named(const std::vector<std::string> &names);

bool lands_in(const Injection &injection, model::Layer layer, model::Part part);
std::string text_of(const std::vector<Landing> &landings); // "runqueue, queue/preempted"

} // namespace icepath::selftest
