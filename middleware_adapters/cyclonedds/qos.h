// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dds/dds.h>

#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

// Reliable, volatile and all kept, unless requested otherwise.
class CycloneQos {
public:
	static constexpr dds_duration_t kLongestWrite = DDS_MSECS(100);

	// `queue`: messages that fit if all are kept.
	CycloneQos(const icepath_qos &asked, int32_t queue) : all(dds_create_qos())
	{
		const auto is = [&](icepath_qos_policy policy, uint64_t otherwise, uint64_t value) {
			return value_of(asked, policy).value_or(otherwise) == value;
		};
		dds_qset_reliability(all,
							 is(ICEPATH_QOS_RELIABILITY, ICEPATH_RELIABLE, ICEPATH_RELIABLE)
								 ? DDS_RELIABILITY_RELIABLE
								 : DDS_RELIABILITY_BEST_EFFORT,
							 kLongestWrite);
		dds_qset_durability(all, is(ICEPATH_QOS_DURABILITY, ICEPATH_VOLATILE, ICEPATH_VOLATILE)
									 ? DDS_DURABILITY_VOLATILE
									 : DDS_DURABILITY_TRANSIENT_LOCAL);
		if (is(ICEPATH_QOS_HISTORY, ICEPATH_KEEP_ALL, ICEPATH_KEEP_ALL)) {
			dds_qset_history(all, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
			dds_qset_resource_limits(all, queue, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
		} else {
			dds_qset_history(all, DDS_HISTORY_KEEP_LAST,
							 static_cast<int32_t>(value_of(asked, ICEPATH_QOS_DEPTH).value_or(1)));
		}
		if (const auto ns = value_of(asked, ICEPATH_QOS_DEADLINE))
			dds_qset_deadline(all, duration_of(*ns));
		if (const auto ns = value_of(asked, ICEPATH_QOS_LIFESPAN))
			dds_qset_lifespan(all, duration_of(*ns)); // readers have none, and ignore it
		const uint64_t lease_ns = value_of(asked, ICEPATH_QOS_LEASE).value_or(ICEPATH_QOS_INFINITE);
		dds_qset_liveliness(
			all,
			static_cast<dds_liveliness_kind_t>(value_of(asked, ICEPATH_QOS_LIVELINESS).value_or(ICEPATH_AUTOMATIC)),
			duration_of(lease_ns));
	}
	~CycloneQos() { dds_delete_qos(all); }
	CycloneQos(const CycloneQos &) = delete;
	CycloneQos &operator=(const CycloneQos &) = delete;
	dds_qos_t *const all;

	// Adds the values of an entity; for 0, nothing.
	static void add_granted(dds_entity_t entity, icepath_qos &granted)
	{
		if (entity <= 0)
			return;
		dds_qos_t *qos = dds_create_qos();
		if (dds_get_qos(entity, qos) == DDS_RETCODE_OK)
			add(qos, granted);
		dds_delete_qos(qos);
	}

private:
	static_assert(DDS_LIVELINESS_AUTOMATIC == int{ICEPATH_AUTOMATIC} &&
				  DDS_LIVELINESS_MANUAL_BY_PARTICIPANT == int{ICEPATH_MANUAL_BY_PARTICIPANT} &&
				  DDS_LIVELINESS_MANUAL_BY_TOPIC == int{ICEPATH_MANUAL_BY_TOPIC});

	static dds_duration_t duration_of(uint64_t ns)
	{
		return ns >= static_cast<uint64_t>(DDS_INFINITY) ? DDS_INFINITY : static_cast<dds_duration_t>(ns);
	}
	static uint64_t ns_of(dds_duration_t duration)
	{
		return duration == DDS_INFINITY ? ICEPATH_QOS_INFINITE : static_cast<uint64_t>(duration);
	}

	static void add(const dds_qos_t *qos, icepath_qos &granted)
	{
		dds_reliability_kind_t reliability{};
		dds_durability_kind_t durability{};
		dds_history_kind_t history{};
		dds_liveliness_kind_t liveliness{};
		dds_duration_t time = 0;
		int32_t depth = 0;
		if (dds_qget_reliability(qos, &reliability, &time))
			set_value(granted, ICEPATH_QOS_RELIABILITY,
					  reliability == DDS_RELIABILITY_RELIABLE ? ICEPATH_RELIABLE : ICEPATH_BEST_EFFORT);
		if (dds_qget_durability(qos, &durability))
			set_value(granted, ICEPATH_QOS_DURABILITY,
					  durability == DDS_DURABILITY_VOLATILE ? ICEPATH_VOLATILE : ICEPATH_TRANSIENT_LOCAL);
		if (dds_qget_history(qos, &history, &depth)) {
			const bool keeps_last = history == DDS_HISTORY_KEEP_LAST;
			set_value(granted, ICEPATH_QOS_HISTORY, keeps_last ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL);
			if (keeps_last)
				set_value(granted, ICEPATH_QOS_DEPTH, static_cast<uint64_t>(depth));
		}
		if (dds_qget_deadline(qos, &time))
			set_value(granted, ICEPATH_QOS_DEADLINE, ns_of(time));
		if (dds_qget_lifespan(qos, &time))
			set_value(granted, ICEPATH_QOS_LIFESPAN, ns_of(time));
		if (dds_qget_liveliness(qos, &liveliness, &time)) {
			set_value(granted, ICEPATH_QOS_LIVELINESS, static_cast<uint64_t>(liveliness));
			set_value(granted, ICEPATH_QOS_LEASE, ns_of(time));
		}
	}
};

} // namespace icepath::plugin_kit
