// SPDX-License-Identifier: Apache-2.0
// Relays behind network devices, loopback included: bytes may arrive later, in parts, and announced on top of any
// thread.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/decode/relayed.h"

namespace icepath::decode {
namespace {

// The sender's socket is 0xa1; the broker takes from 0xb1 and gives on to the receiver's 0xc1. Payloads have 100 bytes.
class ByPackets : public Relayed {
protected:
	void sent(uint64_t at, uint32_t bytes, uint32_t stream_end = 0, uint64_t socket = 0xa1, uint32_t tid = kSender)
	{
		event(ICEPATH_RECORD_DEVICE_QUEUE, at, tid, socket, stream_end).socket.bytes = bytes;
	}
	void arrives(uint64_t at, uint32_t current, uint32_t stream_end = 0, uint64_t socket = 0xb1)
	{
		event(ICEPATH_RECORD_DATA_READY, at, current, socket, stream_end).context = ICEPATH_CONTEXT_SOFTIRQ;
	}
	void gives_by_packet(uint32_t tid, uint64_t at, uint32_t bytes, uint32_t stream_end = 0, uint64_t from = 0xa1)
	{
		call(tid, ICEPATH_CALL_GIVE, at, at + 30, from, bytes);
		sent(at + 5, bytes, stream_end, from, tid);
		arrives(at + 15, tid, stream_end);
	}
	void takes(uint64_t at, uint64_t bytes) { call(kBroker, ICEPATH_CALL_TAKE, at, at + 5, 0xb1, bytes); }
	void finds_nothing(uint64_t at)
	{
		call(kBroker, ICEPATH_CALL_TAKE, at, at + 5, 0xb1).call.result = static_cast<uint64_t>(-EAGAIN);
	}
	void broker_gives_on(uint64_t at)
	{
		call(kBroker, ICEPATH_CALL_GIVE, at, at + 20, 0xb9);
		event(ICEPATH_RECORD_DATA_READY, at + 10, kBroker, 0xc1);
		call(kReceiver, ICEPATH_CALL_TAKE, at + 30, at + 35, 0xc1);
	}
};

// The call has returned, but the rest still waits for the window: a taker that finds nothing hasn't had all of it.
TEST_F(ByPackets, WhatTcpHoldsBackIsStillToCome)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1130, 0xa1, 100);
	sent(1105, 60, 1060);
	arrives(1110, kSender, 1060);
	takes(1140, 60);
	finds_nothing(1150);
	sent(1160, 40, 1100);
	arrives(1165, kBroker, 1100);
	takes(1170, 40);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// A softirq announces it on top of a thread that is giving to another object.
TEST_F(ByPackets, APartOfASegmentIsOfTheSegment)
{
	gives_by_packet(kSender, 500, 10, 1010);
	takes(560, 10);
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1130, 0xa1, 100);
	sent(1105, 100, 1110);
	call(kOther, ICEPATH_CALL_GIVE, 1132, 1160, 0xaf, 100);
	arrives(1135, kOther, 1050); // as much as fitted
	arrives(1145, kOther, 1110);
	takes(1170, 100);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// An object reused for one connection after another: the end of one isn't a segment.
TEST_F(ByPackets, AFinWasGivenByNobody)
{
	gives_by_packet(kSender, 500, 10, 1010);
	arrives(600, kClient, 1011);
	call(kClient, ICEPATH_CALL_GIVE, 590, 640, 0xaf, 100);
	takes(650, 10);
	gives_by_packet(kSender, 1100, 100, 5100);
	takes(1170, 100);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// The CPU that announces a datagram is delayed, and a polling taker has it before.
TEST_F(ByPackets, ADatagramMayBeTakenBeforeItIsAnnounced)
{
	capture.add(2, ICEPATH_RECORD_THREAD, 20, kOther).thread.tgid = kOther; // a process of its own
	gives_by_packet(kOther, 400, 30, 0, 0xaf); // so that the packets' order decides, not the calls'
	takes(460, 30);
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1, 100);
	sent(1105, 100);
	takes(1110, 100);
	arrives(1120, kSender);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// An answer before the other's call has returned was given later, as the order of the announcements shows.
TEST_F(ByPackets, WhatIsAnnouncedIsInThatOrder)
{
	capture.add(2, ICEPATH_RECORD_THREAD, 20, kOther).thread.tgid = kOther;
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1, 100);
	sent(1105, 100);
	arrives(1110, kSender);
	icepath_record &answer = call(kOther, ICEPATH_CALL_GIVE, 1120, 1160, 0xaf, 30);
	answer.cpu = 1;
	sent(1125, 30, 0, 0xaf);
	arrives(1135, kOther);
	takes(1140, 100);
	takes(1170, 30);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// A socket announces something after its last seen packet: that packet isn't announced twice.
TEST_F(ByPackets, ADatagramComesToASocketOnce)
{
	capture.add(2, ICEPATH_RECORD_THREAD, 20, kOther).thread.tgid = kOther;
	gives_by_packet(kOther, 400, 30, 0, 0xaf);
	takes(460, 30);
	gives_by_packet(kSender, 500, 100);
	takes(560, 100);
	arrives(700, 0);
	gives_by_packet(kSender, 1100, 100);
	takes(1170, 100);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// A process that isn't watched sends datagrams to the same socket, on another CPU.
class WithAStranger : public ByPackets {
protected:
	WithAStranger()
	{
		gives_by_packet(kSender, 500, 100);
		takes(560, 100);
		finds_nothing(600);
	}
	void a_strangers_comes(uint64_t at)
	{
		icepath_record &record = event(ICEPATH_RECORD_DATA_READY, at, 0, 0xb1);
		record.context = ICEPATH_CONTEXT_SOFTIRQ;
		record.cpu = 1;
	}
	// The datagram of a call at 1100 is queued at 1105.
	void gives_slowly() { call(kSender, ICEPATH_CALL_GIVE, 1100, 1150, 0xa1, 100), sent(1105, 100); }
	// The message and a stranger's are taken, and then a stranger's of its size.
	void is_left_by_what_follows()
	{
		takes(1160, 100);
		takes(1170, 380);
		finds_nothing(1180);
		a_strangers_comes(1190);
		takes(1200, 100);
		EXPECT_EQ(to_broker(), "left_path");
	}
	// How the message came to the broker, at the latest instant, which ends the taking call.
	std::string to_broker()
	{
		broker_gives_on(1300);
		const std::string text = capture.text();
		return text.substr(0, text.find(" | 1:relay.user"));
	}
};

TEST_F(WithAStranger, ItsDatagramIsTheOneOfAnotherSize)
{
	gives_by_packet(kSender, 1100, 100);
	const std::string alone =
		"0:sender.user 100' | 0:sender.kernel 5' | 1:network 10' | 1:queue/busy 55' | 1:relay.kernel 5'";
	a_strangers_comes(1140);
	takes(1170, 100);
	takes(1180, 380);
	finds_nothing(1190);
	EXPECT_EQ(to_broker(), alone);
}

// It may come before or after a datagram that is sent at the same time.
TEST_F(WithAStranger, SizesTellWhatTimesDoNot)
{
	gives_by_packet(kSender, 1100, 100);
	a_strangers_comes(1112);
	takes(1170, 380);
	takes(1180, 100);
	finds_nothing(1190);
	EXPECT_EQ(to_broker(),
			  "0:sender.user 100' | 0:sender.kernel 5' | 1:network 10' | 1:queue/busy 65' | 1:relay.kernel 5'");
}

TEST_F(WithAStranger, OfTwoOfOneSizeNeitherIsTheMessage)
{
	gives_by_packet(kSender, 1100, 100);
	a_strangers_comes(1140);
	takes(1170, 100);
	takes(1180, 100);
	EXPECT_EQ(to_broker(), "left_path");
}

TEST_F(WithAStranger, WhatWasTakenBeforeTheCallIsNotTheMessage)
{
	a_strangers_comes(1050);
	takes(1060, 100);
	gives_by_packet(kSender, 1100, 100);
	takes(1170, 100);
	finds_nothing(1190);
	EXPECT_EQ(to_broker(),
			  "0:sender.user 100' | 0:sender.kernel 5' | 1:network 10' | 1:queue/busy 55' | 1:relay.kernel 5'");
}

TEST_F(WithAStranger, MoreTakenThanAnnouncedIsNotMatched)
{
	gives_by_packet(kSender, 1100, 100);
	a_strangers_comes(1140);
	takes(1160, 380);
	takes(1170, 100);
	takes(1180, 380);
	EXPECT_EQ(to_broker(), "left_path");
}

// Without the announcement, what was taken at 1110 would be the message.
class OnItsWay : public WithAStranger {
protected:
	void a_strangers_is_taken(uint64_t bytes)
	{
		a_strangers_comes(1095);
		gives_slowly();
		takes(1110, bytes);
		finds_nothing(1120);
		arrives(1145, kSender);
		takes(1160, 100);
		EXPECT_EQ(to_broker(),
				  "0:sender.user 100' | 0:sender.kernel 5' | 1:network 40' | 1:queue/busy 15' | 1:relay.kernel 5'");
	}
};

TEST_F(OnItsWay, AStrangersOfItsSizeIsNotTheMessage) { a_strangers_is_taken(100); }

TEST_F(OnItsWay, ASmallerStrangersIsNotTheMessage) { a_strangers_is_taken(60); }

TEST_F(WithAStranger, ItsAnnouncementIsNotTheMessages)
{
	gives_slowly();
	a_strangers_comes(1112);
	takes(1116, 100);
	arrives(1125, kSender);
	takes(1180, 380);
	finds_nothing(1190);
	const std::string with_strangers = to_broker();
	EXPECT_EQ(with_strangers.find("no_evidence"), std::string::npos) << with_strangers;
}

// It is announced, but a call that takes nothing isn't told from one that found nothing.
TEST_F(WithAStranger, AnEmptyDatagramLeavesTheMessageUnmatched)
{
	gives_by_packet(kSender, 1100, 100);
	a_strangers_comes(1130);
	a_strangers_comes(1140);
	takes(1150, 0);
	is_left_by_what_follows();
}

// A polling taker has a stranger's datagram before it is announced.
TEST_F(WithAStranger, ALateAnnouncementLeavesTheMessageUnmatched)
{
	takes(1010, 380);
	finds_nothing(1020);
	a_strangers_comes(1030);
	gives_by_packet(kSender, 1100, 100);
	a_strangers_comes(1140);
	is_left_by_what_follows();
}

// UDP cuts what one call gave into datagrams, each with an announcement.
TEST_F(WithAStranger, PartsOfACallAreNotStrangers)
{
	call(kSender, ICEPATH_CALL_GIVE, 1100, 1130, 0xa1, 300);
	sent(1105, 300);
	for (const uint64_t at : {1110, 1112, 1114})
		arrives(at, kSender);
	a_strangers_comes(1140);
	for (const uint64_t at : {1150, 1160, 1170})
		takes(at, 100);
	takes(1180, 300);
	EXPECT_EQ(to_broker(), "left_path");
}

// A datagram to a socket of another program isn't among those that the broker takes.
TEST_F(ByPackets, WhatGoesElsewhereIsNotTakenHere)
{
	call(kSender, ICEPATH_CALL_GIVE, 500, 530, 0xa1, 30);
	sent(505, 30);
	gives_by_packet(kSender, 1100, 100);
	takes(1170, 100);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// Another thread of the sender's process, woken by the sender, sends more than a message from the same socket.
TEST_F(ByPackets, WhatAnotherThreadSendsElsewhereIsNotTheMessage)
{
	woken_by_futex(kSender, kClient, 1020);
	call(kClient, ICEPATH_CALL_GIVE, 1120, 1150, 0xa1, 124);
	sent(1125, 124, 0, 0xa1, kClient);
	gives_by_packet(kSender, 1200, 200);
	takes(1270, 200);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// The sender loses its CPU within its call to such a thread.
TEST_F(ByPackets, APacketIsOfTheCallThatItsThreadIsIn)
{
	gives_by_packet(kSender, 400, 200);
	takes(470, 200);
	call(kSender, ICEPATH_CALL_GIVE, 500, 530, 0xa1, 30);
	sent(505, 30);
	woken_by_futex(kSender, kClient, 1020);
	call(kSender, ICEPATH_CALL_GIVE, 1115, 1200, 0xa1, 200);
	call(kClient, ICEPATH_CALL_GIVE, 1120, 1150, 0xa1, 124);
	sent(1125, 124, 0, 0xa1, kClient);
	sent(1170, 200);
	arrives(1180, kSender);
	takes(1270, 200);
	broker_gives_on(1300);
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// Threads of three processes send heartbeats, one of them to the socket 0xd1 of the sender's library.
class WithHeartbeats : public ByPackets {
protected:
	WithHeartbeats() { thread(kOther, kOther); }
	// The receive softirq that the packet of a call causes on its CPU, within that call.
	void softirq(uint64_t begin, uint64_t end, uint32_t current, uint16_t cpu)
	{
		icepath_record &record = capture.add(2, ICEPATH_RECORD_INTERRUPT, end, current);
		record.cpu = cpu;
		record.interrupt.begin_ns = begin;
		record.interrupt.vector = 3; // NET_RX
		record.interrupt.kind = ICEPATH_INTERRUPT_SOFTIRQ;
	}
	void beats(uint32_t tid, uint64_t at, uint64_t from, uint16_t cpu)
	{
		call(tid, ICEPATH_CALL_GIVE, at, at + 30, from, 30).cpu = cpu;
		icepath_record &packet = event(ICEPATH_RECORD_DEVICE_QUEUE, at + 5, tid, from);
		packet.cpu = cpu;
		packet.socket.bytes = 30;
		softirq(at + 6, at + 20, tid, cpu);
	}
	void is_announced(uint64_t at, uint32_t current, uint16_t cpu)
	{
		icepath_record &record = event(ICEPATH_RECORD_DATA_READY, at, current, 0xd1);
		record.context = ICEPATH_CONTEXT_SOFTIRQ;
		record.cpu = cpu;
	}
	void is_taken(uint64_t at) { call(kClient, ICEPATH_CALL_TAKE, at, at + 5, 0xd1, 30); }
	void message_passes()
	{
		gives_by_packet(kSender, 1150, 100);
		takes(1190, 100);
		broker_gives_on(1300);
	}
};

// A program that isn't watched sends to the library's socket, on the CPU where a thread had sent elsewhere. That thread
// has given nothing while another was giving.
TEST_F(WithHeartbeats, WhatAStrangerSendsIsNotThePacketBefore)
{
	constexpr uint32_t kStranger = 900;
	beats(kOther, 1070, 0xaf, 1);
	beats(kServer, 1080, 0xcf, 2);
	is_announced(1095, kServer, 2);
	is_taken(1130);
	softirq(1195, 1210, kStranger, 1);
	is_announced(1200, kStranger, 1);
	is_taken(1230);
	message_passes();
	EXPECT_EQ(threads(), by_broker) << capture.text();
}

// Two threads gave at the same time, and one of the heartbeats stays in the socket.
TEST_F(WithHeartbeats, WhatNobodyTookMeanwhileDidNotCarryIt)
{
	beats(kOther, 500, 0xaf, 1);
	is_announced(515, kOther, 1);
	beats(kServer, 510, 0xcf, 2);
	is_announced(525, kServer, 2);
	is_taken(560);
	message_passes();
	EXPECT_EQ(threads(), by_broker) << capture.text();
	is_taken(1230);
	EXPECT_EQ(capture.text(), "ambiguous_relay");
}

} // namespace
} // namespace icepath::decode
