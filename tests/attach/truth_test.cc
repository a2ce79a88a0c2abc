// SPDX-License-Identifier: Apache-2.0
// Messages that name themselves: whatever icepath tells of one is what happened, or it says that it doesn't know.
#include "tests/attach/truth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "profiler/decode/spans.h"
#include "profiler/resolve/stream.h"
#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

using model::StreamKind;

class Told : public resolve::StreamVisitor {
public:
	void message(const decode::CalledMessage &one, const path::Path &path, const path::Observations &) override
	{
		messages.push_back(one);
		complete += path.complete();
		if (decode::has_receiver(one.identity))
			reasons[static_cast<size_t>(path.reason)]++;
	}
	void request(const decode::Request &, const path::Path &, const path::Observations &) override {}
	std::vector<decode::CalledMessage> messages;
	uint64_t complete = 0;
	std::map<size_t, uint64_t> reasons;
};

class TruthIndex {
public:
	explicit TruthIndex(const Truth &truth)
	{
		for (uint32_t i = 0; i < truth.sendings; i++)
			sent_[truth.sent.at(i).tid].push_back(&truth.sent.at(i));
		for (auto &[tid, all] : sent_)
			std::ranges::sort(all, {}, &Sending::before_ns);
		for (uint32_t i = 0; i < truth.receipts; i++) {
			const Receipt &one = truth.received.at(i);
			received_[{one.connection, one.writer, one.number}] = &one;
		}
	}

	// The message that this call gave, or nullptr.
	const Sending *sent(const decode::CallKey &give) const
	{
		const auto found = sent_.find(give.first);
		if (found == sent_.end())
			return nullptr;
		const auto after = std::ranges::partition_point(
			found->second, [&](const Sending *one) { return one->before_ns <= give.second; });
		return after != found->second.begin() && (*std::prev(after))->after_ns >= give.second ? *std::prev(after)
																							  : nullptr;
	}
	const Receipt *received(const Sending &one) const
	{
		const auto found = received_.find({one.connection, one.writer, one.number});
		return found == received_.end() ? nullptr : found->second;
	}

private:
	std::map<uint32_t, std::vector<const Sending *>> sent_;
	std::map<std::tuple<uint32_t, uint32_t, uint32_t>, const Receipt *> received_;
};

struct Counts {
	uint64_t right = 0, wrong = 0, not_of_it = 0, twice = 0;
	std::array<uint64_t, 4> by_identity{};
};

Counts compared(const Told &told, const TruthIndex &truth)
{
	Counts counts;
	std::set<decode::CallKey> gives;
	for (const decode::CalledMessage &message : told.messages) {
		counts.twice += !gives.insert(message.give).second;
		const Sending *sent = truth.sent(message.give);
		if (!sent) {
			counts.not_of_it++;
			continue;
		}
		counts.by_identity.at(static_cast<size_t>(message.identity))++;
		if (!decode::has_receiver(message.identity))
			continue;
		const Receipt *received = truth.received(*sent);
		const bool right = received && received->tid == message.take.first && received->before_ns <= message.recv_ns &&
						   message.recv_ns <= received->after_ns;
		(right ? counts.right : counts.wrong)++;
		if (!right && received && counts.wrong < 5)
			ADD_FAILURE() << "number " << sent->number << ", " << message.bytes << " bytes, sent at " << message.send_ns
						  << ": told as taken at " << message.recv_ns << " by " << message.take.first
						  << ", but was taken at " << received->before_ns << " to " << received->after_ns << " by "
						  << received->tid;
	}
	return counts;
}

struct Streamed {
	Told told;
	resolve::LeftOpen left;
	uint64_t lost = 0;
};

Streamed streamed(const std::vector<model::Window> &windows, const std::vector<model::Connection> &connections)
{
	Streamed result;
	resolve::Stream stream(connections, result.told);
	for (const model::Window &window : windows)
		stream.add(window);
	stream.finish();
	result.left = stream.left_open();
	result.lost = stream.lost_records();
	return result;
}

// Drops a record so that nothing shows it: its slot's later ones move up.
void drop(std::vector<model::Window> &windows, size_t window, size_t slot, size_t which)
{
	std::vector<icepath_record> &records = windows[window].slots[slot].records;
	const uint32_t number = records[which].seq;
	records.erase(records.begin() + static_cast<std::ptrdiff_t>(which));
	for (size_t i = window; i < windows.size(); i++) {
		for (icepath_record &one : windows[i].slots[slot].records)
			one.seq -= one.seq > number ? 1 : 0;
		if (i > window)
			windows[i].slots[slot].first--;
		windows[i].slots[slot].position--;
	}
}

// Of each connection with one writer: where its first byte is in the stream by each give that has a position, with how
// many gives say so.
std::vector<std::map<uint64_t, uint32_t>> origins_by_gives(const Watched &watched, const Truth &truth,
														   const TruthIndex &index, const Load &load)
{
	std::map<std::pair<uint32_t, uint32_t>, uint64_t> ends; // of each message, by connection and number
	for (uint32_t i = 0; i < truth.sendings; i++)
		ends[{truth.sent.at(i).connection, truth.sent.at(i).number}] = truth.sent.at(i).bytes;
	uint64_t end = 0;
	for (auto &[message, bytes] : ends)
		bytes = end = (message.second == 0 ? 0 : end) + bytes;
	std::vector<std::map<uint64_t, uint32_t>> origins(load.connections);
	for (const icepath_record &record : watched.calls) {
		const Sending *sent = index.sent({record.tid, record.call.begin_ns});
		if (sent && record.call.kind == ICEPATH_CALL_GIVE && record.call.position != 0)
			origins[sent->connection][record.call.position - 1 - ends.at({sent->connection, sent->number})]++;
	}
	return origins;
}

// Messages that were sent before their connection's taker had taken so often.
uint64_t sent_before_takes(const Truth &truth, const Load &load, size_t takes)
{
	uint64_t sum = 0;
	for (uint32_t connection = 0; connection < load.connections; connection++) {
		std::set<uint64_t> took_ns;
		for (uint32_t i = 0; i < truth.receipts; i++)
			if (truth.received.at(i).connection == connection)
				took_ns.insert(truth.received.at(i).after_ns);
		const uint64_t until_ns = took_ns.size() < takes ? UINT64_MAX : *std::next(took_ns.begin(), takes - 1);
		for (uint32_t i = 0; i < truth.sendings; i++)
			sum += truth.sent.at(i).connection == connection && truth.sent.at(i).before_ns < until_ns;
	}
	return sum;
}

class TruthTest : public testing::TestWithParam<Load> {};

TEST_P(TruthTest, WhatIsToldIsWhatHappened)
{
	const Load &load = GetParam();
	const auto truth = shared_truth();
	Program program([&](Shared &shared) { run_load(load, *truth, shared); });
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 100, [&] { program.shared().goes = 1; }, load.ring);
	ASSERT_EQ(truth->broken, 0u) << "writers' bytes were mixed: this load can't be checked";
	ASSERT_EQ(truth->receipts, load.connections * load.writers * load.messages);
	const Streamed told = streamed(watched.windows, watched.detached.connections);
	const Counts counts = compared(told.told, TruthIndex(*truth));
	printf(
		"%-24s sent %6u  right %6lu  wrong %lu  exact %lu counted %lu contended %lu unmatched %lu open %lu  lost %lu  "
		"with a path %lu\n",
		load.name, truth->sendings.load(), counts.right, counts.wrong, counts.by_identity[0], counts.by_identity[1],
		counts.by_identity[2], counts.by_identity[3], told.left.at_end, told.lost, told.told.complete);
	for (const auto &[reason, count] : told.told.reasons)
		printf("    %lu %s\n", count, std::string(path::kReasonNames[reason]).c_str());
	EXPECT_EQ(counts.wrong, 0u);
	EXPECT_EQ(counts.twice, 0u);
	if (load.writers == 1 && load.kind == StreamKind::UnixStream && !load.begins_before && load.life == 0) {
		for (const std::map<uint64_t, uint32_t> &origins :
			 origins_by_gives(watched, *truth, TruthIndex(*truth), load)) {
			EXPECT_LE(origins.size(), 1u) << testing::PrintToString(origins);
		}
	}
	EXPECT_EQ(told.lost > 0, load.ring < 1u << 17);
	if (told.lost == 0) {
		EXPECT_GE(2 * told.told.complete, counts.right);
	}
	// One writer's calls can't overlap. A stream's state is known once it has been looked at a few times while nobody
	// moved its bytes and something was taken in between, which takes long where large messages keep it busy; or, of a
	// pipe, once it was empty.
	const bool is_pipe = load.kind == StreamKind::Pipe || load.kind == StreamKind::Fifo;
	// An emulated CPU (tests/vm) looks less often while nobody moves bytes.
	const char *takes = getenv("ICEPATH_TAKES_BEFORE_KNOWN");
	const uint64_t before_known = load.life > 0 ? 0
								  : is_pipe     ? 200 * load.connections
												: sent_before_takes(*truth, load, takes ? std::stoul(takes) : 16);
	const bool is_busy = load.kind == StreamKind::UnixStream && load.longest > 65'536;
	const uint64_t contended = is_pipe ? counts.by_identity[static_cast<size_t>(decode::Identity::Contended)] : 0;
	if (is_busy) {
		// What isn't told is counted.
		EXPECT_EQ(counts.right + told.left.at_end + told.left.too_old, uint64_t{truth->sendings});
	} else if (load.writers == 1 && !load.begins_before && !load.sends_files && told.lost == 0) {
		EXPECT_GE(counts.right + contended + before_known, uint64_t{truth->sendings});
	}
	EXPECT_GT(counts.right + counts.by_identity[static_cast<size_t>(decode::Identity::Contended)], 0u);
}

// Messages of which nothing is told, although no record was lost between their sending and their receiving.
uint64_t unmentioned(const Watched &watched, const Told &told, const Truth &truth, const TruthIndex &index)
{
	decode::Spans lost;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_LOSS)
					lost.push_back({record.loss.begin_ns, record.end_ns});
	decode::put_in_order(lost);
	std::set<const Sending *> mentioned;
	for (const decode::CalledMessage &message : told.messages)
		mentioned.insert(index.sent(message.give));
	uint64_t count = 0;
	for (uint32_t i = 0; i < truth.sendings; i++) {
		const Sending &sent = truth.sent.at(i);
		const Receipt *received = index.received(sent);
		count += received && !decode::overlaps(lost, sent.before_ns, received->after_ns) && !mentioned.contains(&sent);
	}
	return count;
}

class TruthFloods : public testing::TestWithParam<Load> {};

TEST_P(TruthFloods, HarmOnlyMessagesOfTheTimeThatIsLost)
{
	const Load &load = GetParam();
	const auto truth = shared_truth();
	Program program([&](Shared &shared) { run_load(load, *truth, shared); });
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 100, [&] { program.shared().goes = 1; }, load.ring);
	const Streamed told = streamed(watched.windows, watched.detached.connections);
	const TruthIndex index(*truth);
	EXPECT_GT(told.lost, 0u);
	EXPECT_EQ(compared(told.told, index).wrong, 0u);
	const uint64_t without = unmentioned(watched, told.told, *truth, index);
	printf("%-24s sent %u  lost records %lu  unmentioned though spared %lu\n", load.name, truth->sendings.load(),
		   told.lost, without);
	EXPECT_LE(without, told.left.at_end + told.left.too_old);
}

class TruthMutants : public testing::TestWithParam<Load> {};

enum class Kind { Give, Take, Waking, Announcement };

bool is_a(Kind kind, const icepath_record &record)
{
	const bool is_call = record.type == ICEPATH_RECORD_CALL && record.call.position != 0;
	return kind == Kind::Give     ? is_call && record.call.kind == ICEPATH_CALL_GIVE
		   : kind == Kind::Take   ? is_call && record.call.kind == ICEPATH_CALL_TAKE
		   : kind == Kind::Waking ? record.type == ICEPATH_RECORD_OFF_CPU
								  : record.type == ICEPATH_RECORD_DATA_READY;
}

struct At {
	size_t window, slot, record;
};

// Of one connection: whether all that a call took was given by calls that are recorded, by where these end and begin.
bool has_givers(const icepath_record &take, const std::map<uint64_t, uint64_t> &gives)
{
	uint64_t known_to = take.call.position - take.call.result;
	for (auto give = gives.upper_bound(known_to); give != gives.end() && give->second <= known_to; ++give)
		known_to = give->first;
	return known_to >= take.call.position;
}

// Those of calls are of messages that were told: what was counted as without a giver or a taker isn't when it is gone.
std::vector<At> all_of(Kind kind, const std::vector<model::Window> &windows, const Told &told)
{
	std::vector<At> found;
	std::map<uint64_t, uint64_t> gives;
	std::set<decode::CallKey> were_told;
	for (const decode::CalledMessage &message : told.messages)
		were_told.insert(message.give);
	for (size_t window = 0; window < windows.size(); window++)
		for (size_t slot = 0; slot < windows[window].slots.size(); slot++)
			for (size_t i = 0; i < windows[window].slots[slot].records.size(); i++) {
				const icepath_record &record = windows[window].slots[slot].records[i];
				if (is_a(Kind::Give, record))
					gives[record.call.position] = record.call.position - record.call.result;
				if (is_a(kind, record) &&
					(kind != Kind::Give || were_told.contains({record.tid, record.call.begin_ns})))
					found.push_back({window, slot, i});
			}
	if (kind == Kind::Take)
		std::erase_if(found, [&](const At &one) {
			return !has_givers(windows[one.window].slots[one.slot].records[one.record], gives);
		});
	return found;
}

uint64_t flagged(const Streamed &told, const Counts &counts)
{
	return counts.by_identity[static_cast<size_t>(decode::Identity::Contended)] +
		   counts.by_identity[static_cast<size_t>(decode::Identity::Unmatched)] + told.left.without_giver +
		   told.left.at_end + told.left.too_old;
}

// A give, a take, a waking or what announced a message is missing, and nothing tells. None is wrong. At most the
// messages of that call are missing.
TEST_P(TruthMutants, ARecordThatIsLostSilentlyHarmsOnlyItsOwnMessages)
{
	const Load &load = GetParam();
	const auto truth = shared_truth();
	Program program([&](Shared &shared) { run_load(load, *truth, shared); });
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 20, [&] { program.shared().goes = 1; });
	const TruthIndex index(*truth);
	const Streamed whole = streamed(watched.windows, watched.detached.connections);
	const Counts before = compared(whole.told, index);
	ASSERT_GT(before.right, load.messages / 2);
	std::minstd_rand random(1);
	for (const Kind kind : {Kind::Give, Kind::Take, Kind::Waking, Kind::Announcement}) {
		const std::vector<At> all = all_of(kind, watched.windows, whole.told);
		ASSERT_EQ(all.empty(), kind == Kind::Announcement && load.kind == StreamKind::Pipe);
		for (int dropped = 0; dropped < 8 && !all.empty(); dropped++) {
			const At &which = all[random() % all.size()];
			std::vector<model::Window> windows = watched.windows;
			drop(windows, which.window, which.slot, which.record);
			const Streamed told = streamed(windows, watched.detached.connections);
			const Counts counts = compared(told.told, index);
			EXPECT_EQ(counts.wrong, 0u) << "kind " << static_cast<int>(kind);
			// What isn't told any more is counted.
			EXPECT_GE(counts.right + flagged(told, counts), before.right + flagged(whole, before))
				<< "kind " << static_cast<int>(kind);
			// A pipe's positions have to be proven anew. Otherwise one call may take several messages.
			if (load.kind != StreamKind::Pipe) {
				EXPECT_GE(counts.right + (kind == Kind::Take ? 20 : 1), before.right)
					<< "kind " << static_cast<int>(kind);
			}
		}
	}
}

constexpr Load kLoads[] = {
	{.name = "unix", .kind = StreamKind::UnixStream},
	{.name = "unix_large", .kind = StreamKind::UnixStream, .messages = 500, .longest = 200'000},
	{.name = "unix_2_writers", .kind = StreamKind::UnixStream, .writers = 2},
	{.name = "unix_8_writers", .kind = StreamKind::UnixStream, .writers = 8, .messages = 500},
	{.name = "unix_3_connections", .kind = StreamKind::UnixStream, .connections = 3},
	{.name = "unix_joined_midway",
	 .kind = StreamKind::UnixStream,
	 .messages = 60'000,
	 .longest = 400,
	 .begins_before = true},
	{.name = "unix_peeks", .kind = StreamKind::UnixStream, .peeks = true},
	{.name = "unix_passed_on", .kind = StreamKind::UnixStream, .passes_on = true},
	{.name = "unix_forks", .kind = StreamKind::UnixStream, .writers = 2, .forks = true},
	{.name = "unix_threads_end", .kind = StreamKind::UnixStream, .threads_end = true},
	{.name = "unix_files", .kind = StreamKind::UnixStream, .sends_files = true},
	{.name = "tcp", .kind = StreamKind::Tcp},
	{.name = "tcp_large", .kind = StreamKind::Tcp, .messages = 500, .longest = 200'000},
	{.name = "tcp_2_writers", .kind = StreamKind::Tcp, .writers = 2},
	{.name = "tcp_8_writers", .kind = StreamKind::Tcp, .writers = 8, .messages = 500},
	{.name = "tcp_joined_midway", .kind = StreamKind::Tcp, .messages = 60'000, .longest = 400, .begins_before = true},
	{.name = "tcp_peeks", .kind = StreamKind::Tcp, .peeks = true},
	{.name = "tcp_files", .kind = StreamKind::Tcp, .sends_files = true},
	{.name = "pipe", .kind = StreamKind::Pipe},
	{.name = "pipe_large", .kind = StreamKind::Pipe, .messages = 500, .longest = 200'000},
	{.name = "pipe_2_writers", .kind = StreamKind::Pipe, .writers = 2},
	{.name = "pipe_8_writers", .kind = StreamKind::Pipe, .writers = 8, .messages = 500},
	{.name = "pipe_joined_midway", .kind = StreamKind::Pipe, .messages = 60'000, .longest = 400, .begins_before = true},
	{.name = "pipe_forks", .kind = StreamKind::Pipe, .forks = true},
	{.name = "unix_rings_of_512",
	 .kind = StreamKind::UnixStream,
	 .connections = 3,
	 .messages = 20'000,
	 .longest = 50,
	 .ring = 512},
	{.name = "fifo", .kind = StreamKind::Fifo},
	{.name = "unix_short_lives", .kind = StreamKind::UnixStream, .life = 3},
	{.name = "tcp_short_lives", .kind = StreamKind::Tcp, .life = 3},
	{.name = "unix_2_writers_rings_of_512",
	 .kind = StreamKind::UnixStream,
	 .connections = 2,
	 .writers = 2,
	 .messages = 15'000,
	 .longest = 50,
	 .ring = 512},
	{.name = "tcp_2_writers_rings_of_512",
	 .kind = StreamKind::Tcp,
	 .connections = 2,
	 .writers = 2,
	 .messages = 15'000,
	 .longest = 50,
	 .ring = 512},
};

constexpr Load kFloods[] = {
	{.name = "unix",
	 .kind = StreamKind::UnixStream,
	 .connections = 4,
	 .messages = 40'000,
	 .longest = 50,
	 .ring = 4096,
	 .floods = true},
	{.name = "tcp",
	 .kind = StreamKind::Tcp,
	 .connections = 4,
	 .messages = 40'000,
	 .longest = 50,
	 .ring = 4096,
	 .floods = true},
	{.name = "pipe",
	 .kind = StreamKind::Pipe,
	 .connections = 4,
	 .messages = 40'000,
	 .longest = 50,
	 .ring = 4096,
	 .floods = true},
};

INSTANTIATE_TEST_SUITE_P(, TruthFloods, testing::ValuesIn(kFloods), [](const auto &load) { return load.param.name; });
INSTANTIATE_TEST_SUITE_P(, TruthMutants, testing::Values(kLoads[0], kLoads[11], kLoads[18]),
						 [](const auto &load) { return load.param.name; });
INSTANTIATE_TEST_SUITE_P(, TruthTest, testing::ValuesIn(kLoads), [](const auto &load) { return load.param.name; });

} // namespace
} // namespace icepath::attach
