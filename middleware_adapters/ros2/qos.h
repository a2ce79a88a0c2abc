// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rclcpp/rclcpp.hpp>

#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

// A negative number is an infinite time.
inline rmw_time_t rmw_time_of(uint64_t ns) { return rmw_time_from_nsec(static_cast<rmw_duration_t>(ns)); }

inline uint64_t ns_of(const rmw_time_t &time)
{
	const bool is_infinite =
		rmw_time_equal(time, RMW_DURATION_INFINITE) || rmw_time_equal(time, RMW_DURATION_UNSPECIFIED);
	return is_infinite ? ICEPATH_QOS_INFINITE : static_cast<uint64_t>(rmw_time_total_nsec(time));
}

// Reliable, volatile and all kept, unless requested otherwise.
inline rclcpp::QoS ros_qos(const icepath_qos &asked)
{
	const auto is = [&](icepath_qos_policy policy, uint64_t value) { return value_of(asked, policy) == value; };
	rclcpp::QoS qos{rclcpp::KeepAll()};
	if (is(ICEPATH_QOS_HISTORY, ICEPATH_KEEP_LAST))
		qos.keep_last(value_of(asked, ICEPATH_QOS_DEPTH).value_or(1));
	is(ICEPATH_QOS_RELIABILITY, ICEPATH_BEST_EFFORT) ? qos.best_effort() : qos.reliable();
	is(ICEPATH_QOS_DURABILITY, ICEPATH_TRANSIENT_LOCAL) ? qos.transient_local() : qos.durability_volatile();
	if (const auto ns = value_of(asked, ICEPATH_QOS_DEADLINE))
		qos.deadline(rmw_time_of(*ns));
	if (const auto ns = value_of(asked, ICEPATH_QOS_LIFESPAN))
		qos.lifespan(rmw_time_of(*ns));
	if (const auto ns = value_of(asked, ICEPATH_QOS_LEASE))
		qos.liveliness_lease_duration(rmw_time_of(*ns));
	return qos;
}

// Adds the values of a publisher or subscription.
inline void add_shared(const rclcpp::QoS &qos, icepath_qos &granted)
{
	const rmw_qos_profile_t &has = qos.get_rmw_qos_profile();
	set_value(granted, ICEPATH_QOS_RELIABILITY,
			  has.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE ? ICEPATH_RELIABLE : ICEPATH_BEST_EFFORT);
	set_value(granted, ICEPATH_QOS_DURABILITY,
			  has.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE ? ICEPATH_VOLATILE : ICEPATH_TRANSIENT_LOCAL);
	const bool keeps_last = has.history == RMW_QOS_POLICY_HISTORY_KEEP_LAST;
	set_value(granted, ICEPATH_QOS_HISTORY, keeps_last ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL);
	if (keeps_last)
		set_value(granted, ICEPATH_QOS_DEPTH, has.depth);
	set_value(granted, ICEPATH_QOS_DEADLINE, ns_of(has.deadline));
	if (has.liveliness == RMW_QOS_POLICY_LIVELINESS_AUTOMATIC)
		set_value(granted, ICEPATH_QOS_LIVELINESS, ICEPATH_AUTOMATIC);
	if (has.liveliness == RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC)
		set_value(granted, ICEPATH_QOS_LIVELINESS, ICEPATH_MANUAL_BY_TOPIC);
	set_value(granted, ICEPATH_QOS_LEASE, ns_of(has.liveliness_lease_duration));
}

inline void add_granted(const rclcpp::PublisherBase *publisher, const rclcpp::SubscriptionBase *subscription,
						icepath_qos &granted)
{
	if (publisher) {
		add_shared(publisher->get_actual_qos(), granted);
		set_value(granted, ICEPATH_QOS_LIFESPAN, ns_of(publisher->get_actual_qos().get_rmw_qos_profile().lifespan));
	}
	if (subscription) // has no lifespan
		add_shared(subscription->get_actual_qos(), granted);
}

} // namespace icepath::plugin_kit
