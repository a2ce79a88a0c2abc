// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a process with some of root's rights does to a cell from outside. All of it ends with the object, and with the
// process however that ends. One exception: before Linux 6.6, a device's filter stays until its network namespace, the
// workers' own, ends.
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace icepath::selftest {

struct Tools;

struct Subject {
	uint32_t sender_cpu = 0, receiver_cpu = 0;
	pid_t receiver = 0; // its process; 0 in a trial
	int receiver_pidfd = -1; // the same process; the caller's
	Tools *tools = nullptr; // never NULL
};

// The priority of shielded workers, with SCHED_FIFO.
inline constexpr int kShieldPriority = 1;

class Effect {
public:
	Effect() = default;
	virtual ~Effect() = default;
	Effect(const Effect &) = delete;
	Effect &operator=(const Effect &) = delete;
};

// Starts the named injection (Injection::from_outside), which lasts as long as the returned object. Throws
// Failure(MachineCannot) with the reason if this machine doesn't allow it, Failure(Internal) for an unknown name.
std::unique_ptr<Effect> put_in(std::string_view name, const Subject &subject);

} // namespace icepath::selftest
