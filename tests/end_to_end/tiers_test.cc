// SPDX-License-Identifier: Apache-2.0
// Each kind of probe forced in turn: paths are complete whatever marks their boundaries, and the run reports what did.
// A kernel without functions to probe uses the tracepoints and reports it; tests/vm runs this on kernels with them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>

#include "profiler/capture/selection.h"
#include "tests/end_to_end/measured_again.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Tiers : public testing::TestWithParam<const char *> {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}

	// Whether this kernel has any function for such probes.
	static bool has_functions(const std::string &tier)
	{
		static const auto selection = [](capture::Tier forced) { return capture::select_probes(forced); };
		const capture::Tier forced = tier == "fentry" ? capture::Tier::Fentry : capture::Tier::Kprobe;
		return std::ranges::any_of(selection(forced), [&](const capture::Trial &trial) {
			return trial.works && trial.candidate.tier == forced;
		});
	}
};

TEST_P(Tiers, PathsAreWholeAndTheRunSaysWhatTheyRestOn)
{
	const std::string tier = GetParam();
	const bool functions = tier != "tracepoint" && has_functions(tier);
	const Folder folder;
	std::vector<nlohmann::json> runs;
	const auto cells = measure_until_enough(
		"uds-stream,uds-seqpacket,uds-dgram,pipe,mqueue,tcp,udp,shm-ring", functions ? 16 : 5,
		{"--tier", tier, "-w", "block,poll", "--patterns", "pingpong", "-s", "64", "-m", "200"}, folder.path(),
		[&](const nlohmann::json &json, const std::string &) { runs.push_back(json); });
	ASSERT_FALSE(runs.empty());
	const nlohmann::json &json = runs.front();
	for (const auto &[cell, sum] : cells)
		EXPECT_TRUE(sum.is_enough()) << cell.first << " " << cell.second << ": " << sum.complete << " of "
									 << sum.probed;

	std::map<std::string, std::set<std::string>> tiers; // by probe, with the reason if another had precedence
	for (const auto &probe : json["probes"])
		tiers[probe["probe"]].insert(probe["tier"]);
	const auto rests_on = [&](const std::string &probe) {
		const auto found = tiers.find(probe);
		return found == tiers.end() ? std::string("nothing") : *found->second.begin();
	};
	if (functions) {
		for (const char *function : {"sock_def_readable", "skb_queue_tail", "tcp_queue_rcv", "__skb_recv_udp",
									 "mutex_unlock", "msg_insert", "wake_q_add_safe", "store_msg"})
			EXPECT_EQ(rests_on(function), tier) << function << json["probes"].dump(1);
	} else {
		for (const auto &probe : json["probes"])
			EXPECT_TRUE(probe["tier"] == "tracepoint" || probe["tier"] == "stamp" || probe["tier"] == "none") << probe;
	}

	// If a function marks the time when a queue has the message, none of it is inferred.
	constexpr uint64_t kEnough = 20; // of which one isn't more than the twentieth that may be
	for (const auto &run : runs)
		for (const auto &cell : run["cells"]) {
			const std::string target = cell["target"];
			if (!functions || cell["messages"]["complete"] <= kEnough ||
				!(target == "pipe" || target == "mqueue" || target.starts_with("uds-")))
				continue;
			for (const auto &layer : cell["layers"])
				if (layer["layer"] == "sender.kernel") {
					EXPECT_LT(layer["provenance"]["inferred"].get<double>(), 0.05)
						<< target << " " << cell["wait"] << layer.dump();
				}
		}
}

INSTANTIATE_TEST_SUITE_P(All, Tiers, testing::ValuesIn(capture::kTierNames),
						 [](const auto &which) { return std::string(which.param); });

} // namespace
} // namespace icepath::end_to_end
