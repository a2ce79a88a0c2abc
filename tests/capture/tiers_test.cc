// SPDX-License-Identifier: Apache-2.0
// Which candidate of a probe is taken, and that those which tell the same boundary agree, message by message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/capture/exchange.h"

namespace icepath::capture {
namespace {

size_t number_of(std::string_view probe)
{
	return static_cast<size_t>(std::ranges::find(kProbes, probe, &Probe::name) - kProbes.begin());
}

TEST(Candidates, AForcedTierComesFirstAndLeavesTheTracepoint)
{
	const Probe &ready = kProbes.at(number_of("sk_data_ready"));
	const auto tiers = [&](std::optional<Tier> forced) {
		std::vector<Tier> order;
		for (const Candidate &candidate : in_order(ready, forced))
			if (!candidate.program.empty())
				order.push_back(candidate.tier);
		return order;
	};
	EXPECT_EQ(tiers({}), (std::vector{Tier::Tracepoint, Tier::Fentry, Tier::Kprobe}));
	EXPECT_EQ(tiers(Tier::Tracepoint), std::vector{Tier::Tracepoint});
	EXPECT_EQ(tiers(Tier::Fentry), (std::vector{Tier::Fentry, Tier::Tracepoint}));
	EXPECT_EQ(tiers(Tier::Kprobe), (std::vector{Tier::Kprobe, Tier::Tracepoint}));
}

TEST(Candidates, EachProgramStandsForOneProbeOfItsTier)
{
	std::vector<std::string_view> programs;
	for (const Probe &probe : kProbes)
		for (const Candidate &candidate : probe.candidates) {
			if (candidate.program.empty())
				continue;
			programs.push_back(candidate.program);
			const bool returns = candidate.program.starts_with("fexit_") || candidate.program.starts_with("kretprobe_");
			const bool enters = candidate.program.starts_with("fentry_") || candidate.program.starts_with("kprobe_");
			EXPECT_EQ(candidate.tier != Tier::Tracepoint, returns || enters) << candidate.program;
		}
	std::ranges::sort(programs);
	EXPECT_EQ(std::ranges::adjacent_find(programs), programs.end());
}

class TiersTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
	}
	static std::vector<uint64_t> times(const Seen &seen, uint8_t type, uint64_t key)
	{
		std::vector<uint64_t> at_ns;
		for (const icepath_record &record : seen.of_socket(type, key))
			at_ns.push_back(record.end_ns);
		return at_ns;
	}
};

// The probe's attach is broken on purpose, as a kernel that has renamed its tracepoint and its function would.
TEST_F(TiersTest, WhatIsRenamedGivesWayToTheNextCandidate)
{
	const size_t ready = number_of("sk_data_ready");
	const Selection usual = select_probes({}), without_tracepoint = select_probes({{}, "sk_data_ready"}),
					without_function = select_probes({Tier::Fentry, "sock_def_readable"});
	EXPECT_NE(without_tracepoint[ready].why_not.find("tracepoint sk_data_ready: not in this kernel"),
			  std::string::npos);
	EXPECT_EQ(without_function[ready].why_not.find("fentry sock_def_readable: "), 0u);
	const bool has_functions = usual[number_of("skb_queue_tail")].works;
	EXPECT_EQ(without_tracepoint[ready].works, has_functions);
	if (has_functions) {
		EXPECT_EQ(described(without_tracepoint[ready].candidate), "fentry sock_def_readable");
	}
	EXPECT_EQ(without_function[ready].works, select_probes({Tier::Tracepoint, ""})[ready].works);
	// And what the next candidate tells is the same.
	const Exchange exchange(two_cpus(), {{{}, "sk_data_ready"}}, bit(ready));
	if (has_functions) {
		for (const uint64_t key : {kFirstKey, kSecondKey})
			EXPECT_EQ(exchange.seen[0].of_socket(ICEPATH_RECORD_DATA_READY, key).size(), size_t{kTrips});
	} else {
		EXPECT_EQ(exchange.seen[0].count(ICEPATH_RECORD_DATA_READY), 0u);
	}
}

TEST_F(TiersTest, BoundariesOfSeveralTiersAgreeOnEveryMessage)
{
	const std::vector<Choice> choices = {{Tier::Fentry, ""}, {Tier::Kprobe, ""}, {Tier::Tracepoint, ""}};
	const size_t ready = number_of("sk_data_ready"), queue = number_of("skb_queue_tail");
	const Exchange exchange(two_cpus(), choices, bit(ready) | bit(queue));
	size_t compared = 0;
	for (const uint64_t key : {kFirstKey, kSecondKey}) {
		std::vector<std::vector<uint64_t>> told;
		for (const Seen &seen : exchange.seen) {
			EXPECT_EQ(seen.misses, 0u);
			if (!seen.selection[ready].works)
				continue;
			told.push_back(times(seen, ICEPATH_RECORD_DATA_READY, key));
			ASSERT_EQ(told.back().size(), size_t{kTrips});
			if (!seen.selection[queue].works)
				continue;
			// A message is in its queue before that is announced, and after the one before it was.
			const auto queued = times(seen, ICEPATH_RECORD_ENQUEUED, key);
			ASSERT_EQ(queued.size(), size_t{kTrips});
			for (size_t i = 0; i < queued.size(); i++) {
				EXPECT_LT(queued[i], told.back()[i]) << i;
				EXPECT_TRUE(i == 0 || told.back()[i - 1] < queued[i]) << i;
			}
		}
		// Of one message all tell before any tells of the next.
		for (size_t i = 0; i + 1 < size_t{kTrips}; i++) {
			uint64_t last_ns = 0, next_ns = UINT64_MAX;
			for (const auto &at_ns : told) {
				last_ns = std::max(last_ns, at_ns[i]);
				next_ns = std::min(next_ns, at_ns[i + 1]);
			}
			EXPECT_LT(last_ns, next_ns) << i;
			compared++;
		}
	}
	EXPECT_GT(compared, 0u);
}

} // namespace
} // namespace icepath::capture
