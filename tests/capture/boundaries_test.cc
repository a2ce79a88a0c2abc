// SPDX-License-Identifier: Apache-2.0
// Each function and tracepoint that a boundary rests on, by every tier that this kernel has: it fires once for each message,
// within the right call and with what names the message; and the tiers differ by less than their probes cost.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/capture/exchange.h"
#include "tests/capture/one_way.h"

namespace icepath::capture {
namespace {

enum class Where : uint8_t { Sending, Taking, Arriving }; // Arriving: in a softirq, mostly on top of the sending call

struct Boundary {
	const char *name;
	Mechanism mechanism;
	std::string_view probe;
	std::string_view with; // another one that it needs, or ""
	uint8_t type;
	Where where;
	Receiver receiver = Receiver::Away;
};

constexpr uint64_t kKey = 77;

constexpr Boundary kBoundaries[] = {
	{"stream_queued", Mechanism::Stream, "skb_queue_tail", "", ICEPATH_RECORD_ENQUEUED, Where::Sending},
	{"dgram_queued", Mechanism::Datagram, "skb_queue_tail", "", ICEPATH_RECORD_ENQUEUED, Where::Sending},
	{"seqpacket_queued", Mechanism::SeqPacket, "skb_queue_tail", "", ICEPATH_RECORD_ENQUEUED, Where::Sending},
	{"tcp_queued", Mechanism::Tcp, "tcp_queue_rcv", "", ICEPATH_RECORD_ENQUEUED, Where::Arriving},
	{"pipe_queued", Mechanism::Pipe, "mutex_unlock", "pipe_write", ICEPATH_RECORD_ENQUEUED, Where::Sending},
	{"mqueue_queued", Mechanism::MessageQueue, "msg_insert", "", ICEPATH_RECORD_ENQUEUED, Where::Sending},
	{"mqueue_handed_over", Mechanism::MessageQueue, "wake_q_add_safe", "", ICEPATH_RECORD_ENQUEUED, Where::Sending,
	 Receiver::Asleep},
	{"stream_ready", Mechanism::Stream, "sk_data_ready", "", ICEPATH_RECORD_DATA_READY, Where::Sending},
	{"dgram_ready", Mechanism::Datagram, "sk_data_ready", "", ICEPATH_RECORD_DATA_READY, Where::Sending},
	{"pipe_queued_for_a_sleeper", Mechanism::Pipe, "mutex_unlock", "pipe_write", ICEPATH_RECORD_ENQUEUED,
	 Where::Sending, Receiver::Asleep},
	{"dgram_ready_for_a_sleeper", Mechanism::Datagram, "sk_data_ready", "", ICEPATH_RECORD_DATA_READY, Where::Sending,
	 Receiver::Asleep},
	{"tcp_ready", Mechanism::Tcp, "sk_data_ready", "", ICEPATH_RECORD_DATA_READY, Where::Arriving},
	{"udp_ready", Mechanism::Udp, "sk_data_ready", "", ICEPATH_RECORD_DATA_READY, Where::Arriving},
	{"dgram_taken", Mechanism::Datagram, "skb_copy_datagram_iovec", "", ICEPATH_RECORD_TAKEN, Where::Taking},
	{"tcp_taken", Mechanism::Tcp, "skb_copy_datagram_iovec", "", ICEPATH_RECORD_TAKEN, Where::Taking},
	{"udp_taken", Mechanism::Udp, "__skb_recv_udp", "", ICEPATH_RECORD_TAKEN, Where::Taking},
	{"mqueue_taken", Mechanism::MessageQueue, "store_msg", "", ICEPATH_RECORD_TAKEN, Where::Taking},
};

size_t number_of(std::string_view probe)
{
	return static_cast<size_t>(std::ranges::find(kProbes, probe, &Probe::name) - kProbes.begin());
}

double median(std::vector<double> values)
{
	std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
	return values[values.size() / 2];
}

bool has_probes(int turn) { return turn % 4 == 0 || turn % 4 == 3; } // ABBA

class Boundaries : public testing::TestWithParam<Boundary> {
protected:
	static void SetUpTestSuite()
	{
		if (geteuid() != 0)
			return;
		const auto cpus = two_cpus();
		std::vector<uint32_t> list = {cpus.first};
		if (cpus.second != cpus.first)
			list.push_back(cpus.second);
		for (const Tier tier : {Tier::Tracepoint, Tier::Fentry, Tier::Kprobe})
			captures[tier] = std::make_unique<Capture>(list, 1u << 13, tier);
	}
	static void TearDownTestSuite() { captures.clear(); }
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
	}

	static std::pair<uint64_t, uint64_t> bounds(const Boundary &boundary, const Stamps &stamps)
	{
		switch (boundary.where) {
		case Where::Sending:
			return {stamps.send_begin_ns, stamps.send_end_ns};
		case Where::Taking:
			return {stamps.take_begin_ns, stamps.take_end_ns};
		case Where::Arriving:
			break;
		}
		return {stamps.send_begin_ns, stamps.take_end_ns};
	}

	// When each message of the turns with probes passed the boundary, by what one capture logged; its records are those of
	// the messages, one each.
	static std::vector<uint64_t> passed(const Boundary &boundary, const OneWay &way,
										std::vector<icepath_record> records, Tier tier)
	{
		const auto actor =
			static_cast<uint32_t>(boundary.where == Where::Taking ? way.receiver().pid : way.sender().pid);
		const bool of_socket = boundary.type != ICEPATH_RECORD_TAKEN && boundary.mechanism != Mechanism::Pipe &&
							   boundary.mechanism != Mechanism::MessageQueue;
		std::erase_if(records, [&](const icepath_record &one) { return one.type != boundary.type; });
		std::ranges::stable_sort(records, {}, &icepath_record::end_ns);
		std::vector<uint64_t> times;
		size_t within = 0;
		uint32_t stream_end = 0;
		for (int i = 0; i < kMessages; i++) {
			if (!has_probes(i / kMessagesOfTurn))
				continue;
			const auto [begin_ns, end_ns] = bounds(boundary, way.stamps()[static_cast<size_t>(i)]);
			std::vector<icepath_record> own;
			std::ranges::copy_if(records, std::back_inserter(own), [&](const icepath_record &one) {
				return one.end_ns >= begin_ns && one.end_ns <= end_ns;
			});
			EXPECT_EQ(own.size(), 1u) << "message " << i;
			if (own.size() != 1)
				return {};
			const icepath_record &record = own.front();
			within++;
			times.push_back(record.end_ns);
			EXPECT_EQ((record.flags & ICEPATH_FLAG_TIER_MASK) >> ICEPATH_FLAG_TIER_SHIFT, static_cast<unsigned>(tier));
			EXPECT_EQ(record.socket.socket, of_socket ? kKey : 0);
			if (boundary.where != Where::Arriving) {
				EXPECT_EQ(record.tid, actor) << "message " << i;
				EXPECT_EQ(record.context, ICEPATH_CONTEXT_TASK) << "message " << i;
			}
			if (boundary.type == ICEPATH_RECORD_TAKEN) {
				EXPECT_NE(record.socket.buffer, 0u);
				EXPECT_EQ(record.socket.bytes, boundary.probe == "__skb_recv_udp" ? 0 : kPayloadBytes);
			}
			EXPECT_EQ(record.socket.has_stream_end, boundary.mechanism == Mechanism::Tcp && of_socket);
			if (record.socket.has_stream_end) {
				EXPECT_TRUE(i % kMessagesOfTurn == 0 || record.socket.stream_end == stream_end + kPayloadBytes) << i;
				stream_end = record.socket.stream_end;
			}
		}
		// A kprobe can't see whom a wake_q is for.
		if (!(boundary.probe == "wake_q_add_safe" && tier == Tier::Kprobe)) {
			EXPECT_EQ(records.size(), within) << "of no message";
		}
		return times;
	}

	// In most pairs of neighbouring turns, what lies between two tiers' times of one message is less than what all their probes
	// add to the call. Both are medians; what disturbs the machine for longer than a turn disturbs both turns of a pair.
	static void expect_within_the_price(const Boundary &boundary, const OneWay &way,
										const std::map<Tier, std::vector<uint64_t>> &times)
	{
		const auto call_ns = [&](size_t message) {
			const Stamps &stamps = way.stamps()[message];
			return boundary.where == Where::Taking ? stamps.take_end_ns - stamps.take_begin_ns
												   : stamps.send_end_ns - stamps.send_begin_ns;
		};
		for (auto one = times.begin(); one != times.end(); ++one)
			for (auto other = std::next(one); other != times.end(); ++other) {
				int within = 0;
				std::string each;
				for (size_t pair = 0; pair < kTurns / 2; pair++) {
					std::vector<double> with, without, apart;
					for (size_t i = 0; i < 2 * kMessagesOfTurn; i++) {
						const size_t message = 2 * pair * kMessagesOfTurn + i;
						(has_probes(static_cast<int>(message) / kMessagesOfTurn) ? with : without)
							.push_back(static_cast<double>(call_ns(message)));
					}
					for (size_t i = pair * kMessagesOfTurn; i < (pair + 1) * kMessagesOfTurn; i++)
						apart.push_back(
							std::abs(static_cast<double>(one->second[i]) - static_cast<double>(other->second[i])));
					const double cost = median(with) - median(without), typical = median(apart);
					within += typical < cost;
					each += std::to_string(std::lround(typical)) + " of " + std::to_string(std::lround(cost)) + " ns, ";
				}
				const std::string tiers = std::string(name(one->first)) + "_" + std::string(name(other->first));
				RecordProperty(tiers, each);
				EXPECT_GT(within, kTurns / 4) << tiers << ": " << each;
				printf("%s %s %d: %s\n", boundary.name, tiers.c_str(), within, each.c_str());
			}
	}

	static std::map<Tier, std::unique_ptr<Capture>> captures;
};

std::map<Tier, std::unique_ptr<Capture>> Boundaries::captures;

TEST_P(Boundaries, OfEachMessageAreToldOnceByEveryTierWithinThePriceOfTheProbes)
{
	const Boundary &boundary = GetParam();
	const size_t probe = number_of(boundary.probe);
	ASSERT_LT(probe, kProbes.size());
	ProbeSet wanted = bit(probe);
	if (!boundary.with.empty())
		wanted |= bit(number_of(boundary.with));
	std::map<Tier, Capture *> telling;
	for (const auto &[tier, capture] : captures) {
		const Trial &trial = capture->selection()[probe];
		EXPECT_TRUE(trial.works || !trial.why_not.empty());
		if (trial.works && trial.candidate.tier == tier)
			telling[tier] = capture.get();
	}

	OneWay way(boundary.mechanism, boundary.receiver, two_cpus());
	for (const auto &[tier, capture] : telling) {
		capture->add_worker(way.sender().pidfd);
		capture->add_worker(way.receiver().pidfd);
		if (boundary.mechanism < Mechanism::Pipe)
			capture->add_socket(way.in(), kKey);
		capture->begin_block({way.sender().pidfd, way.receiver().pidfd});
	}
	for (int turn = 0; turn < kTurns; turn++) {
		for (const auto &[tier, capture] : telling)
			capture->attach(has_probes(turn) ? wanted : 0);
		way.play_turn();
	}
	std::map<Tier, std::vector<uint64_t>> times;
	for (const auto &[tier, capture] : telling) {
		SCOPED_TRACE(name(tier));
		EXPECT_EQ(capture->end_block(), 0u);
		capture->attach(0);
		std::vector<icepath_slot> heads;
		times[tier] = passed(boundary, way, copy_slots(*capture, heads), tier);
		ASSERT_EQ(times[tier].size(), size_t{kMessages / 2});
	}

	// Waking takes much longer than any probe, and is seldom the same.
	if (boundary.receiver == Receiver::Away)
		expect_within_the_price(boundary, way, times);
}

INSTANTIATE_TEST_SUITE_P(All, Boundaries, testing::ValuesIn(kBoundaries),
						 [](const auto &which) { return std::string(which.param.name); });

} // namespace
} // namespace icepath::capture
