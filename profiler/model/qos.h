// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quality of service of a cell: what was asked for, or what the library granted. The words of the command line, of reports and of
// the container.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "icepath/plugin.h"

namespace icepath::model {

struct QosPolicy {
	const char *name; // "reliability"
	enum class Kind { Word, Count, Time } kind;
	std::span<const char *const> words; // of Kind::Word: by the value
};

inline constexpr const char *kReliabilityNames[] = {"best-effort", "reliable"};
inline constexpr const char *kDurabilityNames[] = {"volatile", "transient-local"};
inline constexpr const char *kHistoryNames[] = {"keep-last", "keep-all"};
inline constexpr const char *kLivelinessNames[] = {"automatic", "manual-by-participant", "manual-by-topic"};

// By icepath_qos_policy.
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

// By icepath_qos_policy; nothing: no value. Times are nanoseconds, or ICEPATH_QOS_INFINITE.
struct Qos : std::array<std::optional<uint64_t>, ICEPATH_QOS_POLICIES> {
	bool any() const;
};

// Whether a policy can have that value.
bool is_possible(icepath_qos_policy policy, uint64_t value);

// Whether messages may be lost although nothing fails.
bool may_lose(const Qos &qos);

// "best-effort keep-last depth 1 deadline 10ms", in the order of the policies; empty where none has a value.
std::string text(const Qos &qos);

// Adds what another end of the same channels was granted: what wasn't known yet, and what isn't as asked.
void add_granted(const Qos &asked, const Qos &reported, Qos &granted);

icepath_qos for_plugin(const Qos &qos);
// Of what a plug-in said: values that can't be are left out.
Qos believable(const icepath_qos &said);

} // namespace icepath::model
