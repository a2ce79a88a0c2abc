// SPDX-License-Identifier: Apache-2.0
// Positions in streams, joined while messages are queued: both ends of a stream agree on each byte.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

struct Ends {
	int give = -1, take = -1;
};

Ends unix_pair()
{
	int ends[2];
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? Ends{ends[0], ends[1]} : Ends{};
}

Ends pipe_ends()
{
	int ends[2];
	return pipe(ends) == 0 ? Ends{ends[1], ends[0]} : Ends{};
}

Ends tcp_pair()
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0), connected = socket(AF_INET, SOCK_STREAM, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof(address);
	auto *at = reinterpret_cast<sockaddr *>(&address);
	const int at_once = 1;
	if (bind(listener, at, size) || listen(listener, 1) || getsockname(listener, at, &size) ||
		connect(connected, at, size) || setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once)))
		return {};
	return {connected, accept(listener, nullptr, nullptr)};
}

constexpr int kGives = 3000, kGivesBefore = 20;

uint64_t give_all(int fd, int messages, uint32_t seed)
{
	std::mt19937 random(seed);
	std::vector<char> bytes(4096);
	uint64_t given = 0;
	for (int i = 0; i < messages; i++) {
		const ssize_t done = write(fd, bytes.data(), 1 + random() % 700);
		if (done <= 0)
			_exit(1);
		given += static_cast<uint64_t>(done);
		if (random() % 4 == 0)
			usleep(static_cast<useconds_t>(random() % 100));
	}
	return given;
}

// Takes until the end of the stream, in pieces of any size.
void take_all(int fd, uint32_t seed)
{
	std::mt19937 random(seed);
	std::vector<char> bytes(4096);
	while (read(fd, bytes.data(), 1 + random() % 900) > 0) {
	}
}

// counts: bytes that were given and taken before it is watched.
void main_of(const std::function<Ends()> &open, Shared &shared)
{
	const Ends ends = open();
	shared.counts[0] = give_all(ends.give, kGivesBefore, 1);
	char some[100];
	const ssize_t taken = read(ends.take, some, sizeof(some));
	shared.counts[1] = taken > 0 ? static_cast<uint64_t>(taken) : 0;
	std::thread giver([&] {
		shared.tids[0] = static_cast<uint32_t>(syscall(SYS_gettid));
		await(shared.goes);
		give_all(ends.give, kGives, 2);
		close(ends.give);
	});
	while (shared.tids[0] == 0)
		usleep(1000);
	shared.tids[1] = static_cast<uint32_t>(syscall(SYS_gettid));
	shared.is_ready = 1;
	await(shared.goes);
	take_all(ends.take, 3);
	giver.join();
}

struct Positions {
	size_t calls = 0, known = 0;
	std::map<uint64_t, size_t> origins; // position less what the calls moved, with how many calls have it
};

Positions positions_of(const Watched &watched, uint32_t tid, uint8_t kind, uint64_t before, uint64_t modulus)
{
	Positions found;
	uint64_t moved = before;
	for (const icepath_record &record : watched.calls) {
		if (record.tid != tid || record.call.kind != kind || record.call.object == 0 ||
			static_cast<int64_t>(record.call.result) <= 0)
			continue;
		moved += record.call.result;
		found.calls++;
		if (record.call.position == 0)
			continue;
		found.known++;
		const uint64_t origin = record.call.position - 1 - moved;
		found.origins[modulus ? origin % modulus : origin]++;
	}
	return found;
}

struct Stream {
	const char *name;
	Ends (*open)();
	icepath_object_kind kind;
	uint64_t modulus;
};

class PositionsOf : public testing::TestWithParam<Stream> {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

TEST_P(PositionsOf, BothEndsAgree)
{
	Program program([](Shared &shared) { main_of(GetParam().open, shared); });
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	ASSERT_EQ(watched.outcome.lost, 0u);
	const uint64_t modulus = GetParam().modulus;
	const Positions given =
		positions_of(watched, program.shared().tids[0], ICEPATH_CALL_GIVE, program.shared().counts[0], modulus);
	const Positions taken =
		positions_of(watched, program.shared().tids[1], ICEPATH_CALL_TAKE, program.shared().counts[1], modulus);
	EXPECT_EQ(given.calls, static_cast<size_t>(kGives));
	EXPECT_GE(given.known, given.calls * 95 / 100);
	EXPECT_EQ(taken.known, taken.calls);
	EXPECT_EQ(given.origins.size(), 1u);
	EXPECT_EQ(taken.origins.size(), 1u);
	EXPECT_EQ(given.origins.begin()->first, taken.origins.begin()->first);
	for (const icepath_record &record : watched.calls)
		if (record.tid == program.shared().tids[0] && record.call.kind == ICEPATH_CALL_GIVE && record.call.object) {
			ASSERT_EQ(record.call.object_kind, GetParam().kind);
		}
}

INSTANTIATE_TEST_SUITE_P(All, PositionsOf,
						 testing::Values(Stream{"unix", unix_pair, ICEPATH_OBJECT_UNIX_STREAM, 0},
										 Stream{"tcp", tcp_pair, ICEPATH_OBJECT_TCP, uint64_t{1} << 32},
										 Stream{"pipe", pipe_ends, ICEPATH_OBJECT_PIPE, 0}),
						 [](const auto &of) { return std::string(of.param.name); });

class ManyPipes : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

// More pipes than the kernel's table has, so the first one leaves it: none of its positions comes a second time.
TEST_F(ManyPipes, LeaveNoPositionTwice)
{
	Program program([](Shared &shared) {
		const Ends first = pipe_ends();
		shared.is_ready = 1;
		await(shared.goes);
		char bytes[100] = {};
		const auto pass = [&](const Ends &ends) {
			if (write(ends.give, bytes, sizeof(bytes)) != sizeof(bytes) ||
				read(ends.take, bytes, sizeof(bytes)) != sizeof(bytes))
				_exit(1);
		};
		for (int turn = 0; turn < 2; turn++) {
			for (int i = 0; i < 10; i++)
				pass(first);
			for (int i = 0; turn == 0 && i < 20'000; i++) {
				const Ends other = pipe_ends();
				pass(other);
				close(other.give);
				close(other.take);
			}
		}
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 60, [&] { program.shared().goes = 1; }, 1u << 19);
	ASSERT_EQ(watched.outcome.lost, 0u);
	std::vector<uint64_t> taken; // of the first pipe
	uint64_t first = 0;
	for (const icepath_record &record : watched.calls)
		if (record.call.kind == ICEPATH_CALL_TAKE && record.call.object_kind == ICEPATH_OBJECT_PIPE) {
			first = first == 0 ? record.call.object : first;
			if (record.call.object == first)
				taken.push_back(record.call.position);
		}
	ASSERT_EQ(taken.size(), 20u);
	EXPECT_NE(taken[10], taken[9] + 100) << "it never left the table";
	EXPECT_TRUE(std::ranges::is_sorted(taken));
}

class Peeking : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

// Looking at a message takes nothing.
TEST_F(Peeking, IsntTaking)
{
	Program program([](Shared &shared) {
		const Ends ends = unix_pair();
		shared.is_ready = 1;
		await(shared.goes);
		char byte = 0;
		for (int i = 0; i < 100; i++)
			if (write(ends.give, &byte, 1) != 1 || recv(ends.take, &byte, 1, MSG_PEEK) != 1 ||
				recv(ends.take, &byte, 1, 0) != 1)
				_exit(1);
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	const auto takes = std::count_if(watched.calls.begin(), watched.calls.end(), [](const icepath_record &record) {
		return record.call.kind == ICEPATH_CALL_TAKE && record.call.object != 0;
	});
	EXPECT_EQ(takes, 100);
}

} // namespace
} // namespace icepath::attach
