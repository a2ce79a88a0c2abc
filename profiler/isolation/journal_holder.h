// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process that holds the journal's lock: a keeper, or `icepath doctor --restore`. If it should restore the machine
// and can't, because it is stopped or frozen, whoever waits for the lock ends it and restores from the journal.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/channel.h"

namespace icepath::isolation {

struct Holder {
	pid_t pid = 0, parent = 0;
	std::string name;
	uint64_t switches = 0; // of contexts: it has run if they grow
};

// Found in /proc/locks. Nothing: no process of root's that is called so holds it, or it can't be seen here.
std::optional<Holder> holder_of(const Fd &journal);

// Ends the process if it holds the lock still; also one that is stopped, or in a frozen control group. It may take
// until after this returns.
void end_holder(const Fd &journal, pid_t holder);

} // namespace icepath::isolation
