// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/qos.h"

#include <gtest/gtest.h>

#include "tests/model/full_qos.h"

namespace icepath::model {
namespace {

TEST(Qos, IsToldInWords)
{
	EXPECT_EQ(text(Qos{}), "");
	EXPECT_EQ(text(full_qos()),
			  "reliable transient-local keep-last depth 3 deadline infinite lifespan 20ms manual-by-topic "
			  "lease 0.001us");
}

TEST(Qos, ComesBackFromAPlugin)
{
	EXPECT_EQ(believable(for_plugin(full_qos())), full_qos());
	EXPECT_EQ(believable(for_plugin(Qos{})), Qos{});
}

TEST(Qos, OfAPluginIsBelievedOnlyWhereItCanBe)
{
	icepath_qos said{};
	said.policies = UINT32_MAX;
	for (uint64_t &value : said.values)
		value = 77;
	Qos expected;
	for (const icepath_qos_policy policy :
		 {ICEPATH_QOS_DEPTH, ICEPATH_QOS_DEADLINE, ICEPATH_QOS_LIFESPAN, ICEPATH_QOS_LEASE})
		expected[policy] = 77;
	EXPECT_EQ(believable(said), expected) << "no word has that number";
}

TEST(Qos, GrantedIsWhatAnyEndHasOtherwiseThanAsked)
{
	Qos asked, receiver, sender, granted;
	asked[ICEPATH_QOS_RELIABILITY] = asked[ICEPATH_QOS_DURABILITY] = 1;
	receiver[ICEPATH_QOS_RELIABILITY] = 1;
	receiver[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_ALL;
	sender = receiver;
	sender[ICEPATH_QOS_RELIABILITY] = ICEPATH_BEST_EFFORT;
	sender[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_LAST; // not asked for: the receiver's value stays
	sender[ICEPATH_QOS_LIFESPAN] = 7; // receivers don't report it
	add_granted(asked, receiver, granted);
	EXPECT_EQ(granted, receiver);
	add_granted(asked, sender, granted);
	EXPECT_EQ(text(granted), "best-effort keep-all lifespan 0.007us");
	add_granted(asked, receiver, granted);
	EXPECT_EQ(text(granted), "best-effort keep-all lifespan 0.007us") << "another receiver's doesn't hide it";
}

TEST(Qos, LosesMessagesWhereItDoesNotKeepThem)
{
	EXPECT_FALSE(may_lose(Qos{}));
	Qos strict;
	strict[ICEPATH_QOS_RELIABILITY] = ICEPATH_RELIABLE;
	strict[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_ALL;
	strict[ICEPATH_QOS_LIFESPAN] = ICEPATH_QOS_INFINITE;
	strict[ICEPATH_QOS_DEADLINE] = 1;
	EXPECT_FALSE(may_lose(strict)) << "a missed deadline is only told";
	for (const auto &[policy, value] :
		 {std::pair<icepath_qos_policy, uint64_t>{ICEPATH_QOS_RELIABILITY, ICEPATH_BEST_EFFORT},
		  {ICEPATH_QOS_HISTORY, ICEPATH_KEEP_LAST},
		  {ICEPATH_QOS_LIFESPAN, 1000}}) {
		Qos qos = strict;
		qos[policy] = value;
		EXPECT_TRUE(may_lose(qos)) << text(qos);
	}
}

} // namespace
} // namespace icepath::model
