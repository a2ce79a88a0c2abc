// SPDX-License-Identifier: Apache-2.0
// Which segments a sample is in, and whether its function ran there.
#include "profiler/path/sampled.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/path/socket_scene.h"

namespace icepath::path {
namespace {

constexpr uint64_t kPeriodNs = 1000;

// 100 send, 110 call, 140 ready, 145 waking, 180 wakeup, 200 switched in, 260 taken, 270 recv: sender.user 10,
// sender.kernel 30, its notify 5, wakeup 35, runqueue 20, receiver.kernel 60, receiver.user 10.
Scene woken_receiver()
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	return scene;
}

void sample(Scene &scene, uint32_t tid, uint64_t planned_ns, uint64_t handled_ns)
{
	scene.seen.samples.push_back({tid, scene.thread(tid).first_cpu, planned_ns, handled_ns, 1});
}

// "receiver.kernel, runqueue late": the segments of each sample, "late" if its function isn't of that instant, "other"
// if its stack is another thread's; "-" without any.
std::string text_of_samples(Scene scene, uint64_t period_ns = kPeriodNs)
{
	const std::vector<Path> paths = {scene.path()};
	scene.seen.deliveries = {scene.delivery};
	const auto found = sampled_segments(scene.seen, paths, period_ns);
	std::string text;
	for (uint32_t i = 0; i < scene.seen.samples.size(); ++i) {
		text += i > 0 ? ", " : "";
		bool any = false;
		for (const SampledSegment &one : found)
			if (one.sample == i) {
				any = true;
				const Segment &segment = paths[0].segments[one.segment];
				text += fmt::format("{}{}{}", name(segment.layer), segment.part == Part::Notify ? "/notify" : "",
									!one.of_thread    ? " other"
									: !one.of_instant ? " late"
													  : "");
			}
		text += any ? "" : "-";
	}
	return text;
}

TEST(Sampled, IsInTheSegmentOfItsInstantOnItsThread)
{
	Scene scene = woken_receiver();
	sample(scene, kSender, 105, 105);
	sample(scene, kSender, 110, 110);
	sample(scene, kSender, 139, 139);
	sample(scene, kReceiver, 200, 200);
	sample(scene, kReceiver, 265, 265);
	EXPECT_EQ(text_of_samples(scene), "sender.user, sender.kernel, sender.kernel, receiver.kernel, receiver.user");
}

// The sender's call announces the message.
TEST(Sampled, AnnouncingIsTheWorkOfTheThreadThatDoesIt)
{
	Scene scene = woken_receiver();
	sample(scene, kSender, 142, 142);
	sample(scene, kSender, 142, 300);
	EXPECT_EQ(text_of_samples(scene), "sender.kernel/notify, sender.kernel/notify late");
	scene.transfer().ready_tid = kReceiver;
	EXPECT_EQ(text_of_samples(scene), "-, -");
}

// The message isn't the sender's any more, or isn't there yet.
TEST(Sampled, OutsideOfThePathIsInNone)
{
	Scene scene = woken_receiver();
	sample(scene, kSender, 99, 99);
	sample(scene, kSender, 170, 170);
	sample(scene, kReceiver, 55, 55);
	sample(scene, kReceiver, 270, 270);
	EXPECT_EQ(text_of_samples(scene), "-, -, -, -");
}

TEST(Sampled, TheFunctionOfALaterSegmentIsNotOfTheInstant)
{
	Scene scene = woken_receiver();
	sample(scene, kSender, 105, 108);
	sample(scene, kSender, 105, 125);
	sample(scene, kReceiver, 210, 262);
	EXPECT_EQ(text_of_samples(scene), "sender.user, sender.user late, receiver.kernel late");
}

// The handler runs some time after the timer stopped the code.
TEST(Sampled, ItsInterruptStoppedTheCode)
{
	Scene scene = woken_receiver();
	scene.interrupt(kReceiverCpu, 215, 250);
	sample(scene, kReceiver, 210, 240);
	EXPECT_EQ(stopped_at(scene.seen, scene.seen.samples[0]), 215u);
	EXPECT_EQ(text_of_samples(scene), "receiver.kernel");
	scene.seen.cpus.clear();
	EXPECT_EQ(stopped_at(scene.seen, scene.seen.samples[0]), 240u);
}

TEST(Sampled, AnInterruptOfAnotherKindDidNotStopTheCode)
{
	Scene scene = woken_receiver();
	scene.interrupt(kReceiverCpu, 205, 250, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	scene.interrupt(kReceiverCpu, 215, 230);
	scene.interrupt(kReceiverCpu, 232, 249);
	sample(scene, kReceiver, 220, 240);
	EXPECT_EQ(stopped_at(scene.seen, scene.seen.samples[0]), 232u);
	scene.seen.samples[0].handled_ns = 231;
	EXPECT_EQ(stopped_at(scene.seen, scene.seen.samples[0]), 231u) << "the timer's interrupt before it is over";
}

// The timer was due while the receiver still ran; interrupts came on in the thread that ran after it.
TEST(Sampled, BelongsToTheThreadThatHadTheCpu)
{
	Scene scene = woken_receiver();
	constexpr uint32_t kNext = 30;
	scene.add_thread(kNext, kReceiverCpu);
	scene.sleep(kNext, 1, 255, 256, 275, kSender);
	scene.sleep(kReceiver, 275, 400, 410, 420, kSender);
	scene.seen.samples.push_back({kNext, kReceiverCpu, 265, 280, 1});
	scene.seen.samples.push_back({kNext, kReceiverCpu, 190, 280, 1}); // nobody that is known had it
	EXPECT_EQ(text_of_samples(scene), "receiver.user other, -");
}

TEST(Sampled, ATimeThatIsNotToldIsAMultipleOfThePeriodBefore)
{
	Scene scene = woken_receiver();
	const uint64_t lags_ns[] = {7, 3, 3, 45, 3, 12, 3, 400, 3};
	for (uint64_t i = 0; i < std::size(lags_ns); ++i)
		sample(scene, kSender, 0, 10'985 + i * kPeriodNs + lags_ns[i]);
	const std::vector<uint64_t> planned_ns = planned_times(scene.seen, kPeriodNs);
	for (uint64_t i = 0; i < std::size(lags_ns); ++i)
		EXPECT_EQ(planned_ns[i], 10'988 + i * kPeriodNs) << "the least delay can't be seen";
	scene.seen.samples[1].planned_ns = 77;
	EXPECT_EQ(planned_times(scene.seen, kPeriodNs)[1], 77u) << "a known one stays";
}

} // namespace
} // namespace icepath::path
