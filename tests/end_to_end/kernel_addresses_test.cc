// SPDX-License-Identifier: Apache-2.0
// What a run directory mustn't reveal about the kernel.
#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/capture/probes.h"
#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

class KernelAddresses : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(All, KernelAddresses, testing::ValuesIn(capture::kTierNames),
						 [](const auto &tier) { return std::string(tier.param); });

// Kernel addresses have bits 47 to 63 set on x86-64 and arm64. So has a negative errno, which reveals nothing.
TEST_P(KernelAddresses, AreInNoRecord)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Outcome outcome;
	for (const char *seconds : {"6", "30", "90"}) { // an emulated CPU is slow
		std::filesystem::remove_all(folder.path() / "out");
		outcome = run({icepath_program(), "run", "-q", "-t", "uds-stream,uds-dgram,tcp,udp,pipe,mqueue,sysv-mq,eventfd",
					   "--tier", GetParam(), "-s", "64", "--patterns", "pingpong,oneway", "--stacks", "-d", seconds,
					   "-o", "out"},
					  folder.path(), std::chrono::seconds(600));
		if (outcome.exit_code == 0)
			break;
	}
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	constexpr uint64_t kKernel = 0xffff800000000000, kLastErrno = 4095;
	rundir::Reader reader(folder.path() / "out");
	size_t records = 0, addresses = 0;
	while (const auto read = reader.next())
		for (const model::SlotCapture &slot : read->window->slots)
			for (const icepath_record &record : slot.records) {
				records++;
				addresses += record.type == ICEPATH_RECORD_SAMPLE && record.sample.user_address != 0;
				for (const uint64_t word : record.words)
					addresses += (word & kKernel) == kKernel && word < -kLastErrno ? 1 : 0;
			}
	EXPECT_GT(records, 1000u);
	EXPECT_EQ(addresses, 0u);
}

} // namespace
} // namespace icepath::end_to_end
