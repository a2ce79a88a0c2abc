// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages between icepath and the injecting process.
#include <array>
#include <cstdint>

namespace icepath::selftest {

struct InjectorRequest {
	enum class Kind : uint32_t {
		Ready, // only asks whether it is ready
		Awake, // asks whether CPUs are kept from deep idle
		Begin, // with the pidfds of the sender and the receiver, or none
		End,
	} kind;
	std::array<char, 32> name; // Begin: an injector's; empty: none
	uint32_t sender_cpu, receiver_cpu;
	uint32_t shielded, sender_awake; // Begin
};

struct InjectorReply {
	uint32_t failed;
	std::array<char, 384> why;
};

} // namespace icepath::selftest
