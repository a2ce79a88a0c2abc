// SPDX-License-Identifier: Apache-2.0
// Interrupts that can't be moved are found without a change of the machine, and the busiest is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "profiler/isolation/full.h"
#include "tests/isolation/fake_host.h"

namespace icepath::isolation {
namespace {

constexpr const char *kInterrupts = "           CPU0       CPU1       CPU2       CPU3\n"
									" 24:          0          7          0          0  PCI-MSIX  nvme0q0\n"
									" 25:          0          1    8700000          3  PCI-MSIX  nvme0q1\n"
									" 26:       4000          0          0          0  PCI-MSIX  eth0";

class FixedInterrupts : public testing::Test {
protected:
	void SetUp() override { host.write("/proc/interrupts", kInterrupts); }

	// What would be done to CPUs 2 and 3, where the kernel refuses these interrupts.
	std::string would_be_done(const std::vector<std::string> &refused)
	{
		host.tree.at_change = [=](const std::string &path, bool after) {
			return !after && std::ranges::find(refused, path) != refused.end() ? EPERM : 0;
		};
		cpuset::Machine machine = host.machine();
		find_fixed(host.tree, machine);
		Changes none(host.tree);
		const auto steps = isolation::isolate(none, machine, {2, 3}, "6.1.0");
		return std::ranges::find(steps, "interrupts", &cpuset::Step::name)->found;
	}
	FakeHost host;
};

constexpr const char *k24 = "proc/irq/24/smp_affinity_list", *k25 = "proc/irq/25/smp_affinity_list",
					 *k26 = "proc/irq/26/smp_affinity_list";

TEST_F(FixedInterrupts, AreFoundByWritingTheirOwnCpusBack)
{
	std::vector<std::string> written;
	host.tree.at_change = [&](const std::string &path, bool after) {
		if (after)
			written.push_back(path);
		return !after && path == k25 ? EIO : 0;
	};
	const auto before = host.files();
	cpuset::Machine machine = host.machine();
	find_fixed(host.tree, machine);
	EXPECT_EQ(written, (std::vector<std::string>{k24, k26}));
	for (const cpuset::Irq &irq : machine.irqs)
		EXPECT_EQ(irq.fixed, irq.number == 25 ? "Input/output error" : "") << irq.number;
	for (const auto &[path, bytes] : before)
		EXPECT_EQ(cpuset::parse_cpulist(host.read(path)), cpuset::parse_cpulist(bytes)) << path;
}

TEST_F(FixedInterrupts, AreCountedAndTheBusiestIsNamed)
{
	EXPECT_EQ(would_be_done({}), "3 would be changed so that interrupts of devices keep off CPUs 2-3");
	EXPECT_EQ(would_be_done({k24, k25}),
			  "1 would be changed so that interrupts of devices keep off CPUs 2-3, but 2 of 4 can't be changed "
			  "(Operation not permitted): most often comes 25 nvme0q1, 8 700 003 times since boot");
}

TEST_F(FixedInterrupts, ElsewhereDoNotMatter)
{
	EXPECT_EQ(would_be_done({k24}), "2 would be changed so that interrupts of devices keep off CPUs 2-3, but 1 of 4 "
									"can't be changed (Operation not permitted): none of these comes there");
	EXPECT_EQ(would_be_done({k26}), would_be_done({})) << "it may come to CPU 0 alone";
}

} // namespace
} // namespace icepath::isolation
