// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "plugin_kit/library.h"
#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>

namespace icepath::plugin_kit {

inline eprosima::fastrtps::Duration_t fast_duration(uint64_t ns)
{
	constexpr uint64_t kSecond = 1'000'000'000;
	if (ns / kSecond >= INT32_MAX)
		return eprosima::fastrtps::c_TimeInfinite;
	return {static_cast<int32_t>(ns / kSecond), static_cast<uint32_t>(ns % kSecond)};
}

inline uint64_t ns_of(const eprosima::fastrtps::Duration_t &duration)
{
	return duration == eprosima::fastrtps::c_TimeInfinite ? ICEPATH_QOS_INFINITE
														  : static_cast<uint64_t>(duration.to_ns());
}

// Reliable, volatile and all kept, unless requested otherwise. `queue`: messages that fit into a history.
template <class Qos> void ask_for(Qos &qos, const icepath_qos &asked, int queue)
{
	namespace fast = eprosima::fastdds::dds;
	const auto asked_for = [&](icepath_qos_policy policy, uint64_t otherwise) {
		return value_of(asked, policy).value_or(otherwise);
	};
	qos.reliability().kind = asked_for(ICEPATH_QOS_RELIABILITY, ICEPATH_RELIABLE) == ICEPATH_RELIABLE
								 ? fast::RELIABLE_RELIABILITY_QOS
								 : fast::BEST_EFFORT_RELIABILITY_QOS;
	qos.durability().kind = asked_for(ICEPATH_QOS_DURABILITY, ICEPATH_VOLATILE) == ICEPATH_VOLATILE
								? fast::VOLATILE_DURABILITY_QOS
								: fast::TRANSIENT_LOCAL_DURABILITY_QOS;
	const bool keeps_last = asked_for(ICEPATH_QOS_HISTORY, ICEPATH_KEEP_ALL) == ICEPATH_KEEP_LAST;
	qos.history().kind = keeps_last ? fast::KEEP_LAST_HISTORY_QOS : fast::KEEP_ALL_HISTORY_QOS;
	if (keeps_last)
		qos.history().depth = static_cast<int32_t>(asked_for(ICEPATH_QOS_DEPTH, 1));
	const int32_t room = keeps_last ? std::max(qos.history().depth, queue) : queue;
	qos.resource_limits().max_samples = qos.resource_limits().max_samples_per_instance = room;
	qos.resource_limits().max_instances = 1;
	qos.resource_limits().allocated_samples = queue;
	qos.deadline().period = fast_duration(asked_for(ICEPATH_QOS_DEADLINE, ICEPATH_QOS_INFINITE));
	qos.lifespan().duration = fast_duration(asked_for(ICEPATH_QOS_LIFESPAN, ICEPATH_QOS_INFINITE));
	const uint64_t lease_ns = asked_for(ICEPATH_QOS_LEASE, ICEPATH_QOS_INFINITE);
	qos.liveliness().kind =
		static_cast<fast::LivelinessQosPolicyKind>(asked_for(ICEPATH_QOS_LIVELINESS, ICEPATH_AUTOMATIC));
	qos.liveliness().lease_duration = fast_duration(lease_ns);
	if (lease_ns != ICEPATH_QOS_INFINITE) // must be shorter than the lease
		qos.liveliness().announcement_period = fast_duration(lease_ns / 2);
}

// Adds the values of a writer or reader.
template <class Qos> void add_granted(const Qos &qos, icepath_qos &granted)
{
	namespace fast = eprosima::fastdds::dds;
	set_value(granted, ICEPATH_QOS_RELIABILITY,
			  qos.reliability().kind == fast::RELIABLE_RELIABILITY_QOS ? ICEPATH_RELIABLE : ICEPATH_BEST_EFFORT);
	set_value(granted, ICEPATH_QOS_DURABILITY,
			  qos.durability().kind == fast::VOLATILE_DURABILITY_QOS ? ICEPATH_VOLATILE : ICEPATH_TRANSIENT_LOCAL);
	const bool keeps_last = qos.history().kind == fast::KEEP_LAST_HISTORY_QOS;
	set_value(granted, ICEPATH_QOS_HISTORY, keeps_last ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL);
	if (keeps_last)
		set_value(granted, ICEPATH_QOS_DEPTH, static_cast<uint64_t>(qos.history().depth));
	set_value(granted, ICEPATH_QOS_DEADLINE, ns_of(qos.deadline().period));
	set_value(granted, ICEPATH_QOS_LIFESPAN, ns_of(qos.lifespan().duration));
	set_value(granted, ICEPATH_QOS_LIVELINESS, static_cast<uint64_t>(qos.liveliness().kind));
	set_value(granted, ICEPATH_QOS_LEASE, ns_of(qos.liveliness().lease_duration));
}

static_assert(eprosima::fastdds::dds::AUTOMATIC_LIVELINESS_QOS == int{ICEPATH_AUTOMATIC} &&
			  eprosima::fastdds::dds::MANUAL_BY_PARTICIPANT_LIVELINESS_QOS == int{ICEPATH_MANUAL_BY_PARTICIPANT} &&
			  eprosima::fastdds::dds::MANUAL_BY_TOPIC_LIVELINESS_QOS == int{ICEPATH_MANUAL_BY_TOPIC});

} // namespace icepath::plugin_kit
