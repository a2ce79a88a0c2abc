// SPDX-License-Identifier: Apache-2.0
// Every target between two blocks of which its processes stood still, as they do while a run measures other cells: the
// next block has all its messages.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <set>
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

class Stopped : public testing::TestWithParam<std::string> {}; // of a plug-in

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

// All of middleware's, whose threads have more to bear than a transport's.
std::vector<Case> cases_of(const std::string &plugin)
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [&](const Case &each) {
		return each.plugin != plugin ||
			   (!each.is_middleware() && (each.one_way || each.wait != (each.told.waits & -each.told.waits)));
	});
	return cases;
}

// All cells of a plug-in stand still at the same time, as those of a run do.
TEST_P(Stopped, BetweenTwoBlocksTheyLoseNothing)
{
	const std::vector<Case> cases = cases_of(GetParam());
	std::vector<std::unique_ptr<WorkerPair>> pairs;
	for (const Case &how : cases) {
		PairPlan plan = how.plan();
		plan.name += "-" + std::to_string(pairs.size());
		pairs.push_back(std::make_unique<WorkerPair>(plan));
		ASSERT_EQ(pairs.back()->open(), "") << how.test_name();
	}
	const auto run_each = [&](const char *which) {
		for (size_t i = 0; i < cases.size(); i++) {
			SCOPED_TRACE(cases[i].test_name());
			worker::BlockRequest block = pairs[i]->block(cases[i].messages());
			block.rate_hz = cases[i].one_way ? cases[i].rate_hz() : 0;
			expect_all(pairs[i]->run(block), cases[i], which);
		}
	};
	run_each("before");
	{
		const Standstill still;
		usleep(run::kLongestStillNs / 1000);
	}
	run_each("after");
	run_each("the next one");
}

std::set<std::string> plugins_that_stand_still()
{
	std::set<std::string> plugins;
	for (const TargetUnderTest &target : all_targets())
		if (!cases_of(target.plugin).empty())
			plugins.insert(target.plugin);
	return plugins;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Stopped);
INSTANTIATE_TEST_SUITE_P(Every, Stopped, testing::ValuesIn(plugins_that_stand_still()), [](const auto &plugin) {
	std::string name = plugin.param;
	std::ranges::replace(name, '-', '_');
	return name;
});

} // namespace
} // namespace icepath::test
