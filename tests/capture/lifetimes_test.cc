// SPDX-License-Identifier: Apache-2.0
// What BPF remembers of an object ends with the object: neither its address nor its descriptor stands for it, because
// the kernel gives both to others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "cpuset/affinity.h"
#include "profiler/channel.h"
#include "tests/capture/exchange.h"
#include "tests/capture/passing_sockets.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

ProbeSet probes_of(std::initializer_list<const char *> names)
{
	ProbeSet set = 0;
	for (const char *name : names)
		set |= bit(number_of(name));
	return set;
}

const ProbeSet kCalls = probes_of({"sys_enter", "sys_exit"});
const ProbeSet kOfSockets = probes_of({"sk_data_ready", "net_dev_queue", "skb_queue_tail", "tcp_queue_rcv"});

bool passes(int from, int to)
{
	char byte = 0;
	return write(from, "x", 1) == 1 && read(to, &byte, 1) == 1;
}

class Lifetimes : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
	}
	// What one block records of a player that plays `turns`, with `beside` after each of them.
	std::vector<icepath_record> records(
		const std::function<bool(int)> &play, ProbeSet probes, std::optional<Tier> tier = {}, int turns = 1,
		const std::function<void()> &beside = [] {})
	{
		const uint32_t cpu = two_cpus().first;
		capture = std::make_unique<Capture>(std::vector<uint32_t>{cpu}, 1u << 16, tier);
		const Player player(cpu, play);
		capture->add_worker(player.pidfd);
		capture->attach(probes);
		while (!is_asleep(player.pid)) // so its waiting for the first turn isn't in the block
			usleep(100);
		capture->begin_block({player.pidfd});
		for (int turn = 0; turn < turns; turn++) {
			player.go();
			player.await();
			beside();
		}
		EXPECT_TRUE(capture->end_block().empty());
		std::vector<icepath_slot> heads;
		std::vector<icepath_record> all = copy_slots(*capture, heads);
		for (const icepath_slot &head : heads)
			EXPECT_LE(head.position, head.capacity) << "the log was too short";
		return all;
	}
	// The objects of a player's calls that moved bytes, in their order.
	std::vector<uint64_t>
	objects(const std::function<bool(int)> &play, int turns = 1, const std::function<void()> &beside = [] {})
	{
		std::vector<icepath_record> calls = records(play, kCalls, {}, turns, beside);
		std::erase_if(calls, [](const icepath_record &one) {
			return one.type != ICEPATH_RECORD_CALL || static_cast<int64_t>(one.call.result) <= 0 ||
				   (one.call.kind != ICEPATH_CALL_GIVE && one.call.kind != ICEPATH_CALL_TAKE);
		});
		std::ranges::sort(calls, {}, &icepath_record::end_ns);
		std::vector<uint64_t> of;
		for (const icepath_record &call : calls)
			of.push_back(call.call.object);
		return of;
	}

	std::unique_ptr<Capture> capture;
};

constexpr size_t kObjects = 50;

// Of each object what is given and then taken. A player ends its turn by an eventfd of its own.
void expect_pairs(const std::vector<uint64_t> &objects)
{
	ASSERT_GE(objects.size(), 2 * kObjects);
	std::set<uint64_t> names;
	for (size_t i = 0; i < 2 * kObjects; i += 2) {
		EXPECT_EQ(objects[i], objects[i + 1]) << i;
		EXPECT_NE(objects[i], 0u);
		EXPECT_TRUE(names.insert(objects[i]).second) << "an object has the name of an earlier one: " << i;
	}
}

bool play_pipes(int /*turn*/)
{
	for (size_t i = 0; i < kObjects; i++) {
		int ends[2];
		if (pipe(ends) || !passes(ends[1], ends[0]) || close(ends[0]) || close(ends[1]))
			return false;
	}
	return true;
}

TEST_F(Lifetimes, EachPipeHasANameOfItsOwn) { expect_pairs(objects(play_pipes)); }

// A file system may give a number again at once.
TEST_F(Lifetimes, EachNamedPipeHasANameOfItsOwn)
{
	const std::string path = "/tmp/icepath-lifetimes-" + std::to_string(getpid());
	expect_pairs(objects([&](int) {
		for (size_t i = 0; i < kObjects; i++) {
			if (mkfifo(path.c_str(), 0600))
				return false;
			const int one = open(path.c_str(), O_RDWR), other = open(path.c_str(), O_RDWR);
			if (unlink(path.c_str()) || !passes(one, other) || close(one) || close(other))
				return false;
		}
		return true;
	}));
}

bool passes_count(int from, int to)
{
	eventfd_t count = 0;
	return eventfd_write(from, 1) == 0 && eventfd_read(to, &count) == 0;
}

TEST_F(Lifetimes, EachEventfdHasANameOfItsOwnByAllItsDescriptors)
{
	expect_pairs(objects([](int) {
		for (size_t i = 0; i < kObjects; i++) {
			const int one = eventfd(0, 0), other = dup(one);
			if (!passes_count(one, other) || close(one) || close(other))
				return false;
		}
		return true;
	}));
}

TEST_F(Lifetimes, AnEventfdThatAnotherTaskMadeHasANameOfItsOwn)
{
	int pair[2];
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ASSERT_FALSE(cpuset::pin(0, two_cpus().first)); // as the player, so that it gets the addresses that are free there
	const auto pass_one = [&] {
		const int fd = eventfd(0, EFD_CLOEXEC);
		EXPECT_TRUE(channel::send(pair[0], "x", 1, {fd}));
		close(fd);
	};
	std::vector<uint64_t> given = objects(
		[&](int turn) {
			if (turn == 0)
				return true;
			char byte = 0;
			std::vector<Fd> fds;
			return channel::receive(pair[1], &byte, 1, fds) && fds.size() == 1 &&
				   passes_count(fds[0].get(), fds[0].get());
		},
		kObjects + 1, pass_one);
	// Of each turn: its begin, what is received, given, taken, and its end.
	std::set<uint64_t> names;
	size_t turns = 0;
	for (size_t i = 2; i + 1 < given.size(); i++)
		if (given[i] == given[i + 1] && given[i - 1] != given[i]) {
			EXPECT_TRUE(names.insert(given[i]).second) << "an eventfd has the name of an earlier one: " << turns;
			turns++;
		}
	EXPECT_EQ(turns, kObjects);
	for (const int end : pair)
		close(end);
}

// What is read there isn't what somebody wrote last.
TEST_F(Lifetimes, FilesAndDevicesAreNoObjects)
{
	const std::vector<uint64_t> given = objects([](int) {
		char byte = 0;
		const int file = open("/tmp", O_RDWR | O_TMPFILE, 0600), zero = open("/dev/zero", O_RDWR);
		return write(file, "x", 1) == 1 && lseek(file, 0, SEEK_SET) == 0 && read(file, &byte, 1) == 1 &&
			   write(zero, "x", 1) == 1 && read(zero, &byte, 1) == 1;
	});
	ASSERT_GE(given.size(), 4u);
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ(given[i], 0u) << i;
}

struct Kind {
	const char *name;
	SocketKind sockets;
	std::optional<Tier> tier;
};

class LifetimesOfSockets : public Lifetimes, public testing::WithParamInterface<Kind> {};

// A task that isn't the run's gets the addresses of sockets that were a worker's, in the same block.
TEST_P(LifetimesOfSockets, ASocketWithTheAddressOfAWorkersIsNotTheWorkers)
{
	const Kind &kind = GetParam();
	ASSERT_FALSE(cpuset::pin(0, two_cpus().first));
	const int listener = loopback_listener();
	const std::array<int, 2> own = connected(kind.sockets, listener);
	const int turns = turns_of_sockets();
	int beside = 0;
	const auto all =
		records([&](int) { return passes(own[0], own[1]) && use_and_close(kind.sockets) && passes(own[0], own[1]); },
				kCalls | kOfSockets, kind.tier, turns,
				[&] {
					usleep(10'000); // the kernel frees some of them a little later
					std::vector<std::array<int, 2>> pairs;
					for (size_t i = 0; i < kSocketsOfTurn / 2; i++) {
						pairs.push_back(connected(kind.sockets, listener));
						beside += passes(pairs.back()[0], pairs.back()[1]);
					}
					for (const auto &pair : pairs)
						for (const int end : pair)
							close(end);
				});
	for (const int fd : {own[0], own[1], listener})
		close(fd);
	EXPECT_EQ(beside, turns * static_cast<int>(kSocketsOfTurn / 2));
	std::set<uint64_t> known;
	for (const icepath_record &record : all)
		if (record.type == ICEPATH_RECORD_CALL && record.call.result == 1)
			known.insert(record.call.object);
	int of_own = 0, of_others = 0;
	for (const icepath_record &record : all)
		if (record.type == ICEPATH_RECORD_DATA_READY || record.type == ICEPATH_RECORD_DEVICE_QUEUE ||
			record.type == ICEPATH_RECORD_ENQUEUED)
			(known.contains(record.socket.socket) ? of_own : of_others)++;
	EXPECT_EQ(of_others, 0) << "of " << beside << " messages of others";
	if (capture->available() & bit(number_of("sk_data_ready"))) {
		EXPECT_GE(of_own, 2 * turns - 1) << "the first message came before its receiver was known";
	}
}

constexpr Kind kKinds[] = {
	{"tcp", {AF_INET, SOCK_STREAM}, {}},
	{"udp", {AF_INET, SOCK_DGRAM}, {}},
	{"stream", {AF_UNIX, SOCK_STREAM}, {}},
	{"tcp_fentry", {AF_INET, SOCK_STREAM}, Tier::Fentry},
	{"dgram_kprobe", {AF_UNIX, SOCK_DGRAM}, Tier::Kprobe},
};

INSTANTIATE_TEST_SUITE_P(All, LifetimesOfSockets, testing::ValuesIn(kKinds),
						 [](const auto &which) { return std::string(which.param.name); });

// The number of the next byte that a socket will send.
uint32_t next_byte(int socket)
{
	const int on = TCP_REPAIR_ON, off = TCP_REPAIR_OFF_NO_WP, sends = TCP_SEND_QUEUE;
	uint32_t number = 0;
	socklen_t size = sizeof(number);
	EXPECT_EQ(setsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)), 0);
	EXPECT_EQ(setsockopt(socket, IPPROTO_TCP, TCP_REPAIR_QUEUE, &sends, sizeof(sends)), 0);
	EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, TCP_QUEUE_SEQ, &number, &size), 0);
	EXPECT_EQ(setsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), 0);
	return number;
}

// Both ends name a place in the stream alike, by another number than TCP's.
TEST_F(Lifetimes, SequenceNumbersOfTcpDoNotLeaveTheKernel)
{
	constexpr uint32_t kBytes = 20;
	const int listener = loopback_listener();
	const std::array<int, 2> pair = connected({AF_INET, SOCK_STREAM}, listener);
	const uint32_t begin = next_byte(pair[0]);
	char byte = 0;
	const auto all = records(
		[&](int) {
			for (uint32_t i = 0; i < kBytes; i++)
				if (!passes(pair[0], pair[1]))
					return false;
			return read(pair[1], &byte, 0) == 0;
		},
		kCalls | kOfSockets);
	EXPECT_EQ(next_byte(pair[0]), begin + kBytes);
	std::vector<uint32_t> sent, ready;
	for (const icepath_record &record : all) {
		if (record.type == ICEPATH_RECORD_DEVICE_QUEUE)
			sent.push_back(record.socket.stream_end);
		if (record.type == ICEPATH_RECORD_DATA_READY)
			ready.push_back(record.socket.stream_end);
	}
	for (const int fd : {pair[0], pair[1], listener})
		close(fd);
	ASSERT_EQ(sent.size(), kBytes);
	for (uint32_t i = 1; i < kBytes; i++)
		EXPECT_EQ(sent[i], sent[0] + i);
	EXPECT_NE(sent.back(), begin + kBytes) << "one time in four thousand million by chance";
	if (!ready.empty()) { // without a probe there may be none
		EXPECT_EQ(ready.back(), sent.back());
	}
	EXPECT_EQ(ready.empty(), !(capture->available() & bit(number_of("sk_data_ready"))));
}

// The mutex of a pipe is unlocked by its reader, too, and its address by others after it.
TEST_F(Lifetimes, APipesMutexMeansNothingAfterTheWritingCall)
{
	for (const Tier tier : {Tier::Fentry, Tier::Kprobe}) {
		SCOPED_TRACE(name(tier));
		const auto all = records(play_pipes, probes_of({"pipe_write", "mutex_unlock"}), tier);
		const Trial &trial = capture->selection()[number_of("pipe_write")];
		EXPECT_TRUE(trial.works || !trial.why_not.empty());
		EXPECT_EQ(std::ranges::count(all, ICEPATH_RECORD_ENQUEUED, &icepath_record::type),
				  trial.works ? static_cast<ptrdiff_t>(kObjects) : 0);
	}
}

} // namespace
} // namespace icepath::capture
