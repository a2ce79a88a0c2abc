// SPDX-License-Identifier: Apache-2.0
// Which candidate of a probe is chosen, and that candidates for one boundary agree message by message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "profiler/capture/bpf_object.h"
#include "tests/capture/exchange.h"

namespace icepath::capture {
namespace {

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
	const BpfObject bpf = open_bpf_object({});
	std::vector<std::string_view> programs;
	for (const Probe &probe : kProbes)
		for (const Candidate &candidate : probe.candidates) {
			if (candidate.program.empty())
				continue;
			programs.push_back(candidate.program);
			const bool returns = candidate.program.starts_with("fexit_") || candidate.program.starts_with("kretprobe_");
			const bool enters = candidate.program.starts_with("fentry_") || candidate.program.starts_with("kprobe_");
			EXPECT_EQ(candidate.tier != Tier::Tracepoint, returns || enters) << candidate.program;
			const std::string section = bpf_program__section_name(program_of(bpf.get(), candidate));
			EXPECT_TRUE(section.ends_with("/" + std::string(candidate.target))) << candidate.program << ": " << section;
			for (const std::string_view beside : candidate.beside)
				if (!beside.empty()) {
					programs.push_back(beside);
					EXPECT_TRUE(bpf_object__find_program_by_name(bpf->obj, std::string(beside).c_str())) << beside;
				}
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

TEST_F(TiersTest, BoundariesOfSeveralTiersAgreeOnEveryMessage)
{
	const size_t ready = number_of("sk_data_ready"), queue = number_of("skb_queue_tail");
	const Exchange exchange(two_cpus(), {Tier::Fentry, Tier::Kprobe, Tier::Tracepoint}, bit(ready) | bit(queue));
	size_t compared = 0;
	for (const uint64_t key : {kFirstKey, kSecondKey}) {
		std::vector<std::vector<uint64_t>> told;
		for (const Seen &seen : exchange.seen) {
			EXPECT_TRUE(seen.skipped.empty());
			if (!seen.selection[ready].works)
				continue;
			told.push_back(times(seen, ICEPATH_RECORD_DATA_READY, key));
			ASSERT_EQ(told.back().size(), size_t{kTrips});
			if (!seen.selection[queue].works)
				continue;
			// A message enters its queue before its announcement and after the previous one's.
			const auto queued = times(seen, ICEPATH_RECORD_ENQUEUED, key);
			ASSERT_EQ(queued.size(), size_t{kTrips});
			for (size_t i = 0; i < queued.size(); i++) {
				EXPECT_LT(queued[i], told.back()[i]) << i;
				EXPECT_TRUE(i == 0 || told.back()[i - 1] < queued[i]) << i;
			}
		}
		// All tiers record one message before any records the next.
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
