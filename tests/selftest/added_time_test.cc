// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/added_time.h"

#include <gtest/gtest.h>

namespace icepath::selftest {
namespace {

using model::Layer;

constexpr uint32_t kSender = 10, kReceiver = 20, kHogTask = 99;

const Injection kInjection = {"hog", "", {"uds-stream", 100}, {}, {}, {{Layer::Runqueue}}, "the-hog"};

path::Segment segment(Layer layer, uint64_t begin, uint64_t end, uint32_t culprit = 0)
{
	path::Segment one;
	one.layer = layer;
	one.begin.at_ns = begin;
	one.end.at_ns = end;
	if (culprit)
		one.culprit = {path::Culprit::Kind::Task, culprit, 0};
	return one;
}

struct Block {
	path::Observations seen;
	std::vector<path::Path> paths;

	void add(uint32_t sender, std::vector<path::Segment> segments)
	{
		path::Delivery delivery;
		delivery.sender = sender;
		seen.deliveries.push_back(delivery);
		path::Path path;
		path.send_ns = segments.front().begin.at_ns;
		path.recv_ns = segments.back().end.at_ns;
		path.segments = std::move(segments);
		paths.push_back(path);
	}
};

TEST(AddedTime, IsOfTheMessagesOfOneSideWithACompletePath)
{
	Block block;
	block.seen.task_names[kHogTask] = "the-hog";
	block.add(kSender, {segment(Layer::SenderUser, 0, 100), segment(Layer::Runqueue, 100, 400, kHogTask)});
	block.add(kSender, {segment(Layer::SenderUser, 1000, 1200)});
	block.add(kReceiver, {segment(Layer::Blocked, 0, 90'000)}); // an answer
	block.add(kSender, {segment(Layer::SenderUser, 2000, 2300)});
	block.paths.back().reason = path::Reason::LostRecord;
	const BlockMeans means = means_of(block.seen, block.paths, kSender, kInjection);
	EXPECT_EQ(means.messages, 3u);
	EXPECT_EQ(means.complete, 2u);
	EXPECT_EQ(means.latency_ns, 300);
	EXPECT_EQ(means.layers_ns[static_cast<size_t>(Layer::SenderUser)][0], 150);
	EXPECT_EQ(means.layers_ns[static_cast<size_t>(Layer::Runqueue)][0], 150);
	EXPECT_EQ(means.named_ns, 150);
}

// If a wait is divided among culprits, the shares count, not the largest one.
TEST(AddedTime, IsNamedByShares)
{
	Block block;
	block.seen.task_names[kHogTask] = "the-hog";
	block.add(kSender, {segment(Layer::Runqueue, 0, 1000, kHogTask), segment(Layer::Blocked, 1000, 1500, kHogTask)});
	block.paths.back().shares = {{0, {path::Culprit::Kind::Task, kHogTask, 0}, 600},
								 {0, {path::Culprit::Kind::IdleCpu, 0, 0}, 400}};
	EXPECT_EQ(means_of(block.seen, block.paths, kSender, kInjection).named_ns, 600);
}

// A relay's hop, between its taking and its sending call.
struct Relayed {
	static constexpr uint32_t kRelay = 15;
	path::Path path;
	path::Delivery delivery;
	std::vector<RelayStamps> relays{{kRelay, {{1'250, 1'750}, {91'250, 91'750}}}};

	Relayed()
	{
		delivery.sender = kSender;
		delivery.receiver = kReceiver;
		const auto add = [&](Layer layer, uint64_t begin, uint64_t end, uint16_t hop, uint32_t thread) {
			path.segments.push_back(segment(layer, begin, end));
			path.segments.back().hop = hop;
			path.segments.back().thread = thread;
		};
		add(Layer::SenderUser, 1'000, 1'100, 0, kSender);
		add(Layer::Runqueue, 1'100, 1'200, 1, kRelay);
		add(Layer::RelayUser, 1'200, 1'500, 1, kRelay);
		add(Layer::RelayKernel, 1'500, 1'600, 1, kRelay);
		add(Layer::RelayUser, 1'600, 1'800, 1, kRelay);
		add(Layer::RelayKernel, 1'800, 1'900, 1, kRelay);
		add(Layer::ReceiverKernel, 1'900, 2'000, 2, kReceiver);
	}
	bool holds() const { return goes_by(path, delivery, relays); }
};

TEST(AddedTime, APathThroughTheRelayHoldsByItsStamps) { EXPECT_TRUE(Relayed().holds()); }

TEST(AddedTime, APathIsContradictedByTheRelaysStamps)
{
	Relayed earlier;
	earlier.relays[0].stamps[0].taken_ns = 1'190; // it had the message earlier than the path claims
	EXPECT_FALSE(earlier.holds());
	Relayed later;
	later.relays[0].stamps[0].given_ns = 1'810;
	EXPECT_FALSE(later.holds());
	Relayed another;
	another.relays[0].tid = 16;
	EXPECT_FALSE(another.holds());
	Relayed none;
	none.relays.clear();
	EXPECT_FALSE(none.holds());
	Relayed twice; // two messages, but the path has one
	twice.relays[0].stamps[1] = {1'760, 1'780};
	EXPECT_FALSE(twice.holds());
}

TEST(AddedTime, APathThroughMoreThanTheRelayIsContradicted)
{
	Relayed heartbeat; // of another thread of the sender's process
	heartbeat.path.segments[0].thread = 11;
	EXPECT_FALSE(heartbeat.holds());
	Relayed longer;
	longer.path.segments.back().hop = 3;
	EXPECT_FALSE(longer.holds());
	Relayed two;
	two.path.segments[4].thread = 16;
	EXPECT_FALSE(two.holds());
	Relayed direct;
	direct.path.segments.erase(direct.path.segments.begin() + 1, direct.path.segments.end() - 1);
	EXPECT_FALSE(direct.holds());
}

} // namespace
} // namespace icepath::selftest
