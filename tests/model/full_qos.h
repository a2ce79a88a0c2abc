// SPDX-License-Identifier: Apache-2.0
#pragma once
// A quality of service that asks for every policy.
#include "profiler/model/qos.h"

namespace icepath::model {

inline Qos full_qos()
{
	Qos qos;
	qos[ICEPATH_QOS_RELIABILITY] = ICEPATH_RELIABLE;
	qos[ICEPATH_QOS_DURABILITY] = ICEPATH_TRANSIENT_LOCAL;
	qos[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_LAST;
	qos[ICEPATH_QOS_DEPTH] = 3;
	qos[ICEPATH_QOS_DEADLINE] = ICEPATH_QOS_INFINITE;
	qos[ICEPATH_QOS_LIFESPAN] = 20'000'000;
	qos[ICEPATH_QOS_LIVELINESS] = ICEPATH_MANUAL_BY_TOPIC;
	qos[ICEPATH_QOS_LEASE] = 1;
	return qos;
}

} // namespace icepath::model
