// SPDX-License-Identifier: Apache-2.0
// Every target, with every wait, in both patterns and many sizes: each byte arrives unchanged, in order, and stamped in
// a possible order.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using model::RecvStamp;
using model::SendStamp;
using worker::Reply;

class Messages : public testing::TestWithParam<Case> {};

void expect_times_in_order(std::initializer_list<uint64_t> times, const std::string &what)
{
	uint64_t before = 0;
	for (const uint64_t time : times) {
		if (time == 0)
			continue; // did not happen
		EXPECT_LE(before, time) << what;
		before = time;
	}
}

void expect_send_stamps(const Reply &reply, const SendStamp *stamps, const Case &how)
{
	for (uint32_t i = 0; i < reply.block.sends; i++) {
		const SendStamp &stamp = stamps[i];
		const std::string what = fmt::format("send {}", i);
		EXPECT_EQ(stamp.seq, i) << what;
		EXPECT_GE(stamp.attempts, 1u) << what;
		expect_times_in_order({reply.block.marker_begin_ns, stamp.send_ns, stamp.publish_ns, stamp.call_ns,
							   stamp.return_ns, reply.block.marker_end_ns},
							  what);
		EXPECT_LE(stamp.intended_ns, stamp.send_ns) << what;
		EXPECT_EQ(stamp.publish_ns != 0, how.uses_user_slot()) << what;
		if (how.uses_user_slot() || how.is_middleware())
			continue;
		EXPECT_EQ(stamp.return_ns != 0, stamp.call_ns != 0) << what;
		EXPECT_TRUE(stamp.call_ns != 0 || how.hands_over_in_memory()) << what;
	}
}

void expect_recv_stamps(const Reply &reply, const RecvStamp *stamps, const Case &how)
{
	for (uint32_t i = 0; i < reply.block.recvs; i++) {
		const RecvStamp &stamp = stamps[i];
		const std::string what = fmt::format("recv {}", i);
		EXPECT_EQ(stamp.flags & model::kStampBadPayload, 0u) << what;
		if (!how.is_lossy()) {
			EXPECT_EQ(stamp.seq, i) << what;
		} else if (i > 0) {
			EXPECT_GT(stamp.seq, stamps[i - 1].seq) << what;
		}
		EXPECT_GE(stamp.attempts, 1u) << what;
		// A thread of the library may have asked, and been delayed, before the block began.
		const uint64_t earliest_ask = how.is_by_callback() ? 0 : reply.block.marker_begin_ns;
		expect_times_in_order({earliest_ask, stamp.ask_ns, stamp.wait_return_ns, stamp.take_call_ns,
							   stamp.take_return_ns, stamp.observe_ns, stamp.recv_ns, reply.block.marker_end_ns},
							  what);
		expect_times_in_order({reply.block.marker_begin_ns, stamp.recv_ns}, what);
		// One call of the library's may bring many: each take is asked for after the message before was handled.
		if (how.is_by_callback() && i > 0 && stamp.take_call_ns != stamps[i - 1].take_call_ns) {
			EXPECT_GE(stamp.ask_ns, stamps[i - 1].recv_ns) << what;
		}
		// It was seen in memory, or a call brought it.
		const bool seen = how.uses_user_slot() || (how.uses_mapped_queue() && stamp.observe_ns != 0);
		EXPECT_EQ(stamp.observe_ns != 0, seen) << what;
		if (!how.is_middleware()) {
			EXPECT_EQ(stamp.take_call_ns != 0, !seen) << what;
			EXPECT_EQ(stamp.take_return_ns != 0, stamp.take_call_ns != 0) << what;
		}
		// A receiver that can look into memory first sleeps only if nothing is there.
		if (how.wait == ICEPATH_WAIT_EPOLL && !seen && !how.is_middleware()) {
			EXPECT_NE(stamp.wait_return_ns, 0u) << what;
		}
	}
}

void expect_no_message_before_it_was_sent(const Reply &to, const RecvStamp *recvs, const Reply &from,
										  const SendStamp *sends)
{
	for (uint32_t i = 0; i < to.block.recvs; i++) {
		ASSERT_LT(recvs[i].seq, from.block.sends) << "recv " << i;
		EXPECT_LT(sends[recvs[i].seq].send_ns, recvs[i].recv_ns) << "message " << recvs[i].seq;
	}
}

// Of the caller's user, or for root.
uint64_t timer_slack_ns(uint32_t thread)
{
	uint64_t slack_ns = 0;
	std::ifstream(fmt::format("/proc/{}/timerslack_ns", thread)) >> slack_ns;
	return slack_ns;
}

// By callback, a thread of the library receives, and answers or sends the next message. All else is done by the side's
// own thread, which is the main one of its process.
void expect_threads(const Reply &reply, const SendStamp *sends, const RecvStamp *recvs, pid_t process, uint32_t side,
					const Case &how)
{
	const auto own = static_cast<uint32_t>(process);
	const auto expect = [&](uint32_t thread, bool by_library, const std::string &what) {
		EXPECT_EQ(thread != own, by_library) << what;
		EXPECT_EQ(access(fmt::format("/proc/{}/task/{}", process, thread).c_str(), F_OK), 0) << what;
		if (by_library && geteuid() == 0) {
			EXPECT_GT(timer_slack_ns(thread), 1u) << what << ": the side's own would make its timers more exact";
		}
	};
	for (uint32_t i = 0; i < reply.block.sends; i++)
		expect(thread_of(sends[i], own), how.is_by_callback() && !how.one_way && (side == 1 || i > 0),
			   fmt::format("send {}", i));
	for (uint32_t i = 0; i < reply.block.recvs; i++)
		expect(thread_of(recvs[i], own), how.is_by_callback(), fmt::format("recv {}", i));
}

TEST_P(Messages, ComeUnchangedAndInOrder)
{
	const Case &how = GetParam();
	const uint32_t warm_up = how.warm_up();
	WorkerPair pair(how.plan());
	ASSERT_EQ(pair.open(), "");
	for (int blocks = 0; blocks < 2; blocks++) {
		worker::BlockRequest block = pair.block(how.messages());
		block.warm_up = warm_up;
		if (how.one_way)
			block.rate_hz = how.rate_hz();
		const auto replies = pair.run(block);
		for (const uint32_t side : {0u, 1u})
			ASSERT_EQ(std::string(replies[side].message), "") << "side " << side;
		const uint32_t all = warm_up + how.messages();
		EXPECT_EQ(replies[0].block.sends, all);
		EXPECT_EQ(replies[1].block.sends, how.one_way ? 0 : all);
		EXPECT_EQ(replies[0].block.recvs, how.one_way ? 0 : all);
		if (how.is_lossy() && how.one_way)
			EXPECT_GE(replies[1].block.recvs, 1u);
		else
			EXPECT_EQ(replies[1].block.recvs, all);
		for (const uint32_t side : {0u, 1u}) {
			expect_send_stamps(replies[side], pair.sends(side), how);
			expect_recv_stamps(replies[side], pair.recvs(side), how);
			if (!how.is_within_process())
				expect_threads(replies[side], pair.sends(side), pair.recvs(side), pair.side(side).pid(), side, how);
			expect_no_message_before_it_was_sent(replies[side], pair.recvs(side), replies[1 - side],
												 pair.sends(1 - side));
		}
		EXPECT_NE(pair.sends(0)[warm_up - 1].flags & model::kStampWarmUp, 0u);
		EXPECT_EQ(pair.sends(0)[warm_up].flags & model::kStampWarmUp, 0u);
	}
}

INSTANTIATE_TEST_SUITE_P(Every, Messages, testing::ValuesIn(all_cases()),
						 [](const auto &each) { return each.param.test_name(); });

// A handler sends all answers to a message before it returns, more than a window holds.
class ManyAnswers : public testing::TestWithParam<Case> {};

TEST_P(ManyAnswers, ComeFromOneCallOfAHandler)
{
	constexpr uint32_t kMessages = 3, kAnswers = 300;
	PairPlan plan = GetParam().plan();
	plan.responses = kAnswers;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	const auto replies = pair.run(pair.block(kMessages));
	for (const uint32_t side : {0u, 1u})
		ASSERT_EQ(std::string(replies[side].message), "") << "side " << side;
	EXPECT_EQ(replies[1].block.sends, kMessages * kAnswers);
	ASSERT_EQ(replies[0].block.recvs, kMessages * kAnswers);
	for (uint32_t i = 0; i < kMessages * kAnswers; i++) {
		EXPECT_EQ(pair.recvs(0)[i].seq, i);
		EXPECT_EQ(pair.recvs(0)[i].flags & model::kStampBadPayload, 0u) << i;
	}
}

// Of libraries that keep whatever a handler sends; ecal's keeps the last message only, and its handler waits.
std::vector<Case> cases_that_answer_in_handlers()
{
	const std::set<std::string> plugins = {"ecal", "mqtt", "nats", "grpc", "ros", "ros2", "yarp", "zenoh"};
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [&](const Case &each) {
		return each.one_way || !each.is_by_callback() || each.is_lossy() || !plugins.contains(each.plugin);
	});
	return cases;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ManyAnswers);
INSTANTIATE_TEST_SUITE_P(Every, ManyAnswers, testing::ValuesIn(cases_that_answer_in_handlers()),
						 [](const auto &each) { return each.param.test_name(); });

} // namespace
} // namespace icepath::test
