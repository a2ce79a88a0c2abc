// SPDX-License-Identifier: Apache-2.0
// The watched words change as a message enters and leaves its queue: each call hits them as often as the kernel writes
// them, within the call, and in the right order with the capture's records of the same messages.
#include "profiler/calibrate/watchpoints.h"

#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "ebpf/records.h"
#include "icepath/plugin.h"
#include "profiler/calibrate/calibrate.h"
#include "profiler/calibrate/queues.h"
#include "profiler/capture/capture.h"
#include "profiler/failure.h"

namespace icepath::calibrate {
namespace {

constexpr int kMessages = 50;

class WatchpointsTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to watch the kernel's words";
	}
	std::vector<char> memory_ = std::vector<char>(kMostBytes, 'm');
};

struct Calls {
	uint64_t sent_ns = 0, send_return_ns = 0, taking_ns = 0, taken_ns = 0;
	std::vector<uint64_t> sending_hits, taking_hits;
};

Calls exchange(const Queue &queue, uint64_t bytes, Watchpoints &watchpoints)
{
	Calls calls;
	const auto hits = [&] { return std::vector<uint64_t>(watchpoints.hits_ns().begin(), watchpoints.hits_ns().end()); };
	watchpoints.forget_hits();
	calls.sent_ns = icepath_now_ns();
	EXPECT_TRUE(queue.send(bytes)) << queue.target;
	calls.send_return_ns = icepath_now_ns();
	calls.sending_hits = hits();
	watchpoints.forget_hits();
	calls.taking_ns = icepath_now_ns();
	EXPECT_TRUE(queue.take(bytes)) << queue.target;
	calls.taken_ns = icepath_now_ns();
	calls.taking_hits = hits();
	return calls;
}

TEST_F(WatchpointsTest, EachCallHitsItsWordInside)
{
	// A pipe's lock is taken and released.
	const std::map<std::string, size_t> expected = {{"pipe", 2},      {"eventfd", 1},       {"mqueue", 1},
													{"uds-dgram", 1}, {"uds-seqpacket", 1}, {"uds-stream", 1}};
	Watchpoints watchpoints;
	for (const Queue &queue : make_queues(memory_.data())) {
		SCOPED_TRACE(queue.target);
		watchpoints.watch(queue.watched, queue.ends.front().get());
		watchpoints.enable(true);
		for (const uint64_t bytes : {queue.sizes.front(), queue.sizes[queue.sizes.size() / 2]})
			for (int i = 0; i < kMessages; i++) {
				const Calls calls = exchange(queue, bytes, watchpoints);
				ASSERT_EQ(calls.sending_hits.size(), expected.at(queue.target)) << bytes;
				ASSERT_EQ(calls.taking_hits.size(), expected.at(queue.target)) << bytes;
				EXPECT_TRUE(std::ranges::is_sorted(calls.sending_hits));
				EXPECT_GT(calls.sending_hits.front(), calls.sent_ns);
				EXPECT_LT(calls.sending_hits.back(), calls.send_return_ns);
				EXPECT_GT(calls.taking_hits.front(), calls.taking_ns);
				EXPECT_LT(calls.taking_hits.back(), calls.taken_ns);
			}
		watchpoints.enable(false);
		EXPECT_TRUE(exchange(queue, queue.sizes.front(), watchpoints).sending_hits.empty());
	}
}

// The cost before a hit includes that of earlier hits, and the cost after it that of later hits.
bool costs_add_up(Watchpoints &watchpoints, size_t hits)
{
	HitCost earlier{0, 1e18};
	for (size_t hit = 0; hit < hits; hit++) {
		const HitCost cost = watchpoints.cost_of(hit, hits);
		if (cost.before_ns <= earlier.before_ns || cost.after_ns <= 0 || cost.after_ns >= earlier.after_ns)
			return false;
		earlier = cost;
	}
	return true;
}

// The costs of hits are measured one by one. The machine may slow down in between: several attempts are allowed.
TEST_F(WatchpointsTest, AHitOfAKnownStoreLiesWithinIt)
{
	Watchpoints watchpoints;
	watchpoints.enable(true);
	for (const size_t hits : {1, 2, 5}) {
		bool found = false;
		for (int attempt = 0; attempt < 10 && !found; attempt++)
			found = costs_add_up(watchpoints, hits);
		EXPECT_TRUE(found) << hits;
	}
}

// A type of record from a queue's probes, and whether it must lie before the watched word's change.
struct Expected {
	std::string target;
	std::vector<std::string_view> probes;
	uint8_t type;
	bool before;
};

// A function's entry comes before the watched word's change, the tracepoint's announcement after it.
TEST_F(WatchpointsTest, AgreesInOrderWithTheProbesThatThisKernelHas)
{
	const std::vector<Expected> all = {
		{"uds-dgram", {"sk_data_ready"}, ICEPATH_RECORD_DATA_READY, false},
		{"uds-seqpacket", {"sk_data_ready"}, ICEPATH_RECORD_DATA_READY, false},
		{"uds-stream", {"sk_data_ready"}, ICEPATH_RECORD_DATA_READY, false},
		{"uds-dgram", {"skb_queue_tail"}, ICEPATH_RECORD_ENQUEUED, true},
		{"mqueue", {"msg_insert"}, ICEPATH_RECORD_ENQUEUED, true},
		{"pipe", {"pipe_write", "mutex_unlock"}, ICEPATH_RECORD_ENQUEUED, true},
	};
	const std::vector<Queue> queues = make_queues(memory_.data());
	const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
	ASSERT_GE(pidfd, 0);
	Watchpoints watchpoints;
	capture::Capture capture({}, 1u << 10);
	void *slots = mmap(nullptr, capture.slot_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, capture.slots_fd(), 0);
	ASSERT_NE(slots, MAP_FAILED);
	capture.add_worker(pidfd);
	for (const Queue &queue : queues)
		if (queue.watched == ICEPATH_WATCH_SOCKET_QUEUE)
			capture.add_socket(queue.ends.front().get(), 1);
	size_t compared = 0;
	for (const Expected &expected : all) {
		SCOPED_TRACE(expected.target + " " + std::string(expected.probes.front()));
		const Queue &queue = *std::ranges::find(queues, expected.target, &Queue::target);
		capture::ProbeSet probes = 0;
		for (const std::string_view name : expected.probes)
			probes |= capture::bit(capture::number_of(name));
		if ((capture.available() & probes) != probes)
			continue; // this kernel lets no functions be probed
		capture.attach(probes);
		watchpoints.watch(queue.watched, queue.ends.front().get());
		watchpoints.enable(true);
		const auto *slot = static_cast<const icepath_slot *>(slots);
		const auto *records = reinterpret_cast<const icepath_record *>(slot + 1);
		for (int i = 0; i < kMessages; i++) {
			capture.begin_block({pidfd});
			const Calls calls = exchange(queue, 64, watchpoints);
			capture.end_block();
			std::vector<uint64_t> told;
			for (uint32_t r = 0; r < slot->position; r++)
				if (records[r].type == expected.type && records[r].end_ns < calls.send_return_ns)
					told.push_back(records[r].end_ns);
			ASSERT_FALSE(told.empty());
			const uint64_t hit = calls.sending_hits.back();
			EXPECT_EQ(told.back() < hit, expected.before) << told.back() << " " << hit;
			compared++;
		}
		watchpoints.enable(false);
	}
	EXPECT_GE(compared, 3u * kMessages) << "at least what is announced by the tracepoint, or what functions tell";
	munmap(slots, capture.slot_bytes());
	close(pidfd);
}

TEST_F(WatchpointsTest, WhereADebuggerHasAllBreakpointsItSaysSo)
{
	std::array<uint64_t, 8> words{};
	std::vector<Fd> taken;
	perf_event_attr attributes{};
	attributes.size = sizeof(attributes);
	attributes.type = PERF_TYPE_BREAKPOINT;
	attributes.bp_type = HW_BREAKPOINT_W;
	attributes.bp_len = sizeof(words[0]);
	attributes.sample_period = 1;
	for (uint64_t &word : words) {
		attributes.bp_addr = reinterpret_cast<uint64_t>(&word);
		Fd event(static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
		if (!event)
			break;
		taken.push_back(std::move(event));
	}
	ASSERT_LT(taken.size(), words.size());
	try {
		Watchpoints watchpoints;
		ADD_FAILURE() << "there was one more";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		EXPECT_NE(std::string(failure.what()).find("all hardware breakpoints are taken"), std::string::npos)
			<< failure.what();
	}
	taken.clear();
	EXPECT_NO_THROW(Watchpoints());
}

TEST_F(WatchpointsTest, APassPlacesEveryQueue)
{
	const auto targets = calibrate({.cpu = 0, .blocks = 8, .messages = 10});
	ASSERT_EQ(targets.size(), 6u);
	for (const CalibratedTarget &target : targets) {
		SCOPED_TRACE(target.target);
		EXPECT_EQ(target.why_not, "");
		ASSERT_FALSE(target.sizes.empty());
		for (const CalibratedSize &size : target.sizes)
			for (const Share &share : {size.ready, size.taken}) {
				EXPECT_GE(share.low, 0);
				EXPECT_LE(share.low, share.value);
				EXPECT_LE(share.value, share.high);
				EXPECT_LE(share.high, 1);
			}
	}
}

} // namespace
} // namespace icepath::calibrate
