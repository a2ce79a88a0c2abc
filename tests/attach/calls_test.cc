// SPDX-License-Identifier: Apache-2.0
// What programs that were running before are seen to do: all of it, of all of their threads.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

constexpr uint64_t kMessages = 5000;
constexpr size_t kBytes = 64;

uint32_t own_tid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

void send_messages(int fd, uint64_t count)
{
	char message[kBytes] = {};
	for (uint64_t i = 0; i < count; i++)
		if (write(fd, message, sizeof(message)) != static_cast<ssize_t>(sizeof(message)))
			_exit(1);
}

void take_messages(int fd, uint64_t count)
{
	char message[kBytes];
	for (uint64_t taken = 0; taken < count * kBytes;) {
		const ssize_t got = read(fd, message, sizeof(message));
		if (got <= 0)
			_exit(1);
		taken += static_cast<uint64_t>(got);
	}
}

// The taker is in its call long before it is watched, and the sender is another thread than the process's first one.
void sender_and_taker(Shared &shared)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		_exit(1);
	std::thread sender([&] {
		shared.tids[0] = own_tid();
		await(shared.goes);
		send_messages(ends[0], kMessages);
	});
	shared.tids[1] = own_tid();
	while (shared.tids[0] == 0)
		usleep(1000);
	shared.is_ready = 1;
	take_messages(ends[1], kMessages);
	sender.join();
}

struct Moved {
	uint64_t calls = 0, bytes = 0;
};

// By thread and kind of call.
std::map<std::pair<uint32_t, uint8_t>, Moved> moved_by(const Watched &watched)
{
	std::map<std::pair<uint32_t, uint8_t>, Moved> moved;
	for (const icepath_record &record : watched.calls)
		if (record.call.object != 0 && static_cast<int64_t>(record.call.result) > 0) {
			Moved &of = moved[{record.tid, record.call.kind}];
			of.calls++;
			of.bytes += record.call.result;
		}
	return moved;
}

class Calls : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

TEST_F(Calls, OfEachThread)
{
	Program program(sender_and_taker);
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	EXPECT_EQ(watched.outcome.lost, 0u);
	auto moved = moved_by(watched);
	const Moved sent = moved[{program.shared().tids[0], ICEPATH_CALL_GIVE}];
	EXPECT_EQ(sent.calls, kMessages);
	EXPECT_EQ(sent.bytes, kMessages * kBytes);
	// Its first call began before it was watched, and isn't known.
	const Moved taken = moved[{program.shared().tids[1], ICEPATH_CALL_TAKE}];
	EXPECT_GE(taken.bytes, (kMessages - 1) * kBytes);
}

// Processes that the program had started, and threads and processes that it starts later.
TEST_F(Calls, OfChildrenBeforeAndAfter)
{
	Program program([](Shared &shared) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
			_exit(1);
		const pid_t before = fork();
		if (before == 0) {
			shared.tids[0] = own_tid();
			shared.is_ready = 1;
			await(shared.goes);
			send_messages(ends[0], kMessages);
			const pid_t later = fork(); // by a process that wasn't named
			if (later == 0) {
				std::thread([&] {
					shared.tids[1] = own_tid();
					send_messages(ends[0], kMessages);
				}).join();
				_exit(0);
			}
			waitpid(later, nullptr, 0);
			_exit(0);
		}
		take_messages(ends[1], 2 * kMessages);
		waitpid(before, nullptr, 0);
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	EXPECT_EQ(watched.outcome.lost, 0u);
	auto moved = moved_by(watched);
	for (const auto &tid : {program.shared().tids[0].load(), program.shared().tids[1].load()}) {
		ASSERT_NE(tid, 0u);
		EXPECT_EQ((moved[{tid, ICEPATH_CALL_GIVE}].calls), kMessages) << tid;
	}
}

// Of nobody else, although others do the same meanwhile.
TEST_F(Calls, OfNobodyElse)
{
	Program other([](Shared &shared) {
		shared.tids[0] = own_tid();
		shared.is_ready = 1;
		for (;;) {
			int ends[2];
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
				_exit(1);
			send_messages(ends[0], 10);
			take_messages(ends[1], 10);
			close(ends[0]);
			close(ends[1]);
		}
	});
	Program program(sender_and_taker);
	other.await_ready();
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 30, [&] { program.shared().goes = 1; });
	EXPECT_GT(watched.calls.size(), kMessages);
	EXPECT_TRUE(std::ranges::none_of(
		watched.calls, [&](const icepath_record &record) { return record.tid == static_cast<uint32_t>(other.pid()); }));
}

// The tids of whoever made a call while the calling process, as icepath, watched the one that had started it.
std::set<uint32_t> seen_of_parent()
{
	std::set<uint32_t> seen;
	for (const icepath_record &record : watch_programs({getppid()}, 0.5, [] {}).calls)
		seen.insert(record.tid);
	return seen;
}

// A shell from which icepath was started may be named. icepath is no part of what it starts.
TEST_F(Calls, NotOfIcepathItself)
{
	const pid_t shell = fork();
	if (shell == 0) {
		const pid_t icepath = fork();
		if (icepath == 0)
			_exit(seen_of_parent() == std::set{static_cast<uint32_t>(getppid())} ? 0 : 1);
		int status = 0;
		while (waitpid(icepath, &status, WNOHANG) == 0)
			usleep(1000);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	int status = 0;
	waitpid(shell, &status, 0);
	EXPECT_TRUE(WIFEXITED(status)) << status;
	EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace icepath::attach
