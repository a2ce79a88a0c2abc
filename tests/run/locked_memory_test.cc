// SPDX-License-Identifier: Apache-2.0
// Workers' memory is locked if that is asked for and allowed; otherwise not_locked() says why not.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/run/alone.h"

namespace icepath::run {
namespace {

constexpr uint64_t kAllKib = 4096; // more than stamps and messages, less than libraries

uint64_t locked_kib(uint32_t pid)
{
	std::ifstream status("/proc/" + std::to_string(pid) + "/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with("VmLck:"))
			return std::stoull(line.substr(6));
	return 0;
}

class LockedMemory : public testing::TestWithParam<model::Between> {
protected:
	LockedMemory()
	{
		cell.target = "pipe";
		cell.pattern = model::Pattern::OneWay;
		cell.graph = model::star(1, std::vector(2, static_cast<uint32_t>(sched_getcpu())), GetParam(), false);
	}
	static privilege::Identity self()
	{
		privilege::Identity user;
		user.uid = getuid();
		user.was_root = true; // claimed: pinning one's own child needs no root
		return user;
	}
	LiveCell open(bool locks_memory)
	{
		Surroundings around;
		around.isolated.locks_memory = locks_memory;
		return LiveCell(cell, PIPE_PLUGIN, number++, 20, privilege::SlotsView(), helper, around);
	}
	privilege::Helper helper{self()};
	model::Cell cell;
	uint32_t number = 0;
};

TEST_P(LockedMemory, IsAllThatAWorkerHas)
{
	LiveCell live = open(true);
	EXPECT_EQ(live.not_locked(), geteuid() == 0 ? "" : "mlockall: Cannot allocate memory") << "beyond the limit";
	for (const uint32_t tid : live.tids())
		EXPECT_EQ(locked_kib(tid) > kAllKib, live.not_locked().empty());
	BlockWish wish;
	wish.number = 1;
	wish.count = 10;
	wish.warm_up = 2;
	wish.duration_ns = 2'000'000'000; // ends after all messages, also on a busy machine
	const model::Block block = run_alone(live, wish, privilege::SlotsView(), nullptr);
	EXPECT_EQ(block.failure, "") << "locked or not, it measures";
	EXPECT_EQ(block.flows[0].recvs.size(), 12u);
}

// Middleware's workers, in a user namespace, meet the limit also as root's.
TEST(MemoryThatIsNotLocked, SaysWhetherThatMattersAndWhatMendsIt)
{
	const rlimit less{0, 0};
	// In a process of its own, whose workers inherit the limit and lack the capability.
	EXPECT_EXIT(
		{
			setrlimit(RLIMIT_MEMLOCK, &less);
			prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK);
			privilege::Identity user;
			user.uid = getuid();
			user.was_root = true;
			privilege::Helper helper{user};
			model::Cell cell;
			cell.target = "pipe";
			cell.pattern = model::Pattern::OneWay;
			cell.graph =
				model::star(1, std::vector(2, static_cast<uint32_t>(sched_getcpu())), model::Between::Processes, false);
			Surroundings around;
			around.isolated.locks_memory = true;
			const LiveCell live(cell, PIPE_PLUGIN, 0, 20, privilege::SlotsView(), helper, around);
			std::fputs(live.not_locked_notice().c_str(), stderr);
			std::_Exit(0);
		},
		testing::ExitedWithCode(0),
		"isn't locked: mlockall: .*memory runs short, messages may wait.*--ulimit memlock=-1");
}

TEST_P(LockedMemory, IsLeftWhereNobodyAsks)
{
	const LiveCell live = open(false);
	EXPECT_EQ(live.not_locked(), "");
	for (const uint32_t tid : live.tids())
		EXPECT_LT(locked_kib(tid), kAllKib);
}

INSTANTIATE_TEST_SUITE_P(EachPlace, LockedMemory,
						 testing::Values(model::Between::Processes, model::Between::OneThread));

} // namespace
} // namespace icepath::run
