// SPDX-License-Identifier: Apache-2.0
// Rings and their bells with as many producers and consumers as each kind allows, in threads, with so few slots that
// all of them sleep: every message arrives exactly once, each producer's in order, and nobody sleeps forever.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "plugin_kit/ring_wait.h"
#include "plugin_kit/rings.h"

namespace icepath::plugin_kit {
namespace {

struct Message {
	uint32_t producer, number;
};

constexpr RingShape kShape{2, sizeof(Message)};
constexpr uint32_t kMessages = 20'000;

class Shared {
public:
	explicit Shared(BellMake make)
		: make_(make), fds_{eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE), eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)}
	{
		Bell::make(bells_[0]);
		Bell::make(bells_[1]);
	}
	~Shared()
	{
		close(fds_[0]);
		close(fds_[1]);
	}
	Bell message() { return bell(0); }
	Bell room() { return bell(1); }
	void await_sleepers_for_messages(uint32_t count) const
	{
		while (bells_[0].sleepers.load() != count)
			std::this_thread::yield();
	}
	alignas(64) std::array<uint8_t, 4096> ring{};

private:
	Bell bell(int which)
	{
		Bell bell;
		bell.hang(make_, bells_[which], fds_[which]);
		return bell;
	}
	BellMake make_;
	int fds_[2];
	SharedBell bells_[2]{};
};

template <class Ring> Ring view(Shared &shared)
{
	Ring ring;
	ring.attach(shared.ring.data(), kShape);
	return ring;
}

template <class Ring> void produce(Shared &shared, uint32_t producer)
{
	Ring ring = view<Ring>(shared);
	Bell message = shared.message(), room = shared.room();
	for (uint32_t i = 0; i < kMessages; i++) {
		void *slot = nullptr;
		while (!(slot = ring.room()))
			room.sleep_unless([&] { return ring.has_room(); });
		const Message told{producer, i};
		std::memcpy(slot, &told, sizeof(told));
		ring.publish();
		if (message.is_awaited())
			message.ring();
		if (Ring::kPassesOn && ring.has_room() && room.is_awaited())
			room.ring();
	}
}

template <class Ring> void consume(Shared &shared, uint32_t count, std::vector<Message> &got)
{
	Ring ring = view<Ring>(shared);
	Bell message = shared.message(), room = shared.room();
	while (got.size() < count) {
		const void *slot = nullptr;
		while (!(slot = ring.message()))
			message.sleep_unless([&] { return ring.has_message(); });
		Message told{};
		std::memcpy(&told, slot, sizeof(told));
		ring.release();
		if (room.is_awaited())
			room.ring();
		if (Ring::kPassesOn && ring.has_message() && message.is_awaited())
			message.ring();
		got.push_back(told);
	}
}

// As many consumers as producers, each of which gets as many messages as a producer sends.
template <class Ring> void expect_all_come_once(BellMake make, uint32_t pairs)
{
	static_assert(sizeof(Shared::ring) >= 1024);
	ASSERT_LE(Ring::bytes(kShape), sizeof(Shared::ring));
	Shared shared(make);
	Ring::make(shared.ring.data(), kShape);
	std::vector<std::vector<Message>> got(pairs);
	std::vector<std::thread> threads;
	for (uint32_t i = 0; i < pairs; i++) {
		threads.emplace_back([&, i] { consume<Ring>(shared, kMessages, got[i]); });
		threads.emplace_back([&, i] { produce<Ring>(shared, i); });
	}
	for (std::thread &thread : threads)
		thread.join();
	std::vector<std::vector<uint32_t>> times(pairs, std::vector<uint32_t>(kMessages));
	for (const std::vector<Message> &consumer : got) {
		std::vector<int64_t> last(pairs, -1);
		for (const Message &message : consumer) {
			ASSERT_LT(message.producer, pairs);
			ASSERT_LT(message.number, kMessages);
			EXPECT_GT(int64_t{message.number}, last[message.producer]);
			last[message.producer] = message.number;
			times[message.producer][message.number]++;
		}
	}
	for (const std::vector<uint32_t> &producer : times)
		for (uint32_t i = 0; i < kMessages; i++)
			ASSERT_EQ(producer[i], 1u) << i;
}

class RingOf : public testing::TestWithParam<BellMake> {};

TEST_P(RingOf, OneProducerAndOneConsumer) { expect_all_come_once<SpscRing>(GetParam(), 1); }

TEST_P(RingOf, ManyProducersAndConsumers)
{
	expect_all_come_once<MpmcRing>(GetParam(), 1);
	expect_all_come_once<MpmcRing>(GetParam(), 3);
}

// The second message is published first: the consumer woken for it can't take it yet, and sleeps again.
TEST_P(RingOf, MessagesPublishedOutOfOrderWakeAsManyAsThereAre)
{
	Shared shared(GetParam());
	MpmcRing::make(shared.ring.data(), kShape);
	std::vector<Message> got[2];
	std::thread consumers[2];
	for (int i = 0; i < 2; i++)
		consumers[i] = std::thread([&, i] { consume<MpmcRing>(shared, 1, got[i]); });
	auto slow = view<MpmcRing>(shared), fast = view<MpmcRing>(shared);
	Bell message = shared.message();
	const Message first{0, 0}, second{0, 1};
	std::memcpy(slow.room(), &first, sizeof(first));
	std::memcpy(fast.room(), &second, sizeof(second));
	for (MpmcRing *ring : {&fast, &slow}) {
		shared.await_sleepers_for_messages(2);
		ring->publish();
		EXPECT_TRUE(message.is_awaited());
		message.ring();
	}
	for (std::thread &consumer : consumers)
		consumer.join();
	EXPECT_EQ(got[0][0].number + got[1][0].number, 1u);
}

std::string bell_name(const testing::TestParamInfo<BellMake> &bell)
{
	constexpr const char *kNames[] = {"Futex", "Semaphore", "Eventfd"};
	return kNames[static_cast<int>(bell.param)];
}

INSTANTIATE_TEST_SUITE_P(Bells, RingOf, testing::Values(BellMake::Futex, BellMake::Semaphore, BellMake::Eventfd),
						 bell_name);

} // namespace
} // namespace icepath::plugin_kit
