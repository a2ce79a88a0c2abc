// SPDX-License-Identifier: Apache-2.0
// Figures of programs whose connections come and go.
#include "profiler/analysis/links.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/resolve/watched.h"

namespace icepath::analysis {
namespace {

constexpr uint32_t kAsks = 10, kAnswers = 20, kHelps = 30, kWorks = 40, kAlsoAnswers = 50;
constexpr uint64_t kConnections = 3000, kEachNs = 10'000'000;

resolve::Watched asking()
{
	resolve::Watched watched;
	watched.thread(kAsks, "client");
	watched.thread(kAnswers, "server");
	watched.thread(kHelps, "client");
	return watched;
}

AttachedResult sum_of_parts(const resolve::Watched &watched, size_t &most_connections)
{
	std::vector<uint64_t> seconds;
	for (uint64_t at_ns = 1'000'000'000; at_ns < watched.end_ns(); at_ns += 1'000'000'000)
		seconds.push_back(at_ns);
	AttachedFigures figures;
	AttachedResult sum;
	const auto add = [&] {
		sum.add(figures.take());
		for (const Link &link : sum.links)
			most_connections = std::max(most_connections, link.connections.size());
	};
	for (const model::Window &window : watched.windows(seconds)) {
		figures.add(window);
		add();
	}
	figures.finish();
	add();
	return sum;
}

TEST(Links, KeepTheFiguresOfConnectionsThatAreOver)
{
	resolve::Watched watched = asking();
	for (uint64_t i = 0; i < kConnections; i++) {
		const uint64_t at = kEachNs * (i + 1), client = 2 * i + 1, server = 2 * i + 2;
		watched.call(ICEPATH_CALL_ACCEPT, kAnswers, at, at + 100, server, 0).call.position = client;
		watched.give(kAsks, at + 200, at + 300, client, 50, 50);
		watched.take(kAnswers, at + 400, at + 500, server, 50, 50);
		watched.give(kAnswers, at + 600, at + 700, server, 70, 70);
		watched.take(kAsks, at + 800, at + 900, client, 70, 70);
	}
	size_t most_connections = 0;
	const AttachedResult sum = sum_of_parts(watched, most_connections);
	ASSERT_EQ(sum.links.size(), 1u);
	EXPECT_EQ(sum.links[0].connection_count(), kConnections);
	EXPECT_EQ(sum.links[0].requests.answered, kConnections);
	EXPECT_EQ(sum.links[0].to_server.messages, kConnections);
	EXPECT_LE(most_connections, 1500u) << "15 s of them";
	EXPECT_EQ(sum.without_link, 0u);
}

// Each program that served it has a link, and each link forgets it.
TEST(Links, ForgetConnectionsThatWereHandedToAnotherProgram)
{
	resolve::Watched watched = asking();
	watched.thread(kWorks, "worker");
	for (uint64_t i = 0; i < kConnections; i++) {
		const uint64_t at = kEachNs * (i + 1), client = 2 * i + 1, server = 2 * i + 2;
		watched.call(ICEPATH_CALL_ACCEPT, kAnswers, at, at + 100, server, 0).call.position = client;
		for (const auto &[thread, since, position] :
			 {std::tuple<uint32_t, uint64_t, uint64_t>{kAnswers, at, 50}, {kWorks, at + 1000, 100}}) {
			watched.give(kAsks, since + 200, since + 300, client, 50, position);
			watched.take(thread, since + 400, since + 500, server, 50, position);
			watched.give(thread, since + 600, since + 700, server, 50, position);
			watched.take(kAsks, since + 800, since + 900, client, 50, position);
		}
	}
	size_t most_connections = 0;
	const AttachedResult sum = sum_of_parts(watched, most_connections);
	ASSERT_EQ(sum.links.size(), 2u);
	for (const Link &link : sum.links) {
		EXPECT_EQ(link.requests.answered, kConnections);
		EXPECT_EQ(link.connection_count(), kConnections);
	}
	EXPECT_LE(most_connections, 1500u) << "15 s of them";
}

TEST(Links, TellMessagesOfConnectionsThatNoTakerIsKnownOf)
{
	resolve::Watched watched = asking();
	watched.call(ICEPATH_CALL_ACCEPT, kAnswers, 500, 600, 2, 0).call.position = 1;
	watched.give(kAsks, 1000, 2000, 1, 50, 50);
	watched.give(kHelps, 1000, 2100, 1, 50, 100);
	watched.take(kAnswers, 3000, 3100, 2, 100, 100);
	size_t most_connections = 0;
	const AttachedResult sum = sum_of_parts(watched, most_connections);
	EXPECT_EQ(sum.links.size(), 0u);
	EXPECT_EQ(sum.without_link, 2u);
}

// Messages of which no taker is known, before one is known of others.
TEST(Links, KeepTheDirectionOfWhatNobodyIsKnownToHaveTaken)
{
	resolve::Watched watched = asking();
	watched.thread(kAlsoAnswers, "server");
	watched.call(ICEPATH_CALL_ACCEPT, kAnswers, 500, 600, 2, 0).call.position = 1;
	watched.give(kAnswers, 1000, 2000, 2, 50, 50);
	watched.give(kAlsoAnswers, 1000, 2100, 2, 50, 100);
	watched.take(kAsks, 3000, 3100, 1, 100, 100);
	watched.give(kAsks, 4000, 4100, 1, 50, 50);
	watched.take(kAnswers, 4200, 4300, 2, 50, 50);
	watched.give(kAnswers, 4400, 4500, 2, 70, 170);
	watched.take(kAsks, 4600, 4700, 1, 70, 170);
	size_t most_connections = 0;
	const AttachedResult sum = sum_of_parts(watched, most_connections);
	ASSERT_EQ(sum.links.size(), 1u);
	EXPECT_EQ(sum.links[0].to_client.messages, 3u);
	EXPECT_EQ(sum.links[0].to_server.messages, 1u);
	EXPECT_EQ(sum.without_link, 0u);
}

} // namespace
} // namespace icepath::analysis
