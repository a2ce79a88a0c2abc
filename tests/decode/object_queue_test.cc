// SPDX-License-Identifier: Apache-2.0
// A forward model of a datagram socket that a thread of the run and processes that aren't watched send to, at any time.
// Calls, takings and announcements are known, as in a capture. What is matched must be the truth.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "profiler/decode/object_queue.h"

namespace icepath::decode {
namespace {

constexpr uint32_t kGiver = 1, kTaker = 2;

struct World {
	uint64_t strangers_bytes = 0; // of each of their datagrams; 0: as many as the run's, 100 to 300
	bool by_announcements = false; // the run's datagrams are known from these, else from the calls
	double flies = 0; // share of the run's datagrams that arrive after their call
	double late = 0; // share of the strangers' announcements that come late
};

struct Matched {
	double right = 0, wrong = 0; // shares of the run's datagrams that were taken
};

class Socket {
public:
	Socket(uint32_t seed, const World &world) : world_(world), random_(seed) {}

	void run(size_t &taken, size_t &right, size_t &wrong)
	{
		const uint64_t over_ns = give();
		strangers_give(over_ns);
		std::ranges::stable_sort(datagrams_, {}, &Datagram::in_ns);
		std::ranges::stable_sort(all_, {}, &Happening::at_ns); // as takings.cc does, before the others are added
		for (const Datagram &one : datagrams_)
			if (!one.give)
				all_.push_back({one.announced_ns, Happening::Kind::Foreign, 0, nullptr, 0});
		take(over_ns);
		std::ranges::stable_sort(all_, {}, &Happening::at_ns);
		std::vector<Taking> found;
		ObjectQueue(ObjectQueue::Counts::Bytes, true, found).run(all_);
		taken += truth_.size();
		for (const Taking &one : found)
			++(truth_.contains(one.take) && truth_.at(one.take) == one.give ? right : wrong);
	}

private:
	struct Datagram {
		uint64_t in_ns = 0, bytes = 0, announced_ns = 0;
		const Call *give = nullptr; // nullptr: a stranger's
	};

	uint64_t pick(uint64_t least, uint64_t most)
	{
		return std::uniform_int_distribution<uint64_t>(least, most)(random_);
	}
	bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }

	// Returns when all of it has arrived.
	uint64_t give()
	{
		uint64_t now = 100;
		for (int i = 0; i < 25; ++i) {
			Call &call = calls_.emplace_back();
			call.kind = Call::Kind::Send;
			call.begin_ns = now += pick(1, 60);
			call.bytes = 100 * pick(1, 3);
			const uint64_t device_ns = now += pick(1, 4);
			uint64_t in_ns = now += pick(1, 6);
			call.end_ns = now += pick(1, 6);
			if (chance(world_.flies))
				in_ns = now += pick(1, 30);
			datagrams_.push_back({in_ns, call.bytes, in_ns + 1, &call});
			const bool by_announcements = world_.by_announcements;
			all_.push_back({by_announcements ? device_ns : call.begin_ns, Happening::Kind::Give, kGiver, &call,
							call.bytes, by_announcements ? in_ns + 1 : call.end_ns});
		}
		return now;
	}

	void strangers_give(uint64_t over_ns)
	{
		for (uint64_t now = 100 + pick(1, 120); now < over_ns; now += pick(1, 120))
			datagrams_.push_back({now, world_.strangers_bytes ? world_.strangers_bytes : 100 * pick(1, 3),
								  now + (chance(world_.late) ? pick(5, 40) : 1), nullptr});
	}

	void take(uint64_t over_ns)
	{
		auto next = datagrams_.begin();
		for (uint64_t now = 50; now < over_ns + 200;) {
			if (next == datagrams_.end() || next->in_ns > now) {
				all_.push_back({now, Happening::Kind::Empty, kTaker, nullptr, 0});
				now += pick(1, 24);
				continue;
			}
			Call &call = calls_.emplace_back();
			call.kind = Call::Kind::Receive;
			call.begin_ns = now;
			call.end_ns = now += pick(1, 3);
			call.bytes = next->bytes;
			all_.push_back({now++, Happening::Kind::Take, kTaker, &call, call.bytes});
			if (next->give)
				truth_[&call] = next->give;
			++next;
		}
	}

	const World world_;
	std::mt19937 random_;
	std::deque<Call> calls_; // keeps its places
	std::vector<Datagram> datagrams_;
	std::vector<Happening> all_;
	std::map<const Call *, const Call *> truth_; // what gave by what took
};

Matched matched_in(const World &world)
{
	size_t taken = 0, right = 0, wrong = 0;
	for (uint32_t seed = 1; seed <= 1000; ++seed)
		Socket(seed, world).run(taken, right, wrong);
	const auto share = [&](size_t count) { return static_cast<double>(count) / static_cast<double>(taken); };
	return {share(right), share(wrong)};
}

TEST(ObjectQueue, StrangersDatagramsOfAnotherSizeAreToldFromTheRuns)
{
	for (const uint64_t bytes : {50, 1000})
		for (const bool by_announcements : {false, true}) {
			const Matched matched = matched_in({.strangers_bytes = bytes, .by_announcements = by_announcements});
			EXPECT_GT(matched.right, 0.999) << bytes;
			EXPECT_EQ(matched.wrong, 0) << bytes;
		}
}

// Of one size, and taken while one of the run's is on its way, a stranger's may be taken for it.
TEST(ObjectQueue, WhatMayBeAStrangersIsHardlyEverMatched)
{
	for (const bool by_announcements : {false, true}) {
		const Matched matched = matched_in({.by_announcements = by_announcements});
		EXPECT_GT(matched.right, 0.8);
		EXPECT_LT(matched.right, 0.95);
		EXPECT_LT(matched.wrong, 0.001);
	}
}

TEST(ObjectQueue, WhatComesOrIsAnnouncedLateIsHardlyEverMatchedWrongly)
{
	for (const World &world :
		 {World{.strangers_bytes = 50, .flies = 0.05}, World{.strangers_bytes = 1000, .late = 0.05},
		  World{.flies = 0.05}, World{.late = 0.05}}) {
		const Matched matched = matched_in(world);
		EXPECT_GT(matched.right, 0.7);
		EXPECT_LT(matched.wrong, 0.005);
	}
}

} // namespace
} // namespace icepath::decode
