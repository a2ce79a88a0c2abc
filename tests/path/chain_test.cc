// SPDX-License-Identifier: Apache-2.0
// Paths over more than two threads: relays by message edge, hand-over by wake edge, and where the walk gives up.
#include <gtest/gtest.h>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

constexpr uint32_t kRelay = 30;
constexpr uint16_t kRelayCpu = 2;

// The first transfer, to `to`: call [110, 150), ready at 140, taken in [52, 260) after a sleep.
void first_leg(Scene &scene, uint32_t to)
{
	Transfer &transfer = scene.transfer();
	transfer.to = to;
	transfer.call = at(110);
	transfer.call_return = at(150);
	transfer.ready = at(140);
	transfer.ask = at(50);
	transfer.take_call = at(52);
	transfer.take_return = at(260);
	scene.sleep(to, 60, 145, 180, 200, kSender);
	scene.delivery.send = at(100);
}

constexpr const char *kFirstLeg = "0:sender.user 10 | 0:sender.kernel 30 | 1:sender.kernel/notify 5' | 1:wakeup 35 | "
								  "1:runqueue 20 | 1:relay.kernel 60 | ";

std::string after_first_leg(const Scene &scene)
{
	std::string text = scene.text();
	return text.starts_with(kFirstLeg) ? text.substr(std::string(kFirstLeg).size()) : text;
}

TEST(Chain, ABrokerTakesAndSends)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	Transfer &second = scene.add_transfer(kRelay, kReceiver);
	second.call = at(280);
	second.call_return = at(330);
	second.ready = at(310);
	second.ask = at(20);
	second.polls = true;
	second.take_call = at(320);
	second.take_return = at(340);
	scene.delivery.recv = at(350);
	EXPECT_EQ(after_first_leg(scene), "1:relay.user 20 | 1:relay.kernel 30 | 2:propagation 10 | 2:receiver.kernel 20 | "
									  "2:receiver.user 10");
	for (const Segment &segment : scene.path().segments)
		EXPECT_EQ(segment.thread, segment.hop == 0 ? kSender : segment.hop == 1 ? kRelay : kReceiver);
}

TEST(Chain, NotifyOfARelayIsTheRelaysKernel)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	Transfer &second = scene.add_transfer(kRelay, kReceiver);
	second.call = at(280);
	second.call_return = at(330);
	second.ready = at(310);
	second.ask = at(20);
	second.take_call = at(20);
	second.take_return = at(440);
	scene.sleep(kReceiver, 30, 315, 320, 325, kRelay);
	scene.delivery.recv = at(450);
	EXPECT_EQ(after_first_leg(scene), "1:relay.user 20 | 1:relay.kernel 30 | 2:relay.kernel/notify 5' | 2:wakeup 5 | "
									  "2:runqueue 5 | 2:receiver.kernel 115 | 2:receiver.user 10");
}

// The middleware's thread took the message and woke the application's thread by a condition variable.
TEST(Chain, AWakeByWhoCarriesTheMessageIsCrossed)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kRelay);
	scene.delivery.recv = at(350);
	EXPECT_EQ(after_first_leg(scene), "1:relay.user 40' | 2:wakeup 10 | 2:runqueue 10 | 2:receiver.user 30");
}

TEST(Chain, KnownCallsOfAWokenThreadAreKernelTime)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kRelay);
	scene.thread(kReceiver).calls.push_back({25, 330, Call::Kind::ReadinessWait, {}});
	scene.delivery.recv = at(350);
	EXPECT_EQ(after_first_leg(scene),
			  "1:relay.user 40' | 2:wakeup 10 | 2:runqueue 10 | 2:receiver.kernel 10 | 2:receiver.user 20");
}

TEST(Chain, ARelayThatWasWokenSendsOn)
{
	constexpr uint32_t kIo = 31;
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	scene.add_thread(kIo, 3);
	first_leg(scene, kRelay);
	scene.sleep(kIo, 30, 300, 310, 320, kRelay);
	Transfer &second = scene.add_transfer(kIo, kReceiver);
	second.call = at(340);
	second.call_return = at(360);
	second.ready = at(350);
	second.ask = at(20);
	second.polls = true;
	second.take_call = at(355);
	second.take_return = at(365);
	scene.delivery.recv = at(370);
	EXPECT_EQ(after_first_leg(scene),
			  "1:relay.user 40' | 2:wakeup 10 | 2:runqueue 10 | 2:relay.user 20 | 2:relay.kernel 10 | "
			  "3:propagation 5 | 3:receiver.kernel 10 | 3:receiver.user 5");
}

// Two threads of one program: there is no transfer, and the path needs none.
TEST(Chain, TheSenderItselfWakesTheReceiver)
{
	Scene scene;
	scene.seen.transfers.clear();
	scene.sleep(kReceiver, 30, 140, 150, 160, kSender);
	scene.thread(kSender).calls.push_back({130, 145, Call::Kind::Send, {}});
	scene.delivery.send = at(100);
	scene.delivery.recv = at(170);
	EXPECT_EQ(scene.text(),
			  "0:sender.user 30 | 0:sender.kernel 10' | 1:wakeup 10 | 1:runqueue 10 | 1:receiver.user 10");
}

TEST(Chain, ARelayThatSendsBeforeItTook)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	Transfer &second = scene.add_transfer(kRelay, kReceiver);
	second.call = at(250);
	second.call_return = at(330);
	second.ready = at(310);
	second.ask = at(20);
	second.polls = true;
	second.take_call = at(320);
	second.take_return = at(340);
	scene.delivery.recv = at(350);
	EXPECT_EQ(scene.text(), "inverted_time");
}

TEST(Chain, AWakeByAnybodyElseIsNotCrossed)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kForeign);
	scene.delivery.recv = at(350);
	EXPECT_EQ(scene.text(), "left_path");
}

TEST(Chain, AWakeBeforeTheWakerHadTheMessageIsNotCrossed)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 250, 310, 320, kRelay);
	scene.delivery.recv = at(350);
	EXPECT_EQ(scene.text(), "left_path");
}

TEST(Chain, AnInterruptOnTopOfTheCarrierIsNotItsWake)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kRelay).waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	scene.delivery.recv = at(350);
	EXPECT_EQ(scene.text(), "left_path");
}

TEST(Chain, TwoWakesByCarriersAreAmbiguous)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kRelay);
	scene.sleep(kReceiver, 330, 340, 345, 350, kRelay);
	scene.delivery.recv = at(360);
	EXPECT_EQ(scene.text(), "ambiguous_relay");
}

// The waker had another message in flight as well: it may have handed over either.
TEST(Chain, AWakerWithTwoMessagesIsAmbiguous)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	first_leg(scene, kRelay);
	scene.sleep(kReceiver, 30, 300, 310, 320, kRelay);
	scene.delivery.recv = at(350);
	Transfer &other = scene.add_transfer(kSender, kRelay);
	other.message = 2;
	other.take_return = at(290);
	scene.seen.deliveries.push_back({2, kSender, kReceiver, at(120), at(345)});
	EXPECT_EQ(scene.text(), "ambiguous_relay");
	scene.seen.deliveries.back().recv = at(299);
	EXPECT_TRUE(scene.path().complete());
}

TEST(Chain, TwoTransfersToOneThreadAreAmbiguous)
{
	Scene scene;
	first_leg(scene, kReceiver);
	scene.seen.transfers.push_back(scene.transfer());
	scene.delivery.recv = at(300);
	EXPECT_EQ(scene.text(), "ambiguous_relay");
}

TEST(Chain, ARelayThatHadTheMessageBeforeItWasSentLeftThePath)
{
	Scene scene;
	scene.add_thread(kRelay, kRelayCpu);
	Transfer &only = scene.transfer();
	only.from = kRelay;
	only.call = at(80);
	only.call_return = at(120);
	only.ready = at(90);
	only.ask = at(20);
	only.take_call = at(100);
	only.take_return = at(110);
	scene.delivery.send = at(100);
	scene.delivery.recv = at(130);
	EXPECT_EQ(scene.text(), "left_path");
}

} // namespace
} // namespace icepath::path
