// SPDX-License-Identifier: Apache-2.0
// What a block guarantees for any target: its end, its injected delays, and loss that is counted and isn't an error.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "ebpf/records.h"
#include "profiler/model/block.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using model::BlockEnd;
using worker::ReplyStatus;

PairPlan plan_of(const std::string &plugin, const std::string &target)
{
	PairPlan plan;
	plan.plugin = plugin;
	plan.target = target;
	plan.max_messages = 100'000;
	return plan;
}

void expect_end(const worker::Reply &reply, BlockEnd end)
{
	EXPECT_EQ(reply.status, ReplyStatus::Done) << reply.message;
	EXPECT_EQ(reply.block.end, static_cast<uint32_t>(end));
}

TEST(Block, OfPingPongEndsAtItsDeadlineOnBothSides)
{
	WorkerPair pair(plan_of("uds", "uds-stream"));
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(100'000, 50);
	block.levels.receiver_busy_ns = 1'000'000;
	const auto replies = pair.run(block);
	expect_end(replies[0], BlockEnd::Deadline);
	EXPECT_EQ(replies[1].status, ReplyStatus::Done) << replies[1].message;
	EXPECT_LT(replies[0].block.sends, 100'000u);
	EXPECT_EQ(replies[1].block.recvs, replies[0].block.sends);
	EXPECT_EQ(pair.memory().senders[0].last_seq, replies[0].block.sends - 1);
}

TEST(Block, OfOneWayEndsAtItsDeadlineOnBothSides)
{
	PairPlan plan = plan_of("uds", "uds-dgram");
	plan.one_way = true;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(100'000, 50);
	block.rate_hz = 1000;
	const auto replies = pair.run(block);
	expect_end(replies[0], BlockEnd::Deadline);
	EXPECT_EQ(replies[1].status, ReplyStatus::Done) << replies[1].message;
	EXPECT_EQ(replies[1].block.recvs, replies[0].block.sends);
}

TEST(Block, OfBurstsHasAllMessagesOfOneDueAtOnce)
{
	constexpr uint32_t kDemand = 8;
	PairPlan plan = plan_of("uds", "uds-stream");
	plan.one_way = true;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(5 * kDemand, 1000);
	block.rate_hz = 8000;
	block.levels.demand = kDemand;
	const auto replies = pair.run(block);
	ASSERT_EQ(replies[0].block.sends, 5 * kDemand) << replies[0].message;
	const auto *sends = pair.sends(0);
	for (uint32_t i = 0; i < 5 * kDemand; i++) {
		EXPECT_EQ(sends[i].intended_ns, sends[0].intended_ns + i / kDemand * 1'000'000) << "message " << i;
		EXPECT_GE(sends[i].send_ns, sends[i].intended_ns) << "message " << i;
	}
}

// The fill level of the capture's slots as a worker maps it, initially empty, and a pair that watches them.
class WatchedSlots {
public:
	explicit WatchedSlots(uint32_t count) : count_(count), map_(memfd_create("slots", MFD_CLOEXEC)), pair(plan())
	{
		EXPECT_EQ(ftruncate(map_.get(), count * sizeof(icepath_fill)), 0);
		EXPECT_EQ(pair.open(), "");
	}
	void fill(uint32_t slot) { set(slot, 48); } // to slightly over three quarters

	worker::BlockRequest block(uint32_t messages)
	{
		worker::BlockRequest block = pair.block(messages);
		block.slots = count_;
		block.slot_records = 63;
		return block;
	}

private:
	void set(uint32_t slot, uint32_t position)
	{
		const icepath_fill fill = {position, {}};
		EXPECT_EQ(pwrite(map_.get(), &fill, sizeof(fill), static_cast<off_t>(slot * sizeof(fill))),
				  static_cast<ssize_t>(sizeof(fill)));
	}
	PairPlan plan() const
	{
		PairPlan plan = plan_of("uds", "uds-stream");
		plan.slots_fd = map_.get();
		return plan;
	}

	const uint32_t count_;
	const Fd map_;

public:
	WorkerPair pair;
};

TEST(Block, EndsBeforeASlotOfTheCaptureOverflows)
{
	WatchedSlots slots(2);
	WorkerPair &pair = slots.pair;
	auto replies = pair.run(slots.block(100));
	expect_end(replies[0], BlockEnd::Count);

	slots.fill(1);
	worker::BlockRequest block = slots.block(100);
	replies = pair.run(block);
	expect_end(replies[0], BlockEnd::LogFull);
	EXPECT_EQ(replies[1].status, ReplyStatus::Done) << replies[1].message;
	EXPECT_LE(replies[0].block.sends, 17u);
	EXPECT_EQ(replies[1].block.recvs, replies[0].block.sends);
}

// A few slow messages are enough for other tasks on these CPUs to fill a slot.
TEST(Block, OfSlowMessagesEndsBeforeASlotOverflowsToo)
{
	WatchedSlots slots(1);
	WorkerPair &pair = slots.pair;
	worker::BlockRequest block = slots.block(100);
	block.levels.receiver_busy_ns = 20'000'000;
	pair.start(1, block);
	pair.start(0, block);
	while (__atomic_load_n(&pair.recvs(1)[0].recv_ns, __ATOMIC_ACQUIRE) == 0)
		std::this_thread::yield();
	slots.fill(0);
	const worker::Reply reply = pair.finish(0);
	expect_end(reply, BlockEnd::LogFull);
	EXPECT_LT(reply.block.sends, 16u) << "it looks at every sixteenth message, and by time";
}

TEST(Block, DelaysWhereItWasToldTo)
{
	constexpr uint64_t kDelayNs = 200'000;
	WorkerPair pair(plan_of("uds", "uds-stream"));
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(20);
	block.levels.sender_user_ns = block.levels.receiver_busy_ns = kDelayNs;
	const auto replies = pair.run(block);
	for (uint32_t i = 0; i < replies[0].block.sends; i++) {
		EXPECT_GE(pair.sends(0)[i].call_ns - pair.sends(0)[i].send_ns, kDelayNs);
		EXPECT_GE(pair.sends(1)[i].send_ns - pair.recvs(1)[i].recv_ns, kDelayNs);
	}
}

TEST(Block, TellsWhatEachSideUsed)
{
	WorkerPair pair(plan_of("uds", "uds-stream"));
	ASSERT_EQ(pair.open(), "");
	const auto replies = pair.run(pair.block(200));
	for (const worker::Reply &reply : replies) {
		const model::Usage &usage = reply.block.usage;
		EXPECT_GT(usage.user_ns + usage.system_ns, 0u);
		EXPECT_GT(usage.voluntary_switches, 0u) << "it slept for its peer";
		EXPECT_GT(usage.max_rss_kib, 100u);
		// Linux doesn't maintain these fields.
		EXPECT_EQ(usage.shared_text + usage.unshared_data + usage.unshared_stack + usage.swaps + usage.messages_sent +
					  usage.messages_received + usage.signals,
				  0u);
	}
}

TEST(Block, KeepsToItsScheduleOneWay)
{
	PairPlan plan = plan_of("uds", "uds-dgram");
	plan.one_way = true;
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(50);
	block.rate_hz = 2000;
	const auto replies = pair.run(block);
	for (uint32_t i = 1; i < replies[0].block.sends; i++)
		EXPECT_EQ(pair.sends(0)[i].intended_ns - pair.sends(0)[i - 1].intended_ns, 500'000u);
}

class Loss : public testing::TestWithParam<uint64_t> {};

TEST_P(Loss, IsCountedAndNoError)
{
	PairPlan plan = plan_of("udp", "udp");
	plan.one_way = true;
	plan.payload_bytes = GetParam();
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	// A receiver slowed by its own delay, so that its buffer overflows and the last message is among the lost.
	worker::BlockRequest flood = pair.block(5000);
	flood.levels.receiver_busy_ns = 200'000;
	auto replies = pair.run(flood);
	expect_end(replies[0], BlockEnd::Count);
	expect_end(replies[1], BlockEnd::Count);
	EXPECT_EQ(replies[0].block.sends, 5000u);
	EXPECT_LT(replies[1].block.recvs, 5000u);
	for (uint32_t i = 0; i < replies[1].block.recvs; i++)
		EXPECT_EQ(pair.recvs(1)[i].flags & model::kStampBadPayload, 0u) << i;

	worker::BlockRequest calm = pair.block(50);
	calm.rate_hz = 1000;
	replies = pair.run(calm);
	expect_end(replies[1], BlockEnd::Count);
	EXPECT_EQ(replies[1].block.recvs, 50u);
	for (uint32_t i = 0; i < replies[1].block.recvs; i++)
		EXPECT_EQ(pair.recvs(1)[i].seq, i);
}

INSTANTIATE_TEST_SUITE_P(Udp, Loss, testing::Values(1, 16, 4096, 70'000), testing::PrintToStringParamName());

TEST(Worker, TellsTheSocketsThatCarryMessages)
{
	for (const TargetUnderTest &target : all_targets()) {
		if (target.told.why_not[0])
			continue;
		PairPlan plan = plan_of(target.plugin, target.told.name);
		plan.wait = target.some_wait();
		plan.payload_bytes = std::min(plan.payload_bytes, target.told.max_payload_bytes);
		plan.threads = target.is_within_process();
		WorkerPair pair(plan);
		ASSERT_EQ(pair.open(), "") << target.told.name;
		const bool uses_socket = (target.told.mechanisms & ICEPATH_USES_SOCKET) != 0;
		for (const uint32_t side : {0u, 1u})
			EXPECT_EQ(pair.sockets(side) != 0, uses_socket) << target.told.name << " side " << side;
	}
}

TEST(Worker, RefusesWhatATargetCannotDo)
{
	for (const TargetUnderTest &target : all_targets()) {
		PairPlan plan = plan_of(target.plugin, target.told.name);
		plan.wait = target.some_wait();
		if (target.told.why_not[0]) {
			plan.payload_bytes = 1;
			const std::string refusal = WorkerPair(plan).open();
			EXPECT_NE(refusal.find(target.told.why_not), std::string::npos) << refusal;
			continue;
		}
		plan.payload_bytes = target.told.max_payload_bytes + 1;
		const std::string limit = std::to_string(target.told.max_payload_bytes);
		std::string refusal = WorkerPair(plan).open();
		EXPECT_NE(refusal.find(limit), std::string::npos) << refusal;
		EXPECT_NE(refusal.find(target.told.max_payload_why), std::string::npos) << refusal;
		plan.payload_bytes = 0;
		EXPECT_NE(WorkerPair(plan).open(), "");
		plan.payload_bytes = std::min<uint64_t>(64, target.told.max_payload_bytes);
		plan.wait = static_cast<icepath_wait>(0);
		refusal = WorkerPair(plan).open();
		EXPECT_NE(refusal.find("wait"), std::string::npos) << refusal;
	}
	EXPECT_NE(WorkerPair(plan_of("uds", "uds-carrier-pigeon")).open().find("uds-carrier-pigeon"), std::string::npos);
}

TEST(Worker, RefusesAPluginOfAnotherInterfaceByName)
{
	WorkerUnderTest describer;
	worker::Request request{};
	request.kind = worker::RequestKind::Describe;
	std::string(OTHER_ABI_PLUGIN).copy(request.plugin, sizeof(request.plugin) - 1);
	const worker::Reply reply = describer.ask(request);
	EXPECT_EQ(reply.status, ReplyStatus::Failed);
	EXPECT_EQ(
		std::string(reply.message),
		fmt::format("icepath-other-abi.so was built for plug-in interface 8.0, this icepath speaks {0}.0 to {0}.{1}: "
					"rebuild it",
					ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR));
}

} // namespace
} // namespace icepath::test
