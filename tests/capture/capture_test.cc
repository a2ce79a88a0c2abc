// SPDX-License-Identifier: Apache-2.0
// The capture on the real kernel: two processes exchange bytes over a UNIX socket, and every one of their sleeps and
// messages must be in the log, once, in order.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"
#include "ebpf/records.h"
#include "icepath/plugin.h"
#include "profiler/capture/capture.h"

namespace icepath::capture {
namespace {

constexpr int kTrips = 500;
constexpr uint32_t kRecords = 1u << 14;

// One end of the exchange, in a process of its own; it begins when it is told to by a byte on `start`.
struct Player {
	Player(int socket, bool first, uint32_t cpu)
	{
		EXPECT_EQ(pipe2(start, 0), 0);
		EXPECT_EQ(pipe2(done, 0), 0);
		pid = fork();
		if (pid == 0) {
			char byte = 0;
			if (cpuset::pin(0, cpu) || read(start[0], &byte, 1) != 1)
				_exit(1);
			for (int i = 0; i < kTrips; i++) {
				if (first && write(socket, "x", 1) != 1)
					_exit(2);
				if (read(socket, &byte, 1) != 1)
					_exit(3);
				if (!first && write(socket, "x", 1) != 1)
					_exit(4);
			}
			if (write(done[1], "d", 1) != 1)
				_exit(5);
			pause();
		}
		pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	}
	~Player()
	{
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
		waitpid(pid, nullptr, 0);
		for (const int fd : {pidfd, start[0], start[1], done[0], done[1]})
			close(fd);
	}
	void go() const { EXPECT_EQ(write(start[1], "s", 1), 1); }
	void await() const
	{
		char byte = 0;
		EXPECT_EQ(read(done[0], &byte, 1), 1);
	}
	int start[2], done[2], pidfd = -1;
	pid_t pid = -1;
};

std::vector<icepath_record> copy_slots(const Capture &capture, std::vector<icepath_slot> &heads)
{
	std::vector<icepath_record> all;
	const size_t bytes = size_t{capture.slot_bytes()} * capture.slot_count();
	auto *memory = static_cast<uint8_t *>(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, capture.slots_fd(), 0));
	if (memory == MAP_FAILED)
		throw std::runtime_error("cannot map the slots");
	for (uint32_t i = 0; i < capture.slot_count(); i++) {
		icepath_slot head{};
		std::memcpy(&head, memory + size_t{i} * capture.slot_bytes(), sizeof(head));
		heads.push_back(head);
		const auto *records =
			reinterpret_cast<const icepath_record *>(memory + size_t{i} * capture.slot_bytes() + sizeof(head));
		for (uint32_t r = 0; r < std::min(head.position, head.capacity); r++) {
			EXPECT_EQ(records[r].seq, r) << "slot " << i;
			EXPECT_EQ(records[r].bytes, sizeof(icepath_record));
			all.push_back(records[r]);
		}
	}
	munmap(memory, bytes);
	return all;
}

struct Exchange {
	explicit Exchange(std::pair<uint32_t, uint32_t> cpus)
	{
		int ends[2];
		EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		std::vector<uint32_t> list = {cpus.first};
		if (cpus.second != cpus.first)
			list.push_back(cpus.second);
		Capture capture(list, kRecords);
		capture.attach(~ProbeSet{0});
		Player first(ends[0], true, cpus.first), second(ends[1], false, cpus.second);
		pids = {first.pid, second.pid};
		capture.add_worker(first.pidfd);
		capture.add_worker(second.pidfd);
		capture.add_socket(ends[0], 10);
		capture.add_socket(ends[1], 11);
		begin_ns = icepath_now_ns();
		capture.begin_block({first.pidfd, second.pidfd});
		second.go();
		first.go();
		second.await();
		first.await();
		misses = capture.end_block();
		end_ns = icepath_now_ns();
		records = copy_slots(capture, heads);
		close(ends[0]);
		close(ends[1]);
	}
	size_t count(uint8_t type) const
	{
		return static_cast<size_t>(
			std::count_if(records.begin(), records.end(), [type](const auto &r) { return r.type == type; }));
	}
	std::vector<icepath_record> records;
	std::vector<icepath_slot> heads;
	std::vector<pid_t> pids;
	uint64_t begin_ns = 0, end_ns = 0, misses = 0;
};

std::pair<uint32_t, uint32_t> two_cpus()
{
	const auto affinity = cpuset::read_permission().affinity;
	return {affinity.front(), affinity.back()};
}

class CaptureTest : public testing::TestWithParam<bool> {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
		auto cpus = two_cpus();
		if (GetParam())
			cpus.second = cpus.first;
		seen = std::make_unique<Exchange>(cpus);
	}
	std::unique_ptr<Exchange> seen;
};

TEST_P(CaptureTest, EveryMessageAnnouncesItsSocketOnce)
{
	EXPECT_EQ(seen->count(ICEPATH_RECORD_DATA_READY), 2u * kTrips);
	std::map<uint64_t, int> by_socket;
	for (const auto &record : seen->records)
		if (record.type == ICEPATH_RECORD_DATA_READY)
			by_socket[record.socket.socket]++;
	EXPECT_EQ(by_socket[10], kTrips);
	EXPECT_EQ(by_socket[11], kTrips);
	EXPECT_EQ(seen->count(ICEPATH_RECORD_TAKEN), 2u * kTrips);
}

TEST_P(CaptureTest, NothingIsDroppedOrSkipped)
{
	for (const auto &head : seen->heads)
		EXPECT_LE(head.position, head.capacity);
	EXPECT_EQ(seen->misses, 0u);
}

TEST_P(CaptureTest, OffCpuPeriodsOfAThreadAreWholeAndDisjoint)
{
	std::map<uint32_t, std::vector<icepath_record>> by_thread;
	for (const auto &record : seen->records)
		if (record.type == ICEPATH_RECORD_OFF_CPU)
			by_thread[record.tid].push_back(record);
	ASSERT_EQ(by_thread.size(), 2u);
	for (auto &[tid, periods] : by_thread) {
		EXPECT_TRUE(tid == static_cast<uint32_t>(seen->pids[0]) || tid == static_cast<uint32_t>(seen->pids[1]));
		std::sort(periods.begin(), periods.end(), [](const auto &a, const auto &b) { return a.end_ns < b.end_ns; });
		uint64_t last_in_ns = 0;
		for (const auto &period : periods) {
			EXPECT_LT(period.off.out_ns, period.end_ns);
			EXPECT_GE(period.off.out_ns, last_in_ns);
			EXPECT_LE(period.end_ns, seen->end_ns);
			if (period.off.reason == ICEPATH_OFF_BLOCKED) {
				EXPECT_NE(period.off.waking_ns, 0u);
				EXPECT_LE(period.off.waking_ns, period.off.wakeup_ns);
				EXPECT_LE(period.off.wakeup_ns, period.end_ns);
			}
			last_in_ns = period.end_ns;
		}
	}
}

// Each sleep in read() is ended by the other process, in the context of its write(): that is what "who woke whom" rests on.
TEST_P(CaptureTest, SleepsInReadEndByTheOtherSide)
{
	size_t by_the_other = 0, blocked = 0;
	for (const auto &record : seen->records) {
		if (record.type != ICEPATH_RECORD_OFF_CPU || record.off.reason != ICEPATH_OFF_BLOCKED)
			continue;
		blocked++;
		const auto other =
			static_cast<uint32_t>(record.tid == static_cast<uint32_t>(seen->pids[0]) ? seen->pids[1] : seen->pids[0]);
		by_the_other += record.off.waker_tid == other && record.context == ICEPATH_CONTEXT_TASK;
	}
	EXPECT_GE(blocked, static_cast<size_t>(kTrips));
	EXPECT_GE(by_the_other + 8, blocked) << "all but the first byte on the start pipe and a few alien wakes";
}

INSTANTIATE_TEST_SUITE_P(Cpus, CaptureTest, testing::Bool(),
						 [](const auto &which) { return which.param ? "SameCpu" : "TwoCpus"; });

TEST(Probes, ACellAttachesOnlyWhatItNeeds)
{
	rundir::Cell spinning;
	spinning.mechanisms = ICEPATH_USES_USER_SLOT;
	spinning.wait = rundir::Wait::Spin;
	rundir::Cell tcp;
	tcp.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV | ICEPATH_USES_SKB_COPY | ICEPATH_USES_BYTE_STREAM;
	const auto has = [](ProbeSet set, std::string_view tracepoint) {
		for (size_t i = 0; i < kProbes.size(); i++)
			if (kProbes[i].tracepoint == tracepoint)
				return (set & bit(i)) != 0;
		return false;
	};
	EXPECT_TRUE(has(needed_by(spinning), "sched_switch"));
	EXPECT_FALSE(has(needed_by(spinning), "sk_data_ready"));
	EXPECT_FALSE(has(needed_by(spinning), "net_dev_queue"));
	EXPECT_TRUE(has(needed_by(tcp), "net_dev_queue"));
	EXPECT_FALSE(has(needed_by(tcp), "skb_copy_datagram_iovec")) << "a sleeping receiver can't take before it is told";
	tcp.wait = rundir::Wait::Poll;
	EXPECT_TRUE(has(needed_by(tcp), "skb_copy_datagram_iovec"));
}

// A group is attached as a whole: an entry without its exit would make an interrupt without end.
TEST(Probes, EveryEntryHasItsExit)
{
	size_t pairs = 0;
	for (const Probe &probe : kProbes) {
		if (!probe.tracepoint.ends_with("_entry"))
			continue;
		std::string exit(probe.tracepoint);
		exit.replace(exit.size() - 5, 5, "exit");
		pairs += std::ranges::any_of(kProbes, [&](const Probe &other) {
			return other.tracepoint == exit && other.group == probe.group && other.layers == probe.layers;
		});
		EXPECT_EQ(probe.program, "on_" + std::string(probe.tracepoint));
	}
	EXPECT_EQ(pairs, 7u);
}

TEST(Probes, EveryProbeWorksHereOrSaysWhyNot)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	for (size_t i = 0; i < kProbes.size(); i++) {
		const Trial trial = try_probe(i);
		EXPECT_NE(trial.works, !trial.why_not.empty()) << kProbes[i].tracepoint;
	}
}

} // namespace
} // namespace icepath::capture
