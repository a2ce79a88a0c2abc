// SPDX-License-Identifier: Apache-2.0
// Messages that a library's threads handle and answer: the stamps name the thread.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/decode/relayed.h"

namespace icepath::decode {
namespace {

// kServer, of the receiver's process, takes the message and calls the receiver's handler.
class ByCallback : public Relayed {
protected:
	ByCallback()
	{
		capture.cell.wait = model::Wait::Callback;
		model::RecvStamp &received = capture.block.flows[0].recvs[0];
		received.flags |= model::by_thread(kServer);
		received.ask_ns = 1510; // when the library called
		received.take_call_ns = 1520;
		call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
		event(ICEPATH_RECORD_DATA_READY, 1120, kSender, 0xb1);
		call(kServer, ICEPATH_CALL_TAKE, 700, 1220, 0xb1);
		slept(kServer, 710, 1125, 1200, kSender);
	}
};

TEST_F(ByCallback, TheReceiverIsTheThreadThatCalledTheHandler)
{
	EXPECT_EQ(capture.text(), "0:sender.user 100' | 0:sender.kernel 20' | 1:sender.kernel/notify 5' | 1:wakeup 10 | "
							  "1:runqueue 65 | 1:receiver.kernel 20' | 1:receiver.user 480");
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kSender, kServer}));
	EXPECT_EQ(capture.decoded().deliveries.at(0).receiver, kServer);
}

// As the sides' own threads would be: the walk must not mistake them for those that had the message.
TEST_F(ByCallback, WithoutItsNameTheMessageHasNoWayToTheSide)
{
	capture.block.flows[0].recvs[0].flags = 0;
	EXPECT_NE(threads(), (std::vector<uint32_t>{kSender, kServer})) << capture.text();
}

TEST_F(ByCallback, ALibrarysThreadMaySendToo)
{
	capture.window().slots[2].records.resize(6);
	capture.window().slots[2].position = 6;
	capture.block.flows[0].sends[0].flags |= model::by_thread(kClient);
	call(kClient, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1);
	event(ICEPATH_RECORD_DATA_READY, 1120, kClient, 0xb1);
	call(kServer, ICEPATH_CALL_TAKE, 700, 1220, 0xb1);
	slept(kServer, 710, 1125, 1200, kClient);
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kClient, kServer})) << capture.text();
}

// A handed-over message: one thread of the library takes it, another calls the handler.
TEST_F(ByCallback, AnotherThreadOfTheLibraryMayHaveTakenIt)
{
	constexpr uint32_t kDelivers = 71;
	thread(kDelivers, kReceiver);
	capture.block.flows[0].recvs[0].flags = model::by_thread(kDelivers);
	call(kServer, ICEPATH_CALL_FUTEX_WAKE, 1300, 1350);
	call(kDelivers, ICEPATH_CALL_FUTEX_WAIT, 820, 1410);
	slept(kDelivers, 830, 1320, 1400, kServer);
	EXPECT_EQ(threads(), (std::vector<uint32_t>{kSender, kServer, kDelivers})) << capture.text();
}

TEST_F(ByCallback, HandlersAreNamedAfterTheirSide)
{
	constexpr uint32_t kNamed = 72;
	icepath_record &record = capture.add(2, ICEPATH_RECORD_THREAD, 21, kNamed);
	record.thread.tgid = kReceiver;
	std::string("recvUC").copy(record.thread.comm, sizeof(record.thread.comm) - 1);
	EXPECT_EQ(capture.decoded().threads.at(kNamed).name, "recvUC") << "it handles nothing";
	capture.block.flows[0].recvs[0].flags = model::by_thread(kNamed);
	EXPECT_EQ(capture.decoded().threads.at(kNamed).name, "receiver's recvUC");
	EXPECT_EQ(capture.decoded().task_names.at(kNamed), "receiver's recvUC");
}

// A worker writes the stamps, so they may name any thread.
TEST_F(ByCallback, AThreadThatNobodyKnowsIsNoEvidence)
{
	capture.block.flows[0].recvs[0].flags = model::by_thread(4'000'000);
	EXPECT_EQ(threads(), std::vector<uint32_t>{}) << capture.text();
}

} // namespace
} // namespace icepath::decode
