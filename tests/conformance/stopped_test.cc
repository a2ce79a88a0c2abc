// SPDX-License-Identifier: Apache-2.0
// Every target between two blocks of which its processes stood still, as they do while a run measures other cells: the
// next block has all its messages.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "profiler/run/still_cells.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using worker::Reply;
using worker::ReplyStatus;

std::vector<pid_t> own_children()
{
	std::ifstream list("/proc/thread-self/children");
	std::vector<pid_t> children;
	for (pid_t child = 0; list >> child;)
		children.push_back(child);
	return children;
}

// The workers', and the daemon's.
class Standstill {
public:
	Standstill() : processes_(own_children())
	{
		for (const pid_t one : processes_)
			kill(one, SIGSTOP);
		for (const pid_t one : processes_) {
			siginfo_t stopped{};
			EXPECT_EQ(waitid(P_PID, static_cast<id_t>(one), &stopped, WSTOPPED | WNOWAIT), 0);
		}
	}
	~Standstill()
	{
		for (const pid_t one : processes_)
			kill(one, SIGCONT);
	}
	Standstill(const Standstill &) = delete;
	Standstill &operator=(const Standstill &) = delete;

private:
	const std::vector<pid_t> processes_;
};

class Stopped : public testing::TestWithParam<Case> {};

void expect_all(const std::array<Reply, 2> &replies, const Case &how, const char *which)
{
	for (const Reply &reply : replies)
		EXPECT_EQ(reply.status, ReplyStatus::Done) << which << ": " << reply.message;
	EXPECT_EQ(replies[0].block.sends, how.messages()) << which;
	if (how.is_lossy())
		EXPECT_GT(replies[1].block.recvs, 0u) << which;
	else
		EXPECT_EQ(replies[1].block.recvs, how.messages()) << which;
}

TEST_P(Stopped, BetweenTwoBlocksItLosesNothing)
{
	const Case &how = GetParam();
	WorkerPair pair(how.plan());
	ASSERT_EQ(pair.open(), "");
	for (const char *which : {"before", "after", "the next one"}) {
		worker::BlockRequest block = pair.block(how.messages());
		block.rate_hz = how.one_way ? how.rate_hz() : 0;
		expect_all(pair.run(block), how, which);
		if (which == std::string("before")) {
			const Standstill still;
			usleep(run::kLongestStillNs / 1000);
		}
	}
}

// All of middleware's, whose threads have more to bear than a transport's.
std::vector<Case> cases_that_stand_still()
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [](const Case &each) {
		return !each.is_middleware() && (each.one_way || each.wait != (each.told.waits & -each.told.waits));
	});
	return cases;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Stopped);
INSTANTIATE_TEST_SUITE_P(Every, Stopped, testing::ValuesIn(cases_that_stand_still()),
						 [](const auto &each) { return each.param.test_name(); });

} // namespace
} // namespace icepath::test
