// SPDX-License-Identifier: Apache-2.0
// Datagrams of several senders into one socket, from a forward model that knows which readiness belongs to which. Each
// CPU has its own backlog, which a sender empties in its call or leaves to a later softirq. Some datagrams are dropped,
// some records lost. What the decoder says of a message with a complete path must be true.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "profiler/model/stamps.h"
#include "tests/decode/capture_by_hand.h"

namespace icepath::decode {
namespace {

constexpr uint32_t kSenders = 4, kMessages = 12;

class GatheredModel {
public:
	GatheredModel(uint64_t seed, bool loses_records) : random_(seed), capture(kUdp, 0)
	{
		capture.cell.pattern = model::Pattern::FanIn;
		capture.cell.graph = model::star(kSenders, {0, 0, 1, 1, 1}, model::Between::Processes, false);
		capture.block.sides.resize(kSenders + 1);
		capture.block.flows.clear();
		for (uint32_t sender = 0; sender < kSenders; sender++) {
			capture.block.sides[sender].tid = tid(sender);
			capture.block.flows.push_back({key(sender), kReceiverKey, {}, {}});
		}
		capture.block.sides[kSenders].tid = kReceiver;
		while (sent_ < kSenders * kMessages)
			step();
		for (unsigned cpu : {0u, 1u})
			empty_backlog(cpu, kForeign);
		receive();
		for (auto &slot : capture.window().slots) {
			std::ranges::sort(slot.records, {}, &icepath_record::end_ns);
			slot.position = 0;
			for (icepath_record &record : slot.records)
				record.seq = slot.position++;
			if (loses_records)
				std::erase_if(slot.records, [&](const icepath_record &) { return below(60) == 0; });
		}
	}

	// When each message was ready.
	std::map<uint64_t, uint64_t> truth;
	std::mt19937_64 random_;
	Capture capture;

private:
	struct Datagram {
		uint32_t sender;
		uint64_t seq;
	};

	static uint32_t tid(uint32_t sender) { return 1000 + sender; }
	static uint64_t key(uint32_t sender) { return 50 + sender; }
	uint64_t below(uint64_t most) { return random_() % most; }
	uint64_t later(unsigned cpu, uint64_t most) { return now_[cpu] += 1 + below(most); }

	void step()
	{
		const auto sender = static_cast<uint32_t>(below(kSenders));
		model::BlockFlow &flow = capture.block.flows[sender];
		const uint64_t seq = flow.sends.size();
		if (seq == kMessages)
			return;
		sent_++;
		const unsigned cpu = sender / 2;
		const uint64_t send = later(cpu, 400), call = later(cpu, 20);
		icepath_record &queued = capture.add(cpu, ICEPATH_RECORD_DEVICE_QUEUE, later(cpu, 20), tid(sender));
		queued.socket.socket = key(sender);
		queued.socket.bytes = 100;
		backlog_[cpu].push_back({sender, seq});
		if (below(5) != 0)
			empty_backlog(cpu, tid(sender));
		flow.sends.push_back({seq, send, send, call, 0, later(cpu, 20), 1, 0, 0});
		if (below(8) == 0)
			empty_backlog(cpu, kForeign);
	}

	void empty_backlog(unsigned cpu, uint32_t current)
	{
		for (; !backlog_[cpu].empty(); backlog_[cpu].pop_front()) {
			const Datagram one = backlog_[cpu].front();
			if (below(20) == 0)
				continue; // no room in the socket's buffer
			const uint64_t at = later(cpu, 10);
			capture.ready(at, current, cpu).context = ICEPATH_CONTEXT_SOFTIRQ;
			truth[model::message_at({one.sender, one.seq})] = at;
			arrived_.emplace_back(at, one);
		}
	}

	void receive()
	{
		std::ranges::sort(arrived_, {}, [](const auto &one) { return one.first; });
		uint64_t ask = 1;
		for (const auto &[at, one] : arrived_) {
			const uint64_t taken = std::max(ask, at) + 1 + below(below(4) ? 10 : 300);
			capture.block.flows[one.sender].recvs.push_back({one.seq, ask, 0, ask, taken, 0, taken + 1, 1, 0});
			ask = taken + 2;
		}
	}

	uint64_t now_[2] = {100, 100};
	std::deque<Datagram> backlog_[2];
	std::vector<std::pair<uint64_t, Datagram>> arrived_;
	uint32_t sent_ = 0;
};

struct Told {
	uint64_t deliveries = 0, ready = 0;
};

void expect_true(uint64_t seed, bool loses_records, Told &told)
{
	const GatheredModel model(seed, loses_records);
	const Observations seen = model.capture.decoded();
	for (const Delivery &delivery : seen.deliveries) {
		told.deliveries++;
		const auto transfer = std::ranges::find(seen.transfers, delivery.message, &Transfer::message);
		ASSERT_NE(transfer, seen.transfers.end());
		if (!walk(seen, delivery).complete() || !transfer->ready)
			continue;
		told.ready++;
		ASSERT_EQ(transfer->ready->at_ns, model.truth.at(delivery.message))
			<< "seed " << seed << ", message " << model::place_of(delivery.message).seq << " of sender "
			<< model::place_of(delivery.message).flow;
	}
}

TEST(GatheredModel, EveryReadinessIsItsMessages)
{
	Told told;
	for (uint64_t seed = 0; seed < 2000; seed++)
		ASSERT_NO_FATAL_FAILURE(expect_true(seed, false, told));
	EXPECT_EQ(told.ready, told.deliveries);
}

TEST(GatheredModel, NorIsAnyOtherWhereRecordsAreLost)
{
	Told told;
	for (uint64_t seed = 0; seed < 4000; seed++)
		ASSERT_NO_FATAL_FAILURE(expect_true(seed, true, told));
	EXPECT_GT(told.ready, told.deliveries / 4);
}

} // namespace
} // namespace icepath::decode
