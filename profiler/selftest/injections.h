// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delays that `icepath selftest` knows: what each is, in which cells it is put, and where its time must be found. The one
// definition: the injectors, the matrix and the command take their names from here.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/layers.h"
#include "profiler/model/load.h"

namespace icepath::selftest {

// What the workers put in themselves.
struct Delays {
	uint64_t sender_user_ns = 0, receiver_busy_ns = 0; // model::Levels
};

struct Burst {
	uint64_t demand = 1, recovery_ns = 1'000'000'000; // model::Levels
};

struct Landing {
	model::Layer layer;
	std::optional<model::Part> part{}; // none: all of the layer
};

// What is measured with it and without it.
struct Traffic {
	const char *target;
	double rate_hz = 0; // one way
	std::optional<Burst> burst{}; // instead
	const char *target_without = nullptr; // the same one
	// Its workers run by SCHED_FIFO, so that no task but those of the kernel and of the injection takes their CPUs.
	bool shielded = true;
	// A task that gives way to all others keeps the sender's CPU from idling, without the injection and with it.
	bool sender_awake = false;
};

struct Injection {
	const char *name;
	const char *what; // one line
	Traffic traffic;
	Delays without, with;
	std::vector<Landing> lands; // where the difference must be found
	// Who must be named for it, as reports name culprits; empty: nobody is to blame.
	const char *culprit = "";
	// Whether, instead, the injector of its name (injector.h) puts it into the blocks with it.
	bool from_outside = false;
	// Whether a relay of the project's own stamps each message that it hands on (relay_stamps.h).
	bool stamped_relay = false;
	// Why it may add nothing here; empty: where it is put in, it adds something.
	const char *why_nothing = "";
	// The probe without which no path of its messages can be told; empty: none.
	const char *needs_probe = "";
};

const std::vector<Injection> &injections();

inline constexpr const char *kDeepIdle = "deep-idle"; // the one that CPUs aren't kept awake for

// Those of the names, in the table's order; all of them without names. Throws Failure(Usage) where there is no such name.
std::vector<const Injection *> injections_named(const std::vector<std::string> &names);

bool lands_in(const Injection &injection, model::Layer layer, model::Part part);
std::string text_of(const std::vector<Landing> &landings); // "runqueue, queue/preempted"

} // namespace icepath::selftest
