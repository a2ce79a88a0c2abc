// SPDX-License-Identifier: Apache-2.0
// A full POSIX message queue: the sender sleeps for room. A receiver that makes room inserts the sender's message and
// wakes it, and the record names the sender, whose call it is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "icepath/plugin.h"
#include "tests/capture/exchange.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

constexpr size_t kSent = 100;

struct SharedQueue {
	std::atomic<size_t> begun;
	std::atomic<pid_t> sender;
	std::array<std::array<uint64_t, 2>, kSent> calls; // each sending call's begin and return
};

bool send_all(mqd_t queue, SharedQueue &shared)
{
	shared.sender = getpid();
	for (size_t i = 0; i < kSent; i++) {
		shared.calls[i][0] = icepath_now_ns();
		shared.begun = i + 1;
		if (mq_send(queue, "x", 1, 0) != 0)
			return false;
		shared.calls[i][1] = icepath_now_ns();
	}
	return true;
}

// Takes a message once the sender sleeps with the next one.
bool take_all(mqd_t queue, const SharedQueue &shared)
{
	char byte = 0;
	for (size_t i = 0; i < kSent; i++) {
		while (shared.begun < std::min(i + 2, kSent) || (i + 1 < kSent && !is_asleep(shared.sender)))
			sched_yield();
		if (mq_receive(queue, &byte, 1, nullptr) != 1)
			return false;
	}
	return true;
}

class FullQueue : public testing::TestWithParam<Tier> {};

TEST_P(FullQueue, WhoMakesRoomTellsWhoseMessageItPutThere)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const auto cpus = two_cpus();
	std::vector<uint32_t> list = {cpus.first};
	if (cpus.second != cpus.first)
		list.push_back(cpus.second);
	Capture capture(list, 1u << 13, GetParam());
	const auto probe = number_of("wake_q_add_safe");
	if (!capture.selection()[probe].works) {
		EXPECT_FALSE(capture.selection()[probe].why_not.empty());
		return;
	}
	void *memory = mmap(nullptr, sizeof(SharedQueue), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(memory, MAP_FAILED);
	auto &shared = *new (memory) SharedQueue{};
	const std::string name = "/icepath-test-full-" + std::to_string(getpid());
	mq_attr sizes{};
	sizes.mq_maxmsg = 1;
	sizes.mq_msgsize = 1;
	const mqd_t queue = mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &sizes);
	mq_unlink(name.c_str());
	ASSERT_GE(queue, 0);
	std::vector<icepath_record> records;
	pid_t sender_pid = 0, receiver_pid = 0;
	{
		const Player sender(cpus.first, [&](int) { return send_all(queue, shared); });
		const Player receiver(cpus.second, [&](int) { return take_all(queue, shared); });
		sender_pid = sender.pid;
		receiver_pid = receiver.pid;
		capture.add_worker(sender.pidfd);
		capture.add_worker(receiver.pidfd);
		capture.attach(bit(probe));
		capture.begin_block({sender.pidfd, receiver.pidfd});
		sender.go();
		receiver.go();
		sender.await();
		receiver.await();
		EXPECT_TRUE(capture.end_block().empty());
		std::vector<icepath_slot> heads;
		records = copy_slots(capture, heads);
	}
	std::erase_if(records, [&](const icepath_record &one) {
		return one.type != ICEPATH_RECORD_ENQUEUED || one.socket.woken_tid != static_cast<uint32_t>(sender_pid);
	});
	std::ranges::stable_sort(records, {}, &icepath_record::end_ns);
	ASSERT_EQ(records.size(), kSent - 1) << "all but the first had to wait";
	for (size_t i = 1; i < kSent; i++) {
		EXPECT_EQ(records[i - 1].tid, static_cast<uint32_t>(receiver_pid)) << i;
		EXPECT_GT(records[i - 1].end_ns, shared.calls[i][0]) << i;
		EXPECT_LT(records[i - 1].end_ns, shared.calls[i][1]) << i;
	}
	mq_close(queue);
	munmap(memory, sizeof(SharedQueue));
}

INSTANTIATE_TEST_SUITE_P(All, FullQueue, testing::Values(Tier::Fentry, Tier::Kprobe),
						 [](const auto &which) { return std::string(name(which.param)); });

} // namespace
} // namespace icepath::capture
