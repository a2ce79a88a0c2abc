// SPDX-License-Identifier: Apache-2.0
// How a block ends whose messages pass through a broker that dies or hangs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using worker::Reply;
using worker::ReplyStatus;

class Brokers : public testing::TestWithParam<Case> {
protected:
	void SetUp() override
	{
		end_daemons();
		space_of(GetParam().plugin);
		std::ifstream children("/proc/thread-self/children");
		ASSERT_TRUE(children >> broker) << "its only child";
	}
	void TearDown() override { end_daemons(); }

	pid_t broker = -1;
};

TEST_P(Brokers, WhenOneDiesBothEndsTell)
{
	PairPlan plan = GetParam().plan();
	plan.max_messages = 10'000;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(plan.max_messages, 10'000);
	block.rate_hz = 500;
	for (const uint32_t side : {1u, 0u})
		pair.start(side, block);
	while (__atomic_load_n(&pair.recvs(1)[0].recv_ns, __ATOMIC_ACQUIRE) == 0)
		std::this_thread::yield();
	const uint64_t killed_ns = icepath_now_ns();
	kill(broker, SIGKILL);
	for (const uint32_t side : {0u, 1u}) {
		const Reply reply = pair.finish(side);
		EXPECT_EQ(reply.status, ReplyStatus::PeerDied) << reply.message;
		EXPECT_NE(std::string(reply.message).find("its broker is lost"), std::string::npos) << reply.message;
	}
	EXPECT_LT(icepath_now_ns() - killed_ns, 2'000'000'000u);
}

// Sender and receiver still end, and can be closed.
TEST_P(Brokers, WhenOneIsFrozenBothEndsAreCancelled)
{
	PairPlan plan = GetParam().plan();
	plan.payload_bytes = 65536;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	kill(broker, SIGSTOP);
	const auto replies = pair.run(pair.block(1000, 300));
	for (const uint32_t side : {0u, 1u}) {
		EXPECT_EQ(replies[side].status, ReplyStatus::Cancelled) << replies[side].message;
		const int status = pair.side(side).wait_end();
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
	}
}

std::vector<Case> cases_through_brokers()
{
	const std::set<std::string> plugins = {"mqtt", "sd-bus", "libdbus", "nats", "moos"};
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [&](const Case &each) { return !plugins.contains(each.plugin); });
	return cases;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Brokers);
INSTANTIATE_TEST_SUITE_P(Every, Brokers, testing::ValuesIn(cases_through_brokers()),
						 [](const auto &each) { return each.param.test_name(); });

} // namespace
} // namespace icepath::test
