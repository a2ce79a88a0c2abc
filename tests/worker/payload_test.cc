// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "profiler/worker/protocol.h"

namespace icepath::worker {
namespace {

using Verdict = Payloads::Verdict;

constexpr uint64_t kSizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 64, 4096, 65536};

std::vector<uint8_t> prepared(const Payloads &payloads, uint64_t seq, uint32_t direction = 0)
{
	std::vector<uint8_t> message(payloads.bytes());
	payloads.prepare(message.data(), seq, direction);
	return message;
}

TEST(Payload, BeginsWithItsHead)
{
	Payloads payloads(64);
	payloads.begin_block(77);
	PayloadHead head{};
	std::memcpy(&head, prepared(payloads, 5).data(), sizeof(head));
	EXPECT_EQ(head.seq, 5u);
	EXPECT_EQ(head.block, 77u);
}

TEST(Payload, TellsWhichSenderItIsFrom)
{
	Payloads receiver(64);
	receiver.begin_block(77, 0, 64);
	std::vector<uint8_t> first;
	for (const uint32_t sender : {0u, 1u, 63u}) {
		Payloads payloads(64);
		payloads.begin_block(77, sender);
		auto message = prepared(payloads, 5);
		auto checked = receiver.verify(message.data(), message.size(), 5, 0);
		EXPECT_EQ(checked.verdict, Verdict::Intact);
		EXPECT_EQ(checked.sender, sender);
		EXPECT_EQ(checked.seq, 5u);
		if (sender == 0) {
			first = message;
			continue;
		}
		// The head of one message with the body of another.
		std::copy(first.begin() + sizeof(PayloadHead), first.end(), message.begin() + sizeof(PayloadHead));
		EXPECT_EQ(receiver.verify(message.data(), message.size(), 5, 0).verdict, Verdict::Damaged);
		payloads.begin_block(76, sender);
		EXPECT_EQ(receiver.verify(prepared(payloads, 5).data(), 64, 5, 0).verdict, Verdict::OtherBlock);
	}
	Payloads stranger(64);
	stranger.begin_block(77, 64);
	EXPECT_EQ(receiver.verify(prepared(stranger, 5).data(), 64, 5, 0).verdict, Verdict::OtherBlock);
}

TEST(Payload, OfAnySizeIsRecognised)
{
	for (const uint64_t size : kSizes) {
		Payloads payloads(size);
		payloads.begin_block(3);
		for (const uint64_t seq : {0u, 1u, 255u, 256u, 1000u, 70'000u}) {
			const auto checked = payloads.verify(prepared(payloads, seq).data(), size, seq, 0);
			EXPECT_EQ(checked.seq, seq) << size;
			EXPECT_EQ(checked.verdict, Verdict::Intact) << size;
		}
	}
}

TEST(Payload, EveryFlippedByteIsFound)
{
	for (const uint64_t size : {1u, 7u, 16u, 64u, 500u}) {
		Payloads payloads(size);
		payloads.begin_block(3);
		for (uint64_t at = 0; at < size; at++) {
			auto message = prepared(payloads, 9);
			message[at] ^= 0x10;
			const auto checked = payloads.verify(message.data(), size, 9, 0);
			EXPECT_TRUE(checked.verdict != Verdict::Intact || checked.seq != 9) << size << " at " << at;
		}
	}
}

TEST(Payload, AnotherLengthIsDamage)
{
	Payloads payloads(64);
	const auto message = prepared(payloads, 9);
	for (const uint64_t received : {0u, 1u, 8u, 63u})
		EXPECT_EQ(payloads.verify(message.data(), received, 9, 0).verdict, Verdict::Damaged) << received;
}

TEST(Payload, ThatWentTheOtherWayIsDamage)
{
	Payloads payloads(64);
	EXPECT_EQ(payloads.verify(prepared(payloads, 9, 1).data(), 64, 9, 0).verdict, Verdict::Damaged);
	EXPECT_EQ(payloads.verify(prepared(payloads, 9, 1).data(), 64, 9, 1).verdict, Verdict::Intact);
}

TEST(Payload, OfAnEarlierBlockIsTold)
{
	Payloads payloads(64);
	payloads.begin_block(1);
	const auto message = prepared(payloads, 9);
	payloads.begin_block(2);
	EXPECT_EQ(payloads.verify(message.data(), 64, 0, 0).verdict, Verdict::OtherBlock);
}

TEST(Payload, TooShortForItsSeqCountsOnFromTheExpectedOne)
{
	Payloads payloads(1);
	const auto message = prepared(payloads, 258); // carries 2
	EXPECT_EQ(payloads.verify(message.data(), 1, 250, 0).seq, 258u);
	EXPECT_EQ(payloads.verify(message.data(), 1, 258, 0).seq, 258u);
	EXPECT_EQ(payloads.verify(message.data(), 1, 259, 0).seq, 514u);
}

TEST(Payload, ClosesABlock)
{
	for (const uint64_t size : kSizes) {
		Payloads payloads(size);
		const auto message = prepared(payloads, kClosingSeq);
		EXPECT_EQ(payloads.verify(message.data(), size, 4, 0, true).verdict, Verdict::Closing) << size;
		const auto unannounced = payloads.verify(message.data(), size, 4, 0, false);
		EXPECT_EQ(unannounced.verdict == Verdict::Closing, size >= 8) << size;
	}
}

TEST(Payload, GarbageIsNeverIntact)
{
	std::mt19937_64 random(1);
	for (const uint64_t size : {17u, 64u, 4096u}) {
		Payloads payloads(size);
		std::vector<uint8_t> message(size);
		for (int round = 0; round < 2000; round++) {
			for (uint8_t &byte : message)
				byte = static_cast<uint8_t>(random());
			EXPECT_NE(payloads.verify(message.data(), random() % (size + 1), random(), 0).verdict, Verdict::Intact);
		}
	}
}

} // namespace
} // namespace icepath::worker
