// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is done to a cell from outside, by a process with some of root's rights. All of it ends with the object, and with the process
// however that one ends. One exception: before Linux 6.6 a filter of a device's stays until its network namespace, the workers' own, ends.
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace icepath::selftest {

struct Tools;

struct Subject {
	uint32_t sender_cpu = 0, receiver_cpu = 0;
	pid_t receiver = 0; // its process; 0 where it is only tried whether it can be done
	int receiver_pidfd = -1; // the same process; the caller's
	Tools *tools = nullptr; // never null
};

// Of the workers that nobody else shall disturb, by SCHED_FIFO.
inline constexpr int kShieldPriority = 1;

class Effect {
public:
	Effect() = default;
	virtual ~Effect() = default;
	Effect(const Effect &) = delete;
	Effect &operator=(const Effect &) = delete;
};

// One that is known by its name (Injection::from_outside) is put in, and lasts as long as what is returned. Throws
// Failure(MachineCannot) with the reason where this machine doesn't let it be, Failure(Internal) without one of that name.
std::unique_ptr<Effect> put_in(std::string_view name, const Subject &subject);

} // namespace icepath::selftest
