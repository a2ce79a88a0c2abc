// SPDX-License-Identifier: Apache-2.0
// Followed processes on the real kernel: threads that start later are watched, and only in blocks that name their
// family.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "tests/capture/exchange.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

constexpr int kRounds = 50;
constexpr size_t kOwn = 0, kThread = 1, kChild = 2; // the players

// A process, a thread of it, and a child that this thread starts pass a byte round by sockets.
class Family {
public:
	Family()
	{
		for (auto &pair : pairs_)
			EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
	}
	~Family()
	{
		for (const auto &pair : pairs_)
			for (const int fd : pair)
				close(fd);
	}
	bool play(int turn)
	{
		if (turn == 0)
			std::thread([this] { begin(); }).detach();
		for (int i = 0; i < kRounds; i++)
			if (!give(kOwn) || !take(kOwn))
				return false;
		return true;
	}

private:
	void begin()
	{
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (take(kChild) && give(kChild)) {
			}
			_exit(0);
		}
		while (take(kThread) && give(kThread)) {
		}
	}
	bool give(size_t who) { return write(pairs_[who][0], "x", 1) == 1; }
	bool take(size_t who)
	{
		char byte = 0;
		return read(pairs_[(who + 2) % 3][1], &byte, 1) == 1;
	}
	std::array<std::array<int, 2>, 3> pairs_{}; // by writer
};

class FollowTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
		capture = std::make_unique<Capture>(std::vector<uint32_t>{two_cpus().first}, 1u << 14);
	}
	std::vector<icepath_record> block(const Player &player, const std::vector<uint32_t> &families)
	{
		capture->attach(~ProbeSet{0});
		capture->begin_block({}, families);
		player.go();
		player.await();
		EXPECT_TRUE(capture->end_block().empty());
		std::vector<icepath_slot> heads;
		return copy_slots(*capture, heads);
	}
	static std::map<uint32_t, icepath_record> threads_of(const std::vector<icepath_record> &records)
	{
		std::map<uint32_t, icepath_record> threads;
		for (const icepath_record &record : records)
			if (record.type == ICEPATH_RECORD_THREAD) {
				EXPECT_TRUE(threads.emplace(record.tid, record).second) << "told twice: " << record.tid;
			}
		return threads;
	}

	std::unique_ptr<Capture> capture;
	Family family;
};

// It isn't a worker's CPU, so it is recorded only if a thread of the family runs there.
TEST_F(FollowTest, EachCpuThatTheyRunOnIsWatched)
{
	const uint32_t cpu = two_cpus().second;
	const Player player(cpu, [](int) {
		for (const uint64_t until_ns = icepath_now_ns() + 200'000'000; icepath_now_ns() < until_ns;) {
		}
		return true;
	});
	const uint32_t number = capture->follow(player.pidfd);
	const auto recorded_there = [&](const std::vector<icepath_record> &records) {
		return std::ranges::count_if(records, [&](const icepath_record &record) {
			return record.cpu == cpu &&
				   (record.type == ICEPATH_RECORD_INTERRUPT || record.type == ICEPATH_RECORD_FOREIGN_RUN);
		});
	};
	EXPECT_EQ(recorded_there(block(player, {})), 0);
	EXPECT_GT(recorded_there(block(player, {number})), 0);
}

TEST_F(FollowTest, ThreadsAndChildrenThatBeginLaterAreWatched)
{
	const Player player(two_cpus().first, [&](int turn) { return family.play(turn); });
	const uint32_t number = capture->follow(player.pidfd);
	EXPECT_GT(number, 0u);
	std::vector<icepath_record> records = block(player, {number}); // the family is formed in this block
	for (int again = 0; again < 2; again++) {
		// The last giver may not have returned from its own call yet.
		for (const auto &[tid, record] : threads_of(records)) {
			for (int i = 0; i < 100'000 && !is_asleep(static_cast<pid_t>(tid)); i++)
				usleep(100);
			ASSERT_TRUE(is_asleep(static_cast<pid_t>(tid))) << tid;
		}
		records = block(player, {number});
		const auto threads = threads_of(records);
		ASSERT_EQ(threads.size(), 3u);
		std::set<uint32_t> processes;
		for (const auto &[tid, record] : threads)
			processes.insert(record.thread.tgid);
		EXPECT_EQ(processes.size(), 2u);
		EXPECT_TRUE(processes.contains(static_cast<uint32_t>(player.pid)));
		// Each gives into its own socket, and the announcement at its receiver's socket is on top of it.
		std::map<uint32_t, std::map<uint64_t, int>> given, taken, announced;
		for (const icepath_record &record : records) {
			EXPECT_TRUE(record.type != ICEPATH_RECORD_CALL || threads.contains(record.tid)) << "of no thread";
			if (record.type == ICEPATH_RECORD_CALL && record.call.result == 1)
				(record.call.kind == ICEPATH_CALL_GIVE ? given : taken)[record.tid][record.call.object]++;
			if (record.type == ICEPATH_RECORD_DATA_READY)
				announced[record.tid][record.socket.socket]++;
		}
		// Asleep in its call when it is first met: its sleep is known from the waking on.
		for (const auto &[tid, record] : threads) {
			const auto sleep = std::ranges::find_if(records, [&](const icepath_record &one) {
				return one.type == ICEPATH_RECORD_OFF_CPU && one.tid == tid && one.off.out_ns == one.off.waking_ns;
			});
			ASSERT_NE(sleep, records.end());
			EXPECT_GE(sleep->off.out_ns, record.end_ns);
			EXPECT_LT(sleep->off.out_ns, sleep->end_ns);
		}
		EXPECT_TRUE(std::ranges::any_of(records, [](const icepath_record &one) {
			return one.type == ICEPATH_RECORD_CALL && one.call.object != 0 && one.call.object >> 48 != 0xffff;
		})) << "addresses of the kernel have left it";
		for (const auto &[tid, record] : threads) {
			ASSERT_EQ(given[tid].size(), 1u);
			EXPECT_EQ(given[tid].begin()->second, kRounds);
			ASSERT_EQ(taken[tid].size(), 1u);
			EXPECT_GE(taken[tid].begin()->second, kRounds - 1) << "the first call began before the block";
			ASSERT_EQ(announced[tid].size(), 1u) << "since its receiver has begun to read from it";
			const uint64_t to = announced[tid].begin()->first;
			EXPECT_GE(announced[tid].begin()->second, kRounds - 2);
			EXPECT_EQ(std::ranges::count_if(taken, [&](const auto &one) { return one.second.begin()->first == to; }), 1)
				<< "what is announced is where the receiver takes it from";
		}
	}
}

// Each end opens the queue by itself; the name is that of the shared inode.
TEST_F(FollowTest, AQueueIsOneThingHoweverOftenItIsOpened)
{
	const std::string name = "/icepath-follow-" + std::to_string(getpid());
	mq_attr shape{};
	shape.mq_maxmsg = 1;
	shape.mq_msgsize = 8;
	std::array<mqd_t, 4> ends{}; // two of each queue
	for (size_t i = 0; i < ends.size(); i++) {
		const std::string queue = name + (i < 2 ? "a" : "b");
		ends[i] = mq_open(queue.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600, &shape);
		ASSERT_NE(ends[i], -1) << std::strerror(errno);
		if (i % 2 == 1)
			mq_unlink(queue.c_str());
	}
	const Player player(two_cpus().first, [&](int) {
		char bytes[8];
		for (const size_t queue : {size_t{0}, size_t{2}})
			if (mq_send(ends[queue], "x", 1, 0) || mq_receive(ends[queue + 1], bytes, sizeof(bytes), nullptr) != 1)
				return false;
		return true;
	});
	const uint32_t number = capture->follow(player.pidfd);
	std::vector<icepath_record> calls;
	for (const icepath_record &record : block(player, {number}))
		if (record.type == ICEPATH_RECORD_CALL &&
			(record.call.number == SYS_mq_timedsend || record.call.number == SYS_mq_timedreceive))
			calls.push_back(record);
	std::ranges::sort(calls, {}, &icepath_record::end_ns);
	for (const mqd_t end : ends)
		mq_close(end);
	ASSERT_EQ(calls.size(), 4u);
	for (const size_t first : {size_t{0}, size_t{2}}) {
		EXPECT_EQ(calls[first].call.kind, ICEPATH_CALL_GIVE);
		EXPECT_EQ(calls[first].call.result, 0u);
		EXPECT_EQ(calls[first + 1].call.kind, ICEPATH_CALL_TAKE);
		EXPECT_NE(calls[first].call.object, 0u);
		EXPECT_EQ(calls[first].call.object, calls[first + 1].call.object);
	}
	EXPECT_NE(calls[0].call.object, calls[2].call.object);
}

TEST_F(FollowTest, InABlockOfOthersTheyAreTasksLikeAnyOther)
{
	const Player player(two_cpus().first, [&](int turn) { return family.play(turn); });
	const uint32_t number = capture->follow(player.pidfd);
	block(player, {number});
	for (const icepath_record &record : block(player, {}))
		EXPECT_TRUE(record.type == ICEPATH_RECORD_FOREIGN_RUN || record.type == ICEPATH_RECORD_INTERRUPT)
			<< static_cast<int>(record.type);
}

TEST_F(FollowTest, ThereAreOnlySoMany)
{
	const Player player(two_cpus().first, [](int) { return true; });
	for (uint32_t i = 1; i < ICEPATH_FAMILIES; i++)
		EXPECT_EQ(capture->follow(player.pidfd), i);
	EXPECT_THROW(capture->follow(player.pidfd), Failure);
}

} // namespace
} // namespace icepath::capture
