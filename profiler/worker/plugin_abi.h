// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which plug-ins this icepath can load, and the structs of those that were built for an older minor version of the
// interface (plugin.h), filled with zeros.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "icepath/plugin.h"

namespace icepath::worker {

struct Abi {
	uint32_t major_number, minor_number;
	bool operator==(const Abi &) const = default;
};
// Of icepath_plugin::abi.
constexpr Abi abi_of(uint32_t number) { return {number & 0xffff, number >> 16}; }
constexpr bool can_load(Abi plugin, Abi own)
{
	return plugin.major_number == own.major_number && plugin.minor_number <= own.minor_number;
}

// The structs' sizes in version 9.0.
inline constexpr uint32_t kSmallestPlugin = offsetof(icepath_plugin, version);
inline constexpr uint32_t kSmallestTarget = offsetof(icepath_target, fanin_max_bytes) + sizeof(uint64_t);
inline constexpr uint32_t kSmallestDaemon = offsetof(icepath_daemon, ready) + sizeof(char *);
inline constexpr uint32_t kSmallestRecv = offsetof(icepath_recv, observe_ns) + sizeof(uint64_t);

// A struct that a plug-in made, with zeros for what it doesn't have yet. Nothing: its size is none of this major
// version.
template <typename Struct> std::optional<Struct> whole_struct(const Struct *its, uint32_t smallest)
{
	if (its->size < smallest || its->size > sizeof(Struct))
		return std::nullopt;
	Struct whole{};
	std::memcpy(&whole, its, its->size);
	return whole;
}

} // namespace icepath::worker
