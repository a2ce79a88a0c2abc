// SPDX-License-Identifier: Apache-2.0
#pragma once
// A target as its plug-in described it, in icepath's types.
#include <cstdint>
#include <string>

#include "icepath/plugin.h"
#include "profiler/model/load.h"
#include "profiler/model/mechanism.h"

namespace icepath::targets {

using Waits = model::SetOf<model::Wait>;

struct Target {
	std::string plugin; // path of the shared object
	std::string name, summary, library_version;
	std::string plugin_version; // empty: unknown
	Waits waits;
	model::Mechanisms mechanisms;
	model::Traits traits;
	uint64_t max_payload_bytes = 0, max_part_bytes = 0;
	std::string max_payload_why, why_not;
	Waits fanin_waits; // empty without Trait::FanIn
	uint64_t fanin_max_bytes = 0; // see plugin.h
	uint32_t qos = 0; // bits 1u << icepath_qos_policy
	std::string daemon; // program of the daemon that the target needs; empty: none
	std::string why_no_daemon; // "isn't installed: Debian's package iceoryx brings it"
};

// The only mapping between icepath's enums and the bits of plugin.h. Unknown bits are ignored.
Waits waits_of(uint32_t icepath_wait_bits);
model::Mechanisms mechanisms_of(uint32_t icepath_mechanism_bits);
model::Traits traits_of(uint32_t icepath_capability_bits);
icepath_wait bit_of(model::Wait wait);

} // namespace icepath::targets
