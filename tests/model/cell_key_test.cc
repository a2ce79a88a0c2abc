// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/cell_key.h"

#include <gtest/gtest.h>

namespace icepath::model {
namespace {

CellKey of_every_field()
{
	CellKey key{.target = "fastdds/shm",
				.pattern = Pattern::FanIn,
				.wait = Wait::Epoll,
				.place = Between::Threads,
				.payload_bytes = 4096,
				.idle_states = IdleStates::Held,
				.rate_hz = 0.1,
				.limits = RateLimits{0.001, 250'000},
				.levels = {},
				.qos = {},
				.arm = "gcc 12, -O3"};
	for (const Factor &factor : kFactors)
		key.levels.*factor.level = neutral(factor) + 1;
	key.qos[ICEPATH_QOS_RELIABILITY] = ICEPATH_BEST_EFFORT;
	key.qos[ICEPATH_QOS_DEPTH] = 16;
	key.qos[ICEPATH_QOS_DEADLINE] = 1'500'000;
	key.qos[ICEPATH_QOS_LIFESPAN] = 20'000;
	key.qos[ICEPATH_QOS_LEASE] = ICEPATH_QOS_INFINITE;
	return key;
}

TEST(CellKey, IsReadFromItsText)
{
	EXPECT_EQ(parsed_key(text(of_every_field())), of_every_field());
	CellKey plain;
	plain.target = "pipe";
	EXPECT_EQ(text(plain), "pipe pingpong block processes 64B own");
	EXPECT_EQ(parsed_key(text(plain)), plain);
	plain.target = "a name with spaces";
	EXPECT_EQ(parsed_key(text(plain)), plain);
}

TEST(CellKey, OtherTextsAreNone)
{
	for (const char *text :
		 {"", "pipe", "pipe pingpong block processes 64B", "pipe ping block processes 64B own",
		  "pipe pingpong block processes 64 own", "pipe pingpong block processes B own",
		  "pipe pingpong block processes 64B own rate_hz=", "pipe pingpong block processes 64B own rate_hz=2x",
		  "pipe pingpong block processes 64B own colour=2", "pipe pingpong block processes 64B own max_p99_ns=2",
		  "pipe pingpong block processes 64B own #2", "pipe pingpong block processes 64B own qos=(reliable",
		  "pipe pingpong block processes 64B own qos=(good)", "pipe pingpong block processes 64B own qos=(depth)",
		  "pipe pingpong block processes 64B own qos=(depth 0)",
		  "pipe pingpong block processes 64B own qos=(lease 2s)"})
		EXPECT_EQ(parsed_key(text), std::nullopt) << text;
}

TEST(CellKey, TellsInWhatTwoCellsDiffer)
{
	CellKey a, b;
	a.target = b.target = "tcp";
	a.pattern = b.pattern = Pattern::OneWay;
	a.rate_hz = 100;
	b.rate_hz = 10'000;
	EXPECT_EQ(differing(a, b), std::vector<std::string>{"rate: 100/s and 10000/s"});
	EXPECT_EQ(differing(a, a), std::vector<std::string>());
	b = a;
	b.target = "udp";
	b.arm = "patched";
	b.idle_states = IdleStates::Held;
	EXPECT_EQ(differing(a, b), (std::vector<std::string>{"target: tcp and udp", "arm: none and patched",
														 "idle states of CPUs: own and held"}));
}

// No field is forgotten: keys that differ in any have different texts, and words for it.
TEST(CellKey, EveryFieldTellsCellsApart)
{
	const CellKey plain{.target = "pipe"}, all = of_every_field();
	std::vector<CellKey> others(10, plain);
	others[0].target = all.target;
	others[1].pattern = all.pattern;
	others[2].wait = all.wait;
	others[3].place = all.place;
	others[4].payload_bytes = all.payload_bytes;
	others[5].idle_states = all.idle_states;
	others[6].rate_hz = all.rate_hz;
	others[7].limits = all.limits;
	others[8].arm = all.arm;
	others[9].qos[ICEPATH_QOS_DEPTH] = 3;
	for (const Factor &factor : kFactors) {
		CellKey &other = others.emplace_back(plain);
		other.pattern = Pattern::Burst; // so that it says its levels
		other.levels.*factor.level = all.levels.*factor.level;
	}
	for (const CellKey &other : others) {
		EXPECT_NE(other, plain);
		EXPECT_NE(text(other), text(plain));
		EXPECT_FALSE(differing(other, plain).empty()) << text(other);
	}
}

TEST(CellKey, LoadsOfTwoTargetsAreEqual)
{
	CellKey a{.target = "pipe"}, b{.target = "zeromq/tcp"};
	b.qos[ICEPATH_QOS_DEPTH] = 3;
	a.arm = b.arm = "patched";
	EXPECT_EQ(load_of(a), load_of(b));
	a.arm = "plain";
	EXPECT_NE(load_of(a), load_of(b));
	a.arm = b.arm;
	b.rate_hz = 100;
	EXPECT_NE(load_of(a), load_of(b));
}

TEST(CellKey, EqualOnesAreNumbered)
{
	const CellKey a{.target = "pipe"}, b{.target = "tcp"};
	EXPECT_EQ(key_texts({a, b, a}), (std::vector<std::string>{text(a), text(b), text(a) + " #2"}));
}

} // namespace
} // namespace icepath::model
