// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injections.h"

#include <gtest/gtest.h>

#include <set>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

TEST(Injections, EachHasANameOfItsOwnAndAPlaceAndADifference)
{
	std::set<std::string> names;
	for (const Injection &injection : injections()) {
		SCOPED_TRACE(injection.name);
		EXPECT_TRUE(names.insert(injection.name).second);
		EXPECT_FALSE(injection.lands.empty());
		const bool delays = injection.with.sender_user_ns != 0 || injection.with.receiver_busy_ns != 0;
		EXPECT_EQ(delays + (injection.traffic.target_without != nullptr) + injection.from_outside, 1);
		EXPECT_NE(injection.traffic.rate_hz > 0, injection.traffic.burst.has_value());
	}
}

TEST(Injections, AreChosenByName)
{
	EXPECT_EQ(injections_named({}).size(), injections().size());
	const auto chosen = injections_named({"hog", "sender-busy"});
	ASSERT_EQ(chosen.size(), 2u);
	EXPECT_STREQ(chosen[0]->name, "sender-busy") << "in the table's order";
	try {
		injections_named({"hogg"});
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("interrupt-storm"), std::string::npos) << "it lists them";
	}
}

TEST(Injections, APartOfALayerIsNotAllOfIt)
{
	const Injection one = {"", "", {"", 1},
						   {}, {}, {{model::Layer::Runqueue}, {model::Layer::Queue, model::Part::Preempted}}};
	EXPECT_TRUE(lands_in(one, model::Layer::Runqueue, model::Part::IdleExit));
	EXPECT_TRUE(lands_in(one, model::Layer::Queue, model::Part::Preempted));
	EXPECT_FALSE(lands_in(one, model::Layer::Queue, model::Part::Busy));
	EXPECT_EQ(text_of(one.lands), "runqueue, queue/preempted");
}

} // namespace
} // namespace icepath::selftest
