// SPDX-License-Identifier: Apache-2.0
#pragma once
// What icepath and the process that injects say to each other.
#include <array>
#include <cstdint>

namespace icepath::selftest {

struct InjectorRequest {
	enum class Kind : uint32_t {
		Ready, // nothing but to say whether it is
		Awake, // whether CPUs are kept from deep idle
		Begin, // with the pidfds of the sender and the receiver, or nobody's
		End,
	} kind;
	std::array<char, 32> name; // Begin: of an injector; empty: none
	uint32_t sender_cpu, receiver_cpu;
	uint32_t shielded, sender_awake; // Begin
};

struct InjectorReply {
	uint32_t failed;
	std::array<char, 384> why;
};

} // namespace icepath::selftest
