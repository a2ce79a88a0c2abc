// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quality of service of a cell, as asked for or as granted by the library, and its words on the command line, in
// reports and in the container.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "icepath/plugin.h"

namespace icepath::model {

struct QosPolicy {
	const char *name; // "reliability"
	enum class Kind { Word, Count, Time } kind;
	std::span<const char *const> words; // Kind::Word: indexed by the value
};

inline constexpr const char *kReliabilityNames[] = {"best-effort", "reliable"};
inline constexpr const char *kDurabilityNames[] = {"volatile", "transient-local"};
inline constexpr const char *kHistoryNames[] = {"keep-last", "keep-all"};
inline constexpr const char *kLivelinessNames[] = {"automatic", "manual-by-participant", "manual-by-topic"};

// Indexed by icepath_qos_policy.
inline constexpr std::array<QosPolicy, ICEPATH_QOS_POLICIES> kQosPolicies = {{
	{"reliability", QosPolicy::Kind::Word, kReliabilityNames},
	{"durability", QosPolicy::Kind::Word, kDurabilityNames},
	{"history", QosPolicy::Kind::Word, kHistoryNames},
	{"depth", QosPolicy::Kind::Count, {}},
	{"deadline", QosPolicy::Kind::Time, {}},
	{"lifespan", QosPolicy::Kind::Time, {}},
	{"liveliness", QosPolicy::Kind::Word, kLivelinessNames},
	{"lease", QosPolicy::Kind::Time, {}},
}};

// Indexed by icepath_qos_policy; nothing: no value. Times are in nanoseconds, or ICEPATH_QOS_INFINITE.
struct Qos : std::array<std::optional<uint64_t>, ICEPATH_QOS_POLICIES> {
	bool any() const;
};

bool is_possible(icepath_qos_policy policy, uint64_t value);

// Whether these policies allow loss although nothing fails.
bool may_lose(const Qos &qos);

// "best-effort keep-last depth 1 deadline 10ms", in the order of the policies; empty if none has a value.
std::string text(const Qos &qos);
// What such a text says, times as far as it has their digits; nothing if it isn't one.
std::optional<Qos> parsed_qos(std::string_view text);

// Merges what another end of the same channels reports into `granted`: values not known yet, and values that differ
// from `asked`.
void add_granted(const Qos &asked, const Qos &reported, Qos &granted);

icepath_qos for_plugin(const Qos &qos);
// A plug-in's report without its impossible values.
Qos believable(const icepath_qos &said);

} // namespace icepath::model
