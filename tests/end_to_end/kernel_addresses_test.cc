// SPDX-License-Identifier: Apache-2.0
// What a run directory may not tell its reader of the kernel.
#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

// Addresses of the kernel have bits 47 to 63 set on x86-64 and arm64. So has a negative errno, which tells nothing.
TEST(KernelAddresses, AreInNoRecord)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome =
		run({icepath_program(), "run", "-q", "-t", "uds-stream,uds-dgram,tcp,udp,pipe,mqueue,sysv-mq,eventfd,boost-mq",
			 "-s", "64", "--patterns", "pingpong,oneway", "-d", "9", "-o", "out"},
			folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	constexpr uint64_t kKernel = 0xffff800000000000, kLastErrno = 4095;
	rundir::Reader reader(folder.path() / "out");
	size_t records = 0, addresses = 0;
	while (const auto read = reader.next())
		for (const model::SlotCapture &slot : read->window->slots)
			for (const icepath_record &record : slot.records) {
				records++;
				for (const uint64_t word : record.words)
					addresses += (word & kKernel) == kKernel && word < -kLastErrno ? 1 : 0;
			}
	EXPECT_GT(records, 1000u);
	EXPECT_EQ(addresses, 0u);
}

} // namespace
} // namespace icepath::end_to_end
