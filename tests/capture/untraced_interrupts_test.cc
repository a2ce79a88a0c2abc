// SPDX-License-Identifier: Apache-2.0
// Rows of /proc/interrupts that no probe sees.
#include "profiler/capture/untraced_interrupts.h"

#include <gtest/gtest.h>

namespace icepath::capture {
namespace {

constexpr std::string_view kTable = R"(           CPU0       CPU2       CPU3
  9:          1          2          4   IO-APIC    9-fasteoi   acpi
NMI:          1          1          1   Non-maskable interrupts
LOC:    6811457    4346998         10   Local timer interrupts
RTR:          3          0          0   APIC ICR read retries
TRM:          0          8         16   Thermal event interrupts
HVS:         39         73        100   Hyper-V stimer0 interrupts
IPI0:         5          6          7   Rescheduling interrupts
ERR:          1
MIS:          0
PIN:          0          0          0   Posted-interrupt notification event
)";

using Rows = std::vector<model::InterruptCount>;

TEST(UntracedInterrupts, AreTheRowsThatPassNoTracepointOverTheChosenCpus)
{
	EXPECT_EQ(untraced_interrupts(kTable, {2, 3}), (Rows{{"TRM", "Thermal event interrupts", 24},
														 {"HVS", "Hyper-V stimer0 interrupts", 173},
														 {"IPI0", "Rescheduling interrupts", 13},
														 {"PIN", "Posted-interrupt notification event", 0}}));
}

TEST(UntracedInterrupts, AreToldWhereSomeCame)
{
	const Rows before = {{"TRM", "Thermal event interrupts", 24}, {"HVS", "Hyper-V stimer0 interrupts", 173}};
	const Rows now = {
		{"TRM", "Thermal event interrupts", 24}, {"HVS", "Hyper-V stimer0 interrupts", 180}, {"HYP", "", 2}};
	EXPECT_EQ(counted_since(before, now), (Rows{{"HVS", "Hyper-V stimer0 interrupts", 7}, {"HYP", "", 2}}));
}

TEST(UntracedInterrupts, OfATableThatSaysNothingAreNone)
{
	EXPECT_TRUE(untraced_interrupts("", {0}).empty());
	EXPECT_TRUE(untraced_interrupts("no CPU at all\n\n:\nHYP\n", {0}).empty());
	EXPECT_EQ(untraced_interrupts("  CPU0\nHYP: many\n", {0}), (Rows{{"HYP", "", 0}}));
}

} // namespace
} // namespace icepath::capture
