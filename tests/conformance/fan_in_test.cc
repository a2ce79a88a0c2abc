// SPDX-License-Identifier: Apache-2.0
// One end that takes from several senders, over every target with that capability: each message arrives once, complete,
// in its sender's order, and attributed to its sender.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using model::RecvStamp;
using model::SendStamp;
using worker::Reply;
using worker::ReplyStatus;

constexpr uint32_t kSenders = 3;
constexpr uint32_t kMost = 20'000; // messages of each sender

class Gathering {
public:
	explicit Gathering(const Case &how) : how_(how)
	{
		const size_t bytes = worker::cell_memory_bytes(kMost, kSenders);
		memory_fd_ = Fd(memfd_create("icepath-test-cell", MFD_CLOEXEC));
		if (ftruncate(memory_fd_.get(), static_cast<off_t>(bytes)))
			throw std::runtime_error("no memory for the test's cell");
		memory_ =
			new (mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0)) worker::CellMemory{};
		memory_->capacity = kMost;
	}
	~Gathering() { munmap(memory_, worker::cell_memory_bytes(kMost, kSenders)); }

	std::string open()
	{
		std::vector<Told> senders(kSenders);
		Told one;
		for (uint32_t i = 0; i < kSenders; i++)
			if (std::string refusal = open_end(senders_[i], i, 0, senders[i]); !refusal.empty())
				return refusal;
		if (std::string refusal = open_end(receiver_, 0, 1, one); !refusal.empty())
			return refusal;
		for (uint32_t i = 0; i < kSenders; i++)
			for (const auto &[worker, peer] : {std::pair(&receiver_, &senders[i]), {&senders_[i], &one}})
				if (std::string refusal = connect_end(*worker, *peer); !refusal.empty())
					return refusal;
		return {};
	}

	worker::BlockRequest block(uint32_t count, int deadline_ms = WorkerPair::kAmpleMs)
	{
		worker::BlockRequest request{};
		request.levels.responses = 1;
		request.one_way = 1;
		request.count = count;
		request.block = ++blocks_;
		request.deadline_ns = icepath_now_ns() + static_cast<uint64_t>(deadline_ms) * 1'000'000;
		request.cancel_ns = request.deadline_ns + 1'000'000'000;
		for (worker::SenderState &sender : memory_->senders)
			sender.last_seq = UINT64_MAX;
		return request;
	}

	void start(const worker::BlockRequest &block)
	{
		worker::Request request{};
		request.kind = worker::RequestKind::RunBlock;
		request.block = block;
		receiver_.send(request);
		for (WorkerUnderTest &sender : senders_)
			sender.send(request);
	}
	static Reply finish(WorkerUnderTest &worker)
	{
		std::vector<Fd> none;
		return worker.receive(none, 30'000);
	}

	const SendStamp *sends(uint32_t channel) const { return stamps<SendStamp>(channel, 0, 0); }
	const RecvStamp *recvs(uint32_t channel) const { return stamps<RecvStamp>(channel, 1, sizeof(SendStamp)); }
	uint32_t received(uint32_t channel) const { return static_cast<uint32_t>(memory_->receivers[channel].received); }
	WorkerUnderTest &sender(uint32_t number) { return senders_[number]; }
	WorkerUnderTest &receiver() { return receiver_; }

private:
	struct Told {
		icepath_address address{};
		std::vector<Fd> fds;
	};

	std::string open_end(WorkerUnderTest &worker, uint32_t channel, uint32_t side, Told &told)
	{
		worker::Request request{};
		request.kind = worker::RequestKind::Open;
		plugin_path(how_.plugin).copy(request.plugin, sizeof(request.plugin) - 1);
		how_.target.copy(request.open.target, sizeof(request.open.target) - 1);
		fmt::format("{}-{}", channel_name(), channel).copy(request.open.name, sizeof(request.open.name) - 1);
		request.open.channel = channel;
		request.open.channels = request.open.peers = kSenders;
		request.open.side = side;
		request.open.sends = side == 0;
		request.open.receives = side == 1;
		request.open.wait = how_.wait;
		request.open.may_lose = how_.is_lossy();
		request.open.payload_bytes = how_.payload_bytes;
		request.open.max_messages = kMost;
		const Reply reply = worker.ask(request, {memory_fd_.get()}, told.fds);
		told.address = reply.address;
		return reply.message;
	}
	static std::string connect_end(WorkerUnderTest &worker, const Told &peer)
	{
		worker::Request request{};
		request.kind = worker::RequestKind::Connect;
		request.address = peer.address;
		std::vector<int> fds;
		for (uint32_t i = 0; i < peer.address.fds_used; i++)
			fds.push_back(peer.fds.at(i).get());
		std::vector<Fd> sockets;
		return worker.ask(request, fds, sockets).message;
	}
	template <class Stamp> const Stamp *stamps(uint32_t channel, uint32_t side, size_t before) const
	{
		return reinterpret_cast<const Stamp *>(reinterpret_cast<const uint8_t *>(memory_) +
											   worker::stamps_offset(kMost, channel, side) + kMost * before);
	}

	const Case how_;
	Fd memory_fd_;
	worker::CellMemory *memory_ = nullptr;
	std::array<WorkerUnderTest, kSenders> senders_;
	WorkerUnderTest receiver_;
	uint64_t blocks_ = 0;
};

std::vector<Case> fan_in_cases(const std::vector<uint64_t> &sizes)
{
	constexpr uint64_t kLargestTested = 1 << 20;
	std::vector<Case> cases;
	for (const TargetUnderTest &target : all_targets()) {
		if (target.told.why_not[0] || !(target.told.capabilities & ICEPATH_CAN_FANIN))
			continue;
		const auto &told = target.told;
		uint64_t most = told.fanin_max_bytes ? told.fanin_max_bytes : told.max_payload_bytes;
		if (!told.fanin_max_bytes && told.max_part_bytes)
			most = told.max_part_bytes;
		std::vector<uint64_t> all = sizes;
		if (sizes.size() > 1)
			all.push_back(std::min(most, kLargestTested));
		for (const icepath_wait wait : {ICEPATH_WAIT_BLOCK, ICEPATH_WAIT_POLL, ICEPATH_WAIT_EPOLL, ICEPATH_WAIT_SPIN})
			for (const uint64_t size : all)
				if (told.fanin_waits & wait)
					cases.push_back({target.plugin, told.name, told, wait, true, size});
	}
	return cases;
}

class FanIn : public testing::TestWithParam<Case> {};

// Paced for lossy targets; otherwise as fast as possible, so that senders collide often.
TEST_P(FanIn, EveryMessageComesOnceWholeAndAsItsSenders)
{
	const Case &how = GetParam();
	Gathering gathering(how);
	ASSERT_EQ(gathering.open(), "");
	for (int blocks = 0; blocks < 2; blocks++) {
		const uint32_t warm_up = how.warm_up();
		worker::BlockRequest block = gathering.block(how.messages());
		block.warm_up = warm_up;
		block.rate_hz = how.is_lossy() ? 500 : 0;
		const uint32_t all = warm_up + how.messages();
		gathering.start(block);
		const Reply got = gathering.finish(gathering.receiver());
		ASSERT_EQ(std::string(got.message), "");
		if (!how.is_lossy()) {
			EXPECT_EQ(got.block.recvs, kSenders * all);
		}
		for (uint32_t i = 0; i < kSenders; i++) {
			SCOPED_TRACE(fmt::format("sender {}", i));
			const Reply sent = gathering.finish(gathering.sender(i));
			ASSERT_EQ(std::string(sent.message), "");
			EXPECT_EQ(sent.block.sends, all);
			if (!how.is_lossy()) {
				ASSERT_EQ(gathering.received(i), all);
			}
			EXPECT_GE(gathering.received(i), 1u);
			for (uint32_t n = 0; n < gathering.received(i); n++) {
				const RecvStamp &recv = gathering.recvs(i)[n];
				if (!how.is_lossy()) {
					ASSERT_EQ(recv.seq, n);
				}
				ASSERT_LT(recv.seq, all);
				EXPECT_TRUE(n == 0 || recv.seq > gathering.recvs(i)[n - 1].seq) << n;
				ASSERT_EQ(recv.flags, recv.seq < warm_up ? model::kStampWarmUp : 0u) << n;
				EXPECT_LT(gathering.sends(i)[recv.seq].send_ns, recv.recv_ns) << n;
				EXPECT_GE(recv.attempts, 1u);
			}
		}
	}
}

// Whatever the size.
class FanInSchedules : public testing::TestWithParam<Case> {};

TEST_P(FanInSchedules, AreApart)
{
	const Case &how = GetParam();
	Gathering gathering(how);
	ASSERT_EQ(gathering.open(), "");
	worker::BlockRequest block = gathering.block(5);
	block.rate_hz = 100;
	gathering.start(block);
	ASSERT_EQ(std::string(gathering.finish(gathering.receiver()).message), "");
	for (uint32_t i = 0; i < kSenders; i++) {
		ASSERT_EQ(std::string(gathering.finish(gathering.sender(i)).message), "");
		for (uint32_t n = 0; n < 5; n++)
			EXPECT_NEAR(static_cast<double>(gathering.sends(i)[n].intended_ns - gathering.sends(0)[0].intended_ns),
						n * 1e7 + i * 1e7 / kSenders, 10);
	}
}

class FanInEnds : public testing::TestWithParam<Case> {
protected:
	// A block is running, and the receiver has had some messages of this sender.
	void send_until_some_have_come(uint32_t sender)
	{
		// Until half of the block is over they must have come; else again, with time for a slow machine, by other ends,
		// as a cancelled one is over.
		for (int deadline_ms = 500;; deadline_ms *= 4) {
			ASSERT_EQ(gathering.emplace(GetParam()).open(), "");
			worker::BlockRequest block = gathering->block(kMost, deadline_ms);
			block.cancel_ns = block.deadline_ns + deadline_ms * 1'000'000ull;
			block.rate_hz = 1000;
			const uint64_t since_ns = icepath_now_ns(), half_ns = since_ns + deadline_ms * 500'000ull;
			gathering->start(block);
			const uint64_t *recv_ns = &gathering->recvs(sender)[5].recv_ns;
			while (__atomic_load_n(recv_ns, __ATOMIC_ACQUIRE) < since_ns && icepath_now_ns() < half_ns)
				std::this_thread::yield();
			if (__atomic_load_n(recv_ns, __ATOMIC_ACQUIRE) >= since_ns)
				break;
			ASSERT_LT(deadline_ms, 20'000) << "no message came";
		}
	}
	std::optional<Gathering> gathering;
};

TEST_P(FanInEnds, WhenOneSenderDiesTheReceiverTells)
{
	ASSERT_NO_FATAL_FAILURE(send_until_some_have_come(1));
	gathering->sender(1).kill();
	const Reply reply = gathering->finish(gathering->receiver());
	EXPECT_EQ(reply.status, ReplyStatus::PeerDied) << reply.message;
}

TEST_P(FanInEnds, WhenTheReceiverDiesEverySenderTells)
{
	ASSERT_NO_FATAL_FAILURE(send_until_some_have_come(2));
	gathering->receiver().kill();
	for (uint32_t i = 0; i < kSenders; i++) {
		const Reply reply = gathering->finish(gathering->sender(i));
		EXPECT_EQ(reply.status, ReplyStatus::PeerDied) << "sender " << i << ": " << reply.message;
	}
}

TEST_P(FanInEnds, NoNameIsLeftOnceAllAreConnected)
{
	const auto names = [] {
		std::vector<std::string> found;
		for (const auto &folder : {std::filesystem::path("/dev/shm"), std::filesystem::path("/dev/mqueue"),
								   std::filesystem::temp_directory_path()}) {
			std::error_code none;
			for (const auto &entry : std::filesystem::directory_iterator(folder, none))
				if (entry.path().string().find(channel_name()) != std::string::npos)
					found.push_back(entry.path());
		}
		return found;
	};
	ASSERT_EQ(gathering.emplace(GetParam()).open(), "");
	EXPECT_EQ(names(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Every, FanIn, testing::ValuesIn(fan_in_cases({16, 64})),
						 [](const auto &each) { return each.param.test_name(); });
INSTANTIATE_TEST_SUITE_P(Every, FanInSchedules, testing::ValuesIn(fan_in_cases({64})),
						 [](const auto &each) { return each.param.test_name(); });
INSTANTIATE_TEST_SUITE_P(Every, FanInEnds, testing::ValuesIn(fan_in_cases({64})),
						 [](const auto &each) { return each.param.test_name(); });

// A receiver slowed by its own delay, so that the last messages of some senders are lost: it learns of each sender's
// end, and later messages belong to none.
TEST(FanInLoss, IsEachSendersOwnAndNoError)
{
	const auto cases = fan_in_cases({64});
	const auto udp = std::ranges::find_if(
		cases, [](const Case &each) { return each.target == "udp" && each.wait == ICEPATH_WAIT_BLOCK; });
	ASSERT_NE(udp, cases.end());
	Gathering gathering(*udp);
	ASSERT_EQ(gathering.open(), "");
	worker::BlockRequest flood = gathering.block(2000);
	flood.levels.receiver_busy_ns = 200'000;
	gathering.start(flood);
	Reply got = gathering.finish(gathering.receiver());
	ASSERT_EQ(std::string(got.message), "");
	EXPECT_LT(got.block.recvs, kSenders * 2000u);
	uint32_t received = 0;
	for (uint32_t i = 0; i < kSenders; i++) {
		const Reply sent = gathering.finish(gathering.sender(i));
		EXPECT_EQ(std::string(sent.message), "");
		EXPECT_EQ(sent.block.sends, 2000u);
		received += gathering.received(i);
		for (uint32_t n = 0; n < gathering.received(i); n++) {
			EXPECT_EQ(gathering.recvs(i)[n].flags, 0u);
			EXPECT_TRUE(n == 0 || gathering.recvs(i)[n].seq > gathering.recvs(i)[n - 1].seq) << n;
		}
	}
	EXPECT_EQ(received, got.block.recvs);

	worker::BlockRequest calm = gathering.block(50);
	calm.rate_hz = 500;
	gathering.start(calm);
	got = gathering.finish(gathering.receiver());
	EXPECT_EQ(got.block.recvs, kSenders * 50u) << got.message;
	for (uint32_t i = 0; i < kSenders; i++) {
		EXPECT_EQ(std::string(gathering.finish(gathering.sender(i)).message), "");
		EXPECT_EQ(gathering.received(i), 50u);
	}
}

// The capability and `fanin_waits` must agree.
TEST(FanInTargets, SayByWhichOfTheirWaitsTheyCan)
{
	for (const TargetUnderTest &target : all_targets()) {
		SCOPED_TRACE(target.told.name);
		EXPECT_EQ((target.told.capabilities & ICEPATH_CAN_FANIN) != 0, target.told.fanin_waits != 0);
		EXPECT_EQ(target.told.fanin_waits & ~target.told.waits, 0u);
		EXPECT_LE(target.told.fanin_max_bytes, target.told.max_payload_bytes);
	}
}

TEST(FanInTargets, OthersRefuse)
{
	for (const TargetUnderTest &target : all_targets()) {
		if (target.told.why_not[0] || (target.told.capabilities & ICEPATH_CAN_FANIN))
			continue;
		Gathering gathering({target.plugin, target.told.name, target.told, target.some_wait(), true,
							 std::min<uint64_t>(64, target.told.max_payload_bytes)});
		EXPECT_NE(gathering.open().find("several senders"), std::string::npos) << target.told.name;
	}
}

} // namespace
} // namespace icepath::test
