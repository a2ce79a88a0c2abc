// SPDX-License-Identifier: Apache-2.0
// A forward model of libraries' threads and a daemon. Messages go one after the other by random ways over random means,
// in one or several calls, while other threads of all three processes are woken by the carriers, confirm, and send
// heartbeats. The decoder must find a message's true way or none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/decode/relayed.h"

namespace icepath::decode {
namespace {

constexpr uint64_t kBytes = 100;
// In each process two threads that messages may pass, and one that they don't.
constexpr uint32_t kSendersIo = 101, kSendersOther = 103;
constexpr uint32_t kBrokersIn = 111, kBrokersOut = 112, kBrokersOther = 113;
constexpr uint32_t kReceiversIo = 121, kReceiversOther = 123;

struct Chatter {
	bool wakes = false; // others of the process
	bool beats = false; // heartbeats and confirmations, smaller than a message
	bool large = false; // as large as a message
};

// Until when a thread held the message: a hand-over ends when the next holder's waking, or what it takes, is ready.
struct Holder {
	uint32_t tid = 0;
	uint64_t until_ns = 0;
};

class Model : public Relayed {
protected:
	uint64_t pick(uint64_t least, uint64_t most)
	{
		return std::uniform_int_distribution<uint64_t>(least, most)(random);
	}
	bool chance(unsigned percent) { return pick(1, 100) <= percent; }

	void begin()
	{
		capture.window().slots[2] = {};
		capture.window().slots[2].cpu = -1;
		capture.block.flows[0].sends.clear();
		capture.block.flows[0].recvs.clear();
		free_at.clear();
		now = 1000;
		for (const auto &[process, tids] :
			 std::map<uint32_t, std::vector<uint32_t>>{{kSender, {kSender, kSendersIo, kSendersOther}},
													   {kBrokersIn, {kBrokersIn, kBrokersOut, kBrokersOther}},
													   {kReceiver, {kReceiver, kReceiversIo, kReceiversOther}}})
			for (const uint32_t tid : tids) {
				thread(tid, process);
				free_at[tid] = 30;
			}
	}

	uint64_t idle_from(uint32_t tid) { return std::max(now, free_at[tid]) + pick(1, 9); }

	// By a futex that the other thread sleeps for, or an eventfd that it reads without having slept.
	void within_process(uint32_t from, uint32_t to)
	{
		const uint64_t give = idle_from(from), word = 0x10000 + to;
		free_at[from] = give + 9;
		if (chance(50) && give > free_at[to] + 5) {
			call(from, ICEPATH_CALL_FUTEX_WAKE, give, give + 9, word);
			call(to, ICEPATH_CALL_FUTEX_WAIT, free_at[to] + 1, give + 25, word);
			slept(to, free_at[to] + 2, give + 5, give + 20, from).off.wakeup_ns = give + 6;
			holders.push_back({from, give + 5});
			now = give + 25;
		} else {
			const uint64_t take = std::max(give + 12, free_at[to] + 1);
			call(from, ICEPATH_CALL_GIVE, give, give + 9, word + 0x1000, 8);
			call(to, ICEPATH_CALL_TAKE, take, take + 9, word + 0x1000, 8);
			holders.push_back({from, give}); // within its own bounds
			now = take + 9;
		}
		free_at[to] = now;
	}

	// A stream to another process, whose reader waits for it or polls. Returns when the last bytes were ready.
	uint64_t stream(uint32_t from, uint32_t to, uint64_t bytes, unsigned parts)
	{
		const uint64_t socket = uint64_t{from} * 1000 + to;
		uint64_t at = idle_from(from), ready = 0;
		for (unsigned part = parts; part > 0; --part) {
			const uint64_t some = part == 1 ? bytes : bytes / 2;
			bytes -= some;
			call(from, ICEPATH_CALL_GIVE, at, at + 9, socket + 0x1000000, some);
			event(ICEPATH_RECORD_DATA_READY, ready = at + 4, from, socket);
			in_socket[socket] += some;
			at += pick(10, 14);
		}
		free_at[from] = at;
		if (free_at[to] + 2 < ready && chance(50)) {
			call(to, ICEPATH_CALL_READINESS, free_at[to] + 1, at + 15);
			slept(to, free_at[to] + 2, ready + 1, at + 12, from).off.wakeup_ns = ready + 2;
			free_at[to] = at + 15;
		}
		uint64_t take = std::max(at + 16, free_at[to] + 1);
		while (in_socket[socket] > 0) {
			const uint64_t some = chance(50) ? in_socket[socket] : (in_socket[socket] + 1) / 2;
			call(to, ICEPATH_CALL_TAKE, take, take + 4, socket, some);
			in_socket[socket] -= some;
			take += 5;
		}
		free_at[to] = take;
		return ready;
	}

	void between_processes(uint32_t from, uint32_t to)
	{
		holders.push_back({from, stream(from, to, kBytes + pick(0, 60), static_cast<unsigned>(pick(1, 3)))});
		now = free_at[to];
	}

	// Chatter of threads that the message doesn't pass next, like that of its holders.
	void chat(uint32_t carrier, uint32_t other, uint32_t peer, const Chatter &chatter)
	{
		const uint64_t at = idle_from(carrier);
		if (chatter.wakes && chance(50) && at > free_at[other] + 5) {
			call(carrier, ICEPATH_CALL_FUTEX_WAKE, at, at + 4, 0x20000 + other);
			call(other, ICEPATH_CALL_FUTEX_WAIT, free_at[other] + 1, at + 9, 0x20000 + other);
			slept(other, free_at[other] + 2, at + 1, at + 6, carrier).off.wakeup_ns = at + 2;
			free_at[carrier] = at + 4;
			free_at[other] = at + 9;
		}
		if (chatter.beats && chance(50)) // by another thread, to a possible next holder
			stream(other, peer, pick(1, 20), 1);
		if (chatter.beats && chance(50)) // back to its giver
			stream(peer, carrier, 4, 1);
		if (chatter.large && chance(30))
			stream(other, peer, kBytes + pick(0, 60), 1);
	}

	void message(uint64_t number, const Chatter &chatter)
	{
		holders.clear();
		const uint64_t sent = now, ask = free_at[kReceiver];
		free_at[kSender] = std::max(free_at[kSender], now);
		uint32_t who = kSender;
		const auto on_to = [&](uint32_t next, bool in_process) {
			if (in_process && chance(50))
				return;
			in_process ? within_process(who, next) : between_processes(who, next);
			who = next;
		};
		on_to(kSendersIo, true);
		chat(who, kSendersOther, kBrokersIn, chatter);
		on_to(kBrokersIn, false);
		chat(who, kSendersOther, kBrokersIn, chatter);
		on_to(kBrokersOut, true);
		chat(who, kBrokersOther, kReceiversIo, chatter);
		on_to(kReceiversIo, false);
		chat(who, kBrokersOther, kReceiversIo, chatter);
		now = std::max(now, free_at[who]);
		within_process(who, kReceiver);
		holders.push_back({kReceiver, UINT64_MAX});
		const uint64_t taken = free_at[kReceiver] + 10;
		capture.block.flows[0].sends.push_back({number, sent, sent, sent + 1, 0, taken - 1, 1, 0, 0});
		capture.block.flows[0].recvs.push_back({number, ask, 0, ask, taken, 0, taken + 5, 1, 0});
		truths.push_back(holders);
		now = 0;
		for (auto &[tid, at_ns] : free_at)
			now = std::max(now, at_ns);
		free_at[kReceiver] = std::max(now, taken + 6);
		now = std::max(now, taken) + 100;
	}

	// Empty, or the error in a complete path: time on another thread than the holder's, outside of inferred bounds.
	static std::string wrong(const Path &path, const std::vector<Holder> &holders)
	{
		const auto known = [&](uint64_t at_ns) {
			return std::ranges::none_of(path.segments, [&](const Segment &segment) {
				return std::ranges::any_of(
					std::initializer_list<const Boundary *>{&segment.begin, &segment.end}, [&](const Boundary *one) {
						return is_inferred(one->provenance) && one->earliest_ns <= at_ns && at_ns <= one->latest_ns;
					});
			});
		};
		for (const Segment &segment : path.segments)
			for (uint64_t at_ns = segment.begin.at_ns; at_ns < segment.end.at_ns; ++at_ns) {
				const auto holder =
					std::ranges::find_if(holders, [&](const Holder &one) { return at_ns < one.until_ns; });
				if (known(at_ns) && holder->tid != segment.thread)
					return fmt::format("at {} of {} it had {}: {}", at_ns - path.send_ns, segment.thread, holder->tid,
									   text_of(path));
			}
		return {};
	}

	// Returns how many of a hundred were found.
	unsigned told_of(const Chatter &chatter)
	{
		unsigned all = 0, told = 0, failures = 0;
		for (int run = 0; run < 300 && failures < 5; ++run) {
			begin();
			truths.clear();
			for (uint64_t number = 0; number < 5; ++number)
				message(number, chatter);
			const Observations seen = capture.decoded();
			EXPECT_EQ(seen.deliveries.size(), truths.size());
			for (size_t i = 0; i < seen.deliveries.size(); ++i) {
				const Path path = walk(seen, seen.deliveries[i]);
				++all;
				told += path.complete();
				const std::string error = path.complete() ? wrong(path, truths[i]) : std::string();
				EXPECT_EQ(error, "") << "run " << run << ", message " << i;
				failures += !error.empty();
			}
		}
		return told * 100 / all;
	}

	std::mt19937 random{7};
	std::map<uint32_t, uint64_t> free_at; // end of each thread's last call
	std::map<uint64_t, uint64_t> in_socket;
	std::vector<Holder> holders;
	std::vector<std::vector<Holder>> truths;
	uint64_t now = 0;
};

TEST_F(Model, TheWayThatAMessageTookIsFound) { EXPECT_EQ(told_of({}), 100u); }

TEST_F(Model, OthersThatAreWokenAreNotOnIt) { EXPECT_EQ(told_of({.wakes = true}), 100u); }

TEST_F(Model, HeartbeatsAndConfirmationsAreNotTheMessage) { EXPECT_GT(told_of({.wakes = true, .beats = true}), 90u); }

TEST_F(Model, WhatMayBeTheMessageIsNotTold)
{
	const unsigned told = told_of({.wakes = true, .beats = true, .large = true});
	EXPECT_GT(told, 10u);
	EXPECT_LT(told, 90u);
}

} // namespace
} // namespace icepath::decode
