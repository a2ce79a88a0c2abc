// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/cell_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/model/full_qos.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

TEST(QosJson, ComesBack)
{
	const Json json = to_json(model::full_qos());
	EXPECT_EQ(json["durability"], "transient-local");
	EXPECT_EQ(json["lifespan_ns"], 20'000'000);
	EXPECT_TRUE(json["deadline_ns"].is_null()) << "infinite";
	EXPECT_EQ(qos_from_json(json), model::full_qos());
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
