// SPDX-License-Identifier: Apache-2.0
// The capture on the real kernel: two processes exchange bytes over a UNIX socket. Each of their sleeps and messages
// must be in the log, once, in order.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "icepath/plugin.h"
#include "tests/capture/exchange.h"

namespace icepath::capture {
namespace {

class CaptureTest : public testing::TestWithParam<bool> {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
		auto cpus = two_cpus();
		if (GetParam())
			cpus.second = cpus.first;
		exchange = std::make_unique<Exchange>(cpus, std::vector<std::optional<Tier>>(1));
		seen = &exchange->seen.front();
	}
	std::unique_ptr<Exchange> exchange;
	Seen *seen = nullptr;
};

TEST_P(CaptureTest, EveryMessageAnnouncesItsSocketOnce)
{
	EXPECT_EQ(seen->count(ICEPATH_RECORD_DATA_READY), 2u * kTrips);
	std::map<uint64_t, int> by_socket;
	for (const auto &record : seen->records)
		if (record.type == ICEPATH_RECORD_DATA_READY)
			by_socket[record.socket.socket]++;
	EXPECT_EQ(by_socket[kFirstKey], kTrips);
	EXPECT_EQ(by_socket[kSecondKey], kTrips);
	EXPECT_EQ(seen->count(ICEPATH_RECORD_TAKEN), 2u * kTrips);
}

TEST_P(CaptureTest, NothingIsDroppedOrSkipped)
{
	for (const auto &head : seen->heads)
		EXPECT_LE(head.position, head.capacity);
	EXPECT_TRUE(seen->skipped.empty());
}

TEST_P(CaptureTest, OffCpuPeriodsOfAThreadAreWholeAndDisjoint)
{
	std::map<uint32_t, std::vector<icepath_record>> by_thread;
	for (const auto &record : seen->records)
		if (record.type == ICEPATH_RECORD_OFF_CPU)
			by_thread[record.tid].push_back(record);
	ASSERT_EQ(by_thread.size(), 2u);
	for (auto &[tid, periods] : by_thread) {
		EXPECT_TRUE(tid == static_cast<uint32_t>(exchange->pids[0]) || tid == static_cast<uint32_t>(exchange->pids[1]));
		std::sort(periods.begin(), periods.end(), [](const auto &a, const auto &b) { return a.end_ns < b.end_ns; });
		uint64_t last_in_ns = 0;
		for (const auto &period : periods) {
			EXPECT_LT(period.off.out_ns, period.end_ns);
			EXPECT_GE(period.off.out_ns, last_in_ns);
			EXPECT_LE(period.end_ns, exchange->end_ns);
			if (period.off.reason == ICEPATH_OFF_BLOCKED) {
				EXPECT_NE(period.off.waking_ns, 0u);
				EXPECT_LE(period.off.waking_ns, period.off.wakeup_ns);
				EXPECT_LE(period.off.wakeup_ns, period.end_ns);
			}
			last_in_ns = period.end_ns;
		}
	}
}

// With its result and its socket, and around what happened in it: a sleep begins and ends in the same call.
TEST_P(CaptureTest, EveryCallOfAWorkerIsToldOnce)
{
	for (const pid_t pid : exchange->pids) {
		std::vector<icepath_record> calls, sleeps;
		std::map<uint64_t, int> objects; // how often bytes were moved
		for (const auto &record : seen->records)
			if (record.tid == static_cast<uint32_t>(pid) &&
				(record.type == ICEPATH_RECORD_CALL || record.type == ICEPATH_RECORD_OFF_CPU))
				(record.type == ICEPATH_RECORD_CALL ? calls : sleeps).push_back(record);
		std::ranges::sort(calls, {}, &icepath_record::end_ns);
		int writes = 0, reads = 0;
		uint64_t last_end_ns = 0;
		for (const auto &record : calls) {
			EXPECT_LT(record.call.begin_ns, record.end_ns);
			EXPECT_GE(record.call.begin_ns, last_end_ns);
			last_end_ns = record.end_ns;
			const bool is_write = record.call.number == SYS_write, is_read = record.call.number == SYS_read;
			EXPECT_EQ(record.call.kind, is_write  ? ICEPATH_CALL_GIVE
										: is_read ? ICEPATH_CALL_TAKE
												  : ICEPATH_CALL_OTHER);
			if (record.call.result == 1 && (is_write || is_read))
				objects[record.call.object]++;
			writes += is_write && record.call.result == 1;
			reads += is_read && record.call.result == 1;
		}
		EXPECT_EQ(std::ranges::count_if(objects, [](const auto &one) { return one.second == 2 * kTrips; }), 1)
			<< "its end of the socket pair, for both directions";
		EXPECT_FALSE(objects.contains(0));
		EXPECT_EQ(writes, kTrips);
		EXPECT_EQ(reads, kTrips);
		const auto outside = std::ranges::count_if(sleeps, [&](const icepath_record &sleep) {
			const auto around =
				std::ranges::find_if(calls, [&](const auto &call) { return call.end_ns >= sleep.end_ns; });
			return sleep.off.reason == ICEPATH_OFF_BLOCKED && around != calls.end() &&
				   around->call.begin_ns > sleep.off.out_ns;
		});
		EXPECT_LE(outside, 8) << "page faults";
	}
}

// Each sleep in read() is ended by the other process, in the context of its write(). The attribution of wakings rests
// on that.
TEST_P(CaptureTest, SleepsInReadEndByTheOtherSide)
{
	size_t by_the_other = 0, blocked = 0;
	for (const auto &record : seen->records) {
		if (record.type != ICEPATH_RECORD_OFF_CPU || record.off.reason != ICEPATH_OFF_BLOCKED)
			continue;
		blocked++;
		const auto other = static_cast<uint32_t>(
			record.tid == static_cast<uint32_t>(exchange->pids[0]) ? exchange->pids[1] : exchange->pids[0]);
		by_the_other += record.off.waker_tid == other && record.context == ICEPATH_CONTEXT_TASK;
	}
	EXPECT_GE(blocked, static_cast<size_t>(kTrips));
	EXPECT_GE(by_the_other + 8, blocked) << "all but the first byte on the start pipe and a few alien wakes";
}

INSTANTIATE_TEST_SUITE_P(Cpus, CaptureTest, testing::Bool(),
						 [](const auto &which) { return which.param ? "SameCpu" : "TwoCpus"; });

TEST(Probes, ACellAttachesOnlyWhatItNeeds)
{
	model::Cell spinning;
	spinning.mechanisms = {model::Mechanism::UserSlot};
	spinning.wait = model::Wait::Spin;
	model::Cell tcp;
	tcp.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice, model::Mechanism::SkbCopy,
					  model::Mechanism::ByteStream};
	const auto has = [](ProbeSet set, std::string_view tracepoint) {
		for (size_t i = 0; i < kProbes.size(); i++)
			if (kProbes[i].name == tracepoint)
				return (set & bit(i)) != 0;
		return false;
	};
	EXPECT_TRUE(has(needed_by(spinning), "sched_switch"));
	EXPECT_FALSE(has(needed_by(spinning), "sk_data_ready"));
	EXPECT_FALSE(has(needed_by(spinning), "net_dev_queue"));
	EXPECT_TRUE(has(needed_by(tcp), "net_dev_queue"));
	model::Cell udp;
	udp.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice};
	EXPECT_TRUE(has(needed_by(udp), "netif_receive_skb")) << "whose softirqs are the cell's own, also without TCP";
	EXPECT_FALSE(has(needed_by(udp), "tcp_probe"));
	EXPECT_FALSE(has(needed_by(tcp), "sys_enter")) << "its plug-in stamps its calls";
	model::Cell library;
	library.mechanisms = {model::Mechanism::LibraryCalls};
	EXPECT_TRUE(has(needed_by(library), "sys_enter") && has(needed_by(library), "sys_exit"));
	EXPECT_FALSE(has(needed_by(tcp), "skb_copy_datagram_iovec")) << "a sleeping receiver can't take before it is told";
	tcp.wait = model::Wait::Poll;
	EXPECT_TRUE(has(needed_by(tcp), "skb_copy_datagram_iovec"));
	// Functions: for each mechanism, those of the queue that its messages pass.
	const std::vector<std::pair<model::Mechanisms, std::vector<std::string_view>>> queues = {
		{{model::Mechanism::Socket}, {"skb_queue_tail"}},
		{{model::Mechanism::Socket, model::Mechanism::NetworkDevice, model::Mechanism::ByteStream}, {"tcp_queue_rcv"}},
		{{model::Mechanism::Socket, model::Mechanism::NetworkDevice}, {"__skb_recv_udp"}},
		{{model::Mechanism::Pipe}, {"pipe_write", "mutex_unlock"}},
		{{model::Mechanism::MessageQueue}, {"msg_insert", "wake_q_add_safe", "store_msg"}},
		{{model::Mechanism::UserSlot}, {}},
	};
	for (const auto &[mechanisms, expected] : queues) {
		model::Cell polling;
		polling.mechanisms = mechanisms;
		polling.wait = model::Wait::Poll;
		std::vector<std::string_view> found;
		for (size_t i = 0; i < kProbes.size(); i++)
			if ((needed_by(polling) & bit(i)) && kProbes[i].candidates[0].tier != Tier::Tracepoint)
				found.push_back(kProbes[i].name);
		EXPECT_EQ(found, expected);
	}
}

// A group is attached as a whole: an entry without its exit would make an endless interrupt.
TEST(Probes, EveryEntryHasItsExit)
{
	size_t pairs = 0;
	for (const Probe &probe : kProbes) {
		if (!probe.name.ends_with("_entry"))
			continue;
		std::string exit(probe.name);
		exit.replace(exit.size() - 5, 5, "exit");
		pairs += std::ranges::any_of(kProbes, [&](const Probe &other) {
			return other.name == exit && other.group == probe.group && other.uses == probe.uses;
		});
		EXPECT_EQ(probe.candidates[0].program, "on_" + std::string(probe.name));
	}
	EXPECT_EQ(pairs, 7u);
}

TEST(Probes, EveryProbeWorksHereOrSaysWhyNot)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	for (size_t i = 0; i < kProbes.size(); i++) {
		const Trial trial = try_probe(i);
		EXPECT_TRUE(trial.works || !trial.why_not.empty()) << kProbes[i].name;
	}
}

} // namespace
} // namespace icepath::capture
