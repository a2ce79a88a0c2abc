// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

inline std::optional<uint64_t> value_of(const icepath_qos &qos, icepath_qos_policy policy)
{
	return qos.policies & (1u << policy) ? std::optional(qos.values[policy]) : std::nullopt;
}

inline void set_value(icepath_qos &qos, icepath_qos_policy policy, uint64_t value)
{
	qos.policies |= 1u << policy;
	qos.values[policy] = value;
}

constexpr uint32_t kEveryPolicy = (1u << ICEPATH_QOS_POLICIES) - 1;

} // namespace icepath::plugin_kit
