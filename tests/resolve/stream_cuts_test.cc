// SPDX-License-Identifier: Apache-2.0
// Conversations of many turns: cut at random, and with calls that are lost.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/resolve/told.h"
#include "tests/resolve/watched.h"

namespace icepath::resolve {
namespace {

using model::EndRole;
using model::StreamKind;

// Clients that ask a server through a proxy over connections of their own, each step a call with a sleep before it.
// Half of the time something is on its way.
class Conversation {
public:
	// Sometimes `silent_ns` pass before a client asks.
	explicit Conversation(uint32_t seed, StreamKind kind = StreamKind::UnixStream, uint64_t silent_ns = 0)
		: random_(seed), kind_(kind), silent_ns_(silent_ns)
	{
		for (uint32_t i = 0; i < 3; i++) {
			connections.push_back(connection(1000 + i, 2000 + i, kind, EndRole::Connected));
			connections.push_back(connection(3000 + i, 4000 + i, kind, EndRole::Connected));
			for (uint32_t base : {100u, 200u, 300u}) {
				watched.cpus[base + i] = static_cast<uint16_t>((base / 100 + i) % 2);
				watched.thread(base + i, fmt::format("t{}", base + i));
			}
		}
		for (int turn = 0; turn < 120; turn++)
			for (uint32_t i = 0; i < 3; i++)
				ask(i);
		for (icepath_record &record : watched.records)
			if (kind == StreamKind::Tcp && record.type == ICEPATH_RECORD_CALL)
				record.call.object_kind = ICEPATH_OBJECT_TCP;
	}

	Watched watched;
	std::vector<model::Connection> connections;
	std::vector<std::string> truth; // "send..recv" of each message

private:
	// TCP's begin shortly before they wrap.
	int64_t told(int64_t position) const
	{
		return kind_ == StreamKind::Tcp ? (position + 0xffff'f000) & 0xffff'ffff : position;
	}
	uint64_t some(uint64_t most) { return std::uniform_int_distribution<uint64_t>(1, most)(random_); }

	void ask(uint32_t i)
	{
		uint64_t &at = clock_[i];
		at += some(40'000'000);
		if (silent_ns_ != 0 && some(30) == 1)
			at += silent_ns_;
		pass(100 + i, 1000 + i, 200 + i, 2000 + i, at);
		if (some(3) > 1) {
			pass(200 + i, 3000 + i, 300 + i, 4000 + i, at);
			pass(300 + i, 4000 + i, 200 + i, 3000 + i, at);
		}
		pass(200 + i, 2000 + i, 100 + i, 1000 + i, at);
	}

	// One message: announced in its call, and taken by one or two calls of a thread that slept.
	void pass(uint32_t from, uint64_t given_to, uint32_t to, uint64_t out_of, uint64_t &at)
	{
		const auto bytes = static_cast<int64_t>(some(500) + 1), first = bytes / 2;
		int64_t &end = ends_[given_to];
		const uint64_t send = at += some(2000), ready = at += some(500), sent = at += some(500);
		end += bytes;
		watched.ready(from, ready, out_of);
		watched.give(from, send, sent, given_to, bytes, told(end));
		watched.slept(to, last_[to] + 1, ready + 1, at += 20 + some(10'000'000), from);
		const uint64_t take = at += some(300);
		at += some(300);
		if (some(2) == 1) {
			watched.take(to, take, at, out_of, bytes, told(end));
		} else {
			watched.take(to, take, at, out_of, first, told(end - bytes + first));
			const uint64_t again = at += some(200);
			watched.take(to, again, at += some(300), out_of, bytes - first, told(end));
		}
		truth.push_back(fmt::format("exact {}..{}", send, at));
		last_[to] = at;
		last_[from] = std::max(last_[from], sent);
		at += 10;
	}

	std::mt19937 random_;
	StreamKind kind_;
	uint64_t silent_ns_;
	std::map<uint32_t, uint64_t> clock_ = {{0, 5000}, {1, 6000}, {2, 7000}}, last_;
	std::map<uint64_t, int64_t> ends_;
};

// All of them would be pages.
void expect_same(const Lines &these, const Lines &those)
{
	const auto [one, other] = std::ranges::mismatch(these, those);
	EXPECT_TRUE(one == these.end() && other == those.end()) << (one == these.end() ? "nothing" : *one) << "\n"
															<< (other == those.end() ? "nothing" : *other);
}

class StreamCuts : public testing::TestWithParam<StreamKind> {};

TEST_P(StreamCuts, CutAtRandomIsUncut)
{
	for (uint32_t seed = 0; seed < 6; seed++) {
		Conversation all(seed, GetParam());
		const Result whole = resolved(all.watched.windows(), all.connections);
		std::ranges::sort(all.truth);
		EXPECT_EQ(whole.told.short_messages, all.truth);
		EXPECT_EQ(2 * whole.told.trees.size(), all.truth.size());
		std::mt19937 random(seed);
		for (int round = 0; round < 3; round++) {
			std::set<uint64_t> cuts;
			while (cuts.size() < 40)
				cuts.insert(std::uniform_int_distribution<uint64_t>(1000, all.watched.end_ns())(random));
			const Result cut = resolved(all.watched.windows({cuts.begin(), cuts.end()}), all.connections);
			expect_same(cut.told.messages, whole.told.messages);
			expect_same(cut.told.requests, whole.told.requests);
		}
	}
}

// Nobody lists these connections. What is known of one is forgotten while it is silent, and learned anew.
TEST_P(StreamCuts, AConnectionThatWasSilentForLongGoesOnRightly)
{
	for (uint32_t seed = 0; seed < 2; seed++) {
		Conversation all(seed, GetParam(), 3 * decode::kLongestOpenNs);
		std::ranges::sort(all.truth);
		std::vector<uint64_t> cuts;
		for (uint64_t at_ns = 0; at_ns < all.watched.end_ns(); at_ns += decode::kLongestOpenNs / 4)
			cuts.push_back(at_ns + 1'000'000);
		const Result cut = resolved(all.watched.windows(cuts), {});
		EXPECT_GE(cut.told.ended.size(), 20u);
		expect_same(cut.told.short_messages, all.truth);
		EXPECT_EQ(2 * cut.told.trees.size(), all.truth.size());
	}
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, StreamCuts, testing::Values(StreamKind::UnixStream, StreamKind::Tcp),
						 [](const auto &one) { return one.param == StreamKind::Tcp ? "Tcp" : "UnixStream"; });

// A record is dropped and nothing tells: at most the messages and requests of its calls are missing, none is wrong.
TEST(StreamLoss, ACallThatIsLostSilentlyHarmsOnlyItsOwnMessages)
{
	Conversation all(3);
	const Result whole = resolved(all.watched.windows(), all.connections);
	const std::set<std::string> truth(all.truth.begin(), all.truth.end());
	const std::set<std::string> trees(whole.told.trees.begin(), whole.told.trees.end());
	std::mt19937 random(1);
	int dropped = 0;
	while (dropped < 40) {
		Watched less = all.watched;
		const auto which = std::uniform_int_distribution<size_t>(0, less.records.size() - 1)(random);
		if (less.records[which].type != ICEPATH_RECORD_CALL)
			continue;
		dropped++;
		less.records.erase(less.records.begin() + static_cast<std::ptrdiff_t>(which));
		const Result told = resolved(less.windows(), all.connections);
		size_t matched = 0;
		for (const std::string &one : told.told.short_messages)
			if (one.starts_with("exact")) {
				matched++;
				EXPECT_TRUE(truth.contains(one)) << one;
			}
		EXPECT_GE(matched + 1, truth.size());
		size_t right = 0;
		for (const std::string &one : told.told.trees)
			right += trees.contains(one);
		// It and the one that it is nested in; and one more that can't be told from it.
		EXPECT_GE(right + 4, trees.size());
	}
}

} // namespace
} // namespace icepath::resolve
