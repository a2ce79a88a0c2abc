// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/cell_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

model::Qos full()
{
	model::Qos qos;
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

TEST(QosJson, ComesBack)
{
	const Json json = to_json(full());
	EXPECT_EQ(json["durability"], "transient-local");
	EXPECT_EQ(json["lifespan_ns"], 20'000'000);
	EXPECT_TRUE(json["deadline_ns"].is_null()) << "infinite";
	EXPECT_EQ(qos_from_json(json), full());
	EXPECT_EQ(qos_from_json(Json::object()), model::Qos{});
}

TEST(QosJson, IsRefusedWhereItCannotBe)
{
	for (const char *wrong :
		 {R"({"reliability": "perfect"})", R"({"reliability": 1})", R"({"depth": 0})", R"({"depth": -1})",
		  R"({"depth": null})", R"({"depth": 4294967296})", R"({"lifespan_ns": "long"})", R"({"lease_ns": 0})"})
		EXPECT_THROW(qos_from_json(Json::parse(wrong)), std::runtime_error) << wrong;
}

} // namespace
} // namespace icepath::rundir
