// SPDX-License-Identifier: Apache-2.0
// A sender that requests zero-copy on one machine learns that the kernel copied, and reports it.
#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

class ZeroCopy : public testing::TestWithParam<std::string> {};

uint32_t told_as_copied(WorkerPair &pair, uint32_t sends)
{
	uint32_t copied = 0;
	for (uint32_t i = 0; i < sends; i++)
		copied += (pair.sends(0)[i].flags & model::kStampCopied) != 0;
	return copied;
}

TEST_P(ZeroCopy, TellsWhereTheKernelCopied)
{
	PairPlan plan;
	plan.plugin = GetParam();
	for (const bool zerocopy : {true, false}) {
		plan.target = plan.plugin + (zerocopy ? "-zerocopy" : "");
		WorkerPair pair(plan);
		ASSERT_EQ(pair.open(), "");
		const auto replies = pair.run(pair.block(200));
		ASSERT_EQ(replies[0].block.sends, 200u) << replies[0].message;
		// Over TCP, the first messages' completions may still be outstanding.
		const uint32_t copied = told_as_copied(pair, 200);
		EXPECT_GE(copied, zerocopy ? 180u : 0u);
		EXPECT_LE(copied, zerocopy ? 200u : 0u);
	}
}

INSTANTIATE_TEST_SUITE_P(Over, ZeroCopy, testing::Values("tcp", "udp"),
						 [](const auto &plugin) { return plugin.param; });

} // namespace
} // namespace icepath::test
